/** Other programs that use the companions: what each may do, and what it did. */
import type { ErrorBody } from './types';

export interface ConnectionGrant {
  isBlocked: boolean;
  mayChange: boolean;
  mayChat: boolean;
  /** Its messages are answered by its own model (MCP sampling), where it lends one. */
  usesSampling: boolean;
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
  | 'readOperations'
  | 'chat'
  | 'runTools'
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

/** What is served over HTTP on this machine. */
export interface ServerSettings {
  enabled: boolean;
  /** 0 = one that is free, another one at each start. */
  port: number;
}

export interface ServerStatus {
  settings: ServerSettings;
  /** Where it listens; `null` while it does not. */
  address: string | null;
  /** Why it does not, although it is on. */
  error: ErrorBody | null;
}

export interface ConnectionBackend {
  connectionList(): Promise<Connection[]>;
  connectionSetGrant(name: string, grant: ConnectionGrant): Promise<Connection>;
  connectionForget(name: string): Promise<void>;
  /** What was done, the newest first, of one program or of all. */
  connectionLog(name: string | null, limit: number): Promise<Access[]>;
  connectionClearLog(): Promise<void>;
  connectionSetup(): Promise<ConnectionSetup>;
  serverStatus(): Promise<ServerStatus>;
  serverSave(settings: ServerSettings): Promise<ServerStatus>;
  /** The token that programs show. */
  serverToken(): Promise<string>;
  /** Another token; the one before is worth nothing from then on. */
  serverRenewToken(): Promise<string>;
}
