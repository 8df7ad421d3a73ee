/** What keeps a vault well: jobs, backups, where the data is, feature flags and limits. */
import type { VaultStatus } from './types';

export type JobResult = 'ok' | 'failed' | 'interrupted';

export interface Job {
  name: string;
  lastStartedAt: string | null;
  lastEndedAt: string | null;
  nextRunAt: string | null;
  result: JobResult | null;
  /** What the last run said of itself. */
  message: string | null;
  durationMs: number | null;
  runs: number;
  isRunning: boolean;
}

export type BackupKind =
  'daily' | 'beforePurge' | 'beforeMigration' | 'beforeRestore' | 'afterKeyChange' | 'manual';

/** A file that is, or looks like, a backup; what cannot be read of it is `null`. */
export interface BackupInfo {
  path: string;
  id: string | null;
  kind: BackupKind | null;
  madeAt: string | null;
  sizeBytes: number;
  contexts: number | null;
  conversations: number | null;
  messages: number | null;
  verifiedAt: string | null;
  /** Why it cannot be relied on. */
  problem: string | null;
  /** The newest that is verified. */
  isNewest: boolean;
}

export interface Counts {
  contexts: number;
  conversations: number;
  messages: number;
}

/** What a restore would change. */
export interface RestorePreview {
  madeAt: string;
  now: Counts;
  then: Counts;
  comeBack: { id: string; name: string }[];
  disappear: { id: string; name: string }[];
  /** Messages that are not in the backup. */
  newerMessages: number;
  newestMessageAt: string | null;
  /** The vault cannot be compared: `now`, `disappear` and the newer messages are not known. */
  isVaultDamaged: boolean;
}

/** What a restore of the open vault has done. */
/** What forgetting everywhere has done. */
export interface ForgetReport {
  /** The only backup of the vault among the profile's own now. */
  backup: BackupInfo;
  removed: number;
  /** Files that are still there. */
  left: string[];
}

export interface RestoreReport {
  /** The vault was too damaged for a backup before. */
  withoutBackup: boolean;
  /** Where the database from before is. */
  setAside: string | null;
}

/** What a restore without an open vault has done. */
export interface ClosedRestore {
  status: VaultStatus;
  /** The database was whole and had only lost its keys: it stayed, and nothing was replaced. */
  keptDatabase: boolean;
  setAside: string | null;
}

export type RestoreStep = 'unpacking' | 'checking' | 'reading' | 'copying' | 'finishing';

export interface RestoreProgress {
  step: RestoreStep;
  /** Bytes. */
  done: number;
  /** Out of how many; 0 where nobody knows. */
  of: number;
}

export interface DataSummary {
  profileDir: string;
  backupsDir: string;
  kinds: { kind: string; rows: number; bytes: number }[];
  databaseBytes: number;
  backupsBytes: number;
  modelsBytes: number;
}

export type FeatureStage = 'experimental' | 'beta' | 'stable';

export interface FeatureInfo {
  id: string;
  stage: FeatureStage;
  isOn: boolean;
  /** The user has not decided about it. */
  isDefault: boolean;
}

export interface Limits {
  contexts: number;
  messagesPerContext: number;
  messageBytes: number;
  vaultBytes: number;
}

/** The settings that belong to this page of the design. */
export interface UpkeepSettings {
  /** What the user has turned on or off, by id. */
  features: Record<string, boolean>;
  /** ISO 3166 code; empty = from the system. */
  helplineRegion: string;
  notifications: boolean;
  notificationContent: boolean;
  automaticTitles: boolean;
  limits: Limits;
}

/** A companion expires within a day. */
export interface ContextExpiring {
  contextId: string;
  name: string;
  expiresAt: string;
}

export interface UpkeepBackend {
  jobList(): Promise<Job[]>;
  jobRun(name: string): Promise<Job>;

  backupList(): Promise<BackupInfo[]>;
  /** Makes a backup now, among the profile's own. */
  backupMake(): Promise<BackupInfo>;
  /** Makes one now and deletes every older one. */
  backupForget(): Promise<ForgetReport>;
  /** Makes one in a folder chosen in the system's dialog; `null` where that was closed. */
  backupSave(): Promise<BackupInfo | null>;
  backupVerify(path: string): Promise<BackupInfo>;
  /** Lets the user choose a backup file; `null` where the dialog was closed. */
  backupChoose(): Promise<BackupInfo | null>;
  backupPreview(path: string): Promise<RestorePreview>;
  backupRestore(path: string): Promise<RestoreReport>;

  /** The backups among the profile's own while no vault is open. */
  backupListClosed(): Promise<BackupInfo[]>;
  backupChooseClosed(): Promise<BackupInfo | null>;
  /** Restores one by its recovery code or passphrase and opens the vault. */
  backupRestoreClosed(
    path: string,
    secret: string,
    onProgress: (progress: RestoreProgress) => void,
  ): Promise<ClosedRestore>;

  dataSummary(): Promise<DataSummary>;
  /** Destroys the vault, its backups and its key; `confirmation` is the English word. */
  /** Answers whether the keychain let go of the key. */
  dataErase(confirmation: string, models: boolean): Promise<boolean>;
  /**
   * Moves the data to a folder chosen in the system's dialog, and starts the app again from there;
   * `null` where the dialog was closed.
   */
  dataMove(): Promise<string | null>;

  featureList(): Promise<FeatureInfo[]>;
}
