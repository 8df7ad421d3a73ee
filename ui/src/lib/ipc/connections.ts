/** Other programs that use the companions: what each may do, and what it did. */

export interface ConnectionGrant {
  isBlocked: boolean;
  mayChange: boolean;
  mayChat: boolean;
  /** Only these companions; `null` = every one that is not local only. */
  contexts: string[] | null;
}

export interface Connection {
  /** The name that it gives itself. */
  name: string;
  version: string;
  grant: ConnectionGrant;
  firstSeenAt: string;
  lastSeenAt: string;
}

export type AccessKind =
  | 'readContexts'
  | 'readPresets'
  | 'readMessages'
  | 'chat'
  | 'changeContext'
  | 'deleteContext'
  | 'changePreset'
  | 'deletePreset'
  | 'deleteMessages';

export interface Access {
  client: string;
  kind: AccessKind;
  contextId: string | null;
  /** Its name as it is now; `null` where the companion is gone, or the entry is about none. */
  contextName: string | null;
  count: number;
  /** It was not allowed to, and nothing was done. */
  isRefused: boolean;
  at: string;
}

/** How another program starts the server. */
export interface ConnectionSetup {
  command: string;
  args: string[];
}

export interface ConnectionBackend {
  connectionList(): Promise<Connection[]>;
  connectionSetGrant(name: string, grant: ConnectionGrant): Promise<Connection>;
  connectionForget(name: string): Promise<void>;
  /** What was done, the newest first, of one program or of all. */
  connectionLog(name: string | null, limit: number): Promise<Access[]>;
  connectionClearLog(): Promise<void>;
  connectionSetup(): Promise<ConnectionSetup>;
}
