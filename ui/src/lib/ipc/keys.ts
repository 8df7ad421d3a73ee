/** The ways into the vault, what changes them, and when it locks itself. */
import type { ErrorBody, RecoverySheet } from './types';
import type { BackupInfo, RestoreProgress } from './upkeep';

export type SlotName = 'keychain' | 'recoveryCode' | 'passphrase';

/** A way into the vault that there is. */
export interface SlotInfo {
  kind: SlotName;
  /** Since when; `null` where that was not noted. */
  madeAt: string | null;
}

/** What locking means: with the keychain's slot, whoever is logged in gets in again. */
export type LockKind = 'privacyScreen' | 'real';

export interface VaultSlots {
  slots: SlotInfo[];
  lock: LockKind;
  /** Backups of the profile that open with other keys than the vault does now. */
  earlierBackups: number;
  /** The system tells when the machine is about to sleep. */
  sleepIsHeard: boolean;
}

/** What a change of keys has come to. The change itself is in force. */
export interface KeyChange {
  slots: VaultSlots;
  /** The backup under the new keys, which was checked. */
  backup: BackupInfo | null;
  /** Why there is none. */
  backupError: ErrorBody | null;
  /** The keychain did not let go of the key that was taken away. */
  keychainKeeps: boolean;
}

/** What opens the vault, for wrapping another root key. */
export interface RootSecrets {
  recoveryCode: string;
  /** Needed where the vault has one. */
  passphrase: string | null;
}

/** When the vault locks itself. */
export interface LockSettings {
  /** 0 = never. */
  lockAfterMinutes: number;
  lockOnSleep: boolean;
  lockWhenHidden: boolean;
}

export interface KeysBackend {
  vaultSlots(): Promise<VaultSlots>;
  vaultSetPassphrase(passphrase: string): Promise<KeyChange>;
  vaultAddKeychain(): Promise<KeyChange>;
  /** The keychain's slot goes only with the recovery code. */
  vaultRemoveSlot(slot: SlotName, recoveryCode: string | null): Promise<KeyChange>;
  /** Shows a new recovery code; the one in force stays until this one was typed back. */
  vaultBeginRecovery(): Promise<RecoverySheet>;
  vaultFinishRecovery(answers: string[]): Promise<KeyChange>;
  vaultCancelRecovery(): Promise<void>;
  /** Gives the vault another root key; `null` where that was cancelled. */
  vaultRenewRoot(
    secrets: RootSecrets,
    onProgress: (progress: RestoreProgress) => void,
  ): Promise<KeyChange | null>;
  vaultCancelRoot(): Promise<void>;
  /** Somebody uses a window. */
  vaultTouch(): Promise<void>;
}
