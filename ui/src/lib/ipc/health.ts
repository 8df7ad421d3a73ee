/** How the vault is, and what can be rescued of one that is damaged. */
import type { UnlockMethod } from './types';
import type { RestoreProgress } from './upkeep';

/** The newest backup, opened again as a restore would. */
export interface BackupDrill {
  at: string;
  /** When the newest one that is whole was made; `null` where none is. */
  madeAt: string | null;
  messages: number | null;
  /** Newer ones that are not whole. */
  unusable: number;
}

export interface VaultHealth {
  /** When the last full check ended; `null` before the first. */
  checkedAt: string | null;
  /** How much it found to be wrong. */
  damage: number;
  /** The first of it, in the core's words. */
  findings: string[];
  isChecking: boolean;
  drill: BackupDrill | null;
  /** The clock jumped: for a day of running time nothing is deleted for good by itself. */
  deletionsRest: boolean;
  /** What the vault had lost when it was opened, until the user has seen it. */
  lost: LostTail | null;
}

/** Messages that were saved and that the database no longer had. */
export interface LostTail {
  at: string;
  messages: number;
  /** The copy of the database as it was found. */
  kept: string;
}

/** What a rescue would bring or has brought, beside the newest backup alone. */
export interface RescueOffer {
  /** Whether the damaged database opens at all; if not, all of it is from the backup. */
  opens: boolean;
  messages: number;
  newestAt: string | null;
  /** Rows of all kinds that the backup filled in. */
  fromBackup: number;
  /** Something may be in neither. */
  hasGaps: boolean;
  messagesLostByBackup: number;
  /** When that backup was made; `null` where none is whole. */
  backupAt: string | null;
  minutesLostByBackup: number | null;
  /** Where the damaged database is; `null` before the rescue. */
  setAside: string | null;
}

export interface HealthBackend {
  vaultHealth(): Promise<VaultHealth>;
  /** The user has seen that messages were lost. */
  vaultLossSeen(): Promise<void>;
  /** Changes nothing. Without a method it is of the open vault, which is closed meanwhile. */
  vaultRescuePreview(
    method: UnlockMethod | null,
    onProgress: (progress: RestoreProgress) => void,
  ): Promise<RescueOffer>;
  vaultRescue(
    method: UnlockMethod | null,
    onProgress: (progress: RestoreProgress) => void,
  ): Promise<RescueOffer>;
}
