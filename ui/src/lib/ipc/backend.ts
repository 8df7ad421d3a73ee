import type { ArchiveBackend } from './archive';
import type { CareBackend } from './care';
import type { ConnectionBackend } from './connections';
import type { DiagnosisBackend } from './diagnosis';
import type { HealthBackend } from './health';
import type { KeysBackend } from './keys';
import type { LifeBackend } from './life';
import type { MemoryBackend } from './memory';
import type { OperationBackend } from './operations';
import type * as T from './types';
import type { ToolBackend } from './tools';
import type { UpkeepBackend } from './upkeep';

/** Ends a subscription. */
export type Unlisten = () => void;

/**
 * Everything the window can ask of the core. State classes know only this interface; it is
 * spoken by Tauri in the app and by an in-memory double in tests. Every call rejects with an
 * `ErrorBody` (see `error.ts`).
 */
export interface Backend
  extends
    ArchiveBackend,
    CareBackend,
    ConnectionBackend,
    DiagnosisBackend,
    HealthBackend,
    KeysBackend,
    LifeBackend,
    MemoryBackend,
    OperationBackend,
    ToolBackend,
    UpkeepBackend {
  vaultStatus(): Promise<T.VaultStatus>;
  vaultCreate(useKeychain: boolean, passphrase: string | null): Promise<T.RecoverySheet>;
  /** Makes a new recovery code in place of one that was never typed back. */
  vaultRenewRecovery(): Promise<T.RecoverySheet>;
  vaultConfirmRecovery(answers: string[]): Promise<T.VaultStatus>;
  vaultUnlock(method: T.UnlockMethod): Promise<T.VaultStatus>;
  vaultCancelWaiting(): Promise<void>;
  vaultLock(): Promise<T.VaultStatus>;
  /**
   * Lets the user choose a file for the recovery code; gives its path, or `null` where the dialog
   * was closed. The code itself does not come from the window.
   */
  vaultSaveRecovery(words: T.RecoveryWords): Promise<string | null>;

  /** Resolves when the reply has ended. */
  chatSend(request: T.SendRequest, onEvent: (event: T.ChatEvent) => void): Promise<void>;
  chatStop(conversationId: string): Promise<void>;
  chatMeter(contextId: string, conversationId: string | null, text: string): Promise<T.TokenMeter>;

  providerList(): Promise<T.Provider[]>;
  providerSave(draft: T.ProviderDraft): Promise<T.Provider>;
  providerDelete(id: string): Promise<void>;
  providerModels(id: string): Promise<T.ModelInfo[]>;
  providerTest(id: string): Promise<T.ProviderTest>;
  modelOffers(): Promise<T.ModelOffer[]>;
  /** Opens the system's file dialog; `null` where it was closed. */
  modelFilePick(): Promise<T.ModelInfo | null>;
  modelFileAdd(path: string): Promise<T.ModelInfo>;
  /** What removing a model file would mean; changes nothing. */
  modelFileRemoval(name: string): Promise<T.ModelFileRemoval>;
  modelFileRemove(name: string): Promise<T.ModelFileRemoval>;

  settingsGet(): Promise<T.Settings>;
  settingsSave(settings: T.Settings): Promise<T.Settings>;
  appInfo(): Promise<T.AppInfo>;
  openExternal(url: string): Promise<void>;
  quickChatHide(): Promise<void>;
  quickChatMove(conversationId: string): Promise<void>;
  /** The conversation that quick chat handed to the main window, once; `null` if none waits. */
  quickChatMoved(): Promise<string | null>;

  /** Calls `handler` for every event of the shell with this name. */
  listen<N extends keyof T.ShellEvents>(
    name: N,
    handler: (payload: T.ShellEvents[N]) => void,
  ): Promise<Unlisten>;
  /** Calls `handler` with the paths of files dropped on the window. */
  onFileDrop(handler: (paths: string[]) => void): Promise<Unlisten>;
  /** Calls `handler` whenever the window gains focus. */
  onFocus(handler: () => void): Promise<Unlisten>;
}
