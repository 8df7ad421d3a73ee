/** Archives: everything in one file, and conversations as folders of encrypted files. */
import type { Conversation } from './types';

/** What can be wrong with an archive, or stand against it. */
export type ArchiveErrorCode =
  'archive_invalid' | 'archive_locked' | 'archive_too_new' | 'file_exists' | 'import_pending';

/** How many there are of each kind. */
export interface ArchiveCounts {
  settings: number;
  presets: number;
  providers: number;
  modelFiles: number;
  revisions: number;
  contexts: number;
  conversations: number;
  messages: number;
  receipts: number;
  summaries: number;
  stateValues: number;
}

/** A place that was chosen in the system's dialog. */
export interface ArchivePlace {
  path: string;
  /** Something stands there. */
  exists: boolean;
}

export type ArchiveLock = 'passphrase' | 'keyFile';

export interface ArchiveFile {
  path: string;
  lock: ArchiveLock;
  sizeBytes: number;
}

/** What a new archive is sealed to. */
export type ArchiveProtection =
  | { kind: 'passphrase'; passphrase: string }
  | { kind: 'newKey'; keyPath: string }
  | { kind: 'keyFile'; keyPath: string };

/** What opens an archive. */
export type ArchiveSecret =
  { kind: 'passphrase'; passphrase: string } | { kind: 'keyFile'; keyPath: string };

export interface ArchiveExport {
  path: string;
  sizeBytes: number;
  counts: ArchiveCounts;
  /** Where the key is that was made for it. */
  keyPath: string | null;
}

export interface ArchiveKept {
  /** `different`, `inTrash`, `hangs`, `elsewhere` or `conversationKept`. */
  reason: string;
  counts: ArchiveCounts;
}

/** What an import would do, or has done. */
export interface ArchiveReport {
  exportedAt: string;
  appVersion: string;
  counts: ArchiveCounts;
  added: ArchiveCounts;
  same: ArchiveCounts;
  kept: ArchiveKept[];
  missingPlugins: string[];
}

/** An import that was stopped or cut off. */
export interface PendingArchive {
  path: string;
  startedAt: string;
  isUndoing: boolean;
}

export interface ArchiveUndo {
  removed: number;
  kept: number;
}

export type ArchiveStep = 'writing' | 'proving' | 'checking' | 'importing';

export interface ArchiveProgress {
  step: ArchiveStep;
  /** Records. */
  done: number;
  of: number;
}

export interface EnvelopeExport {
  path: string;
  files: number;
}

/** The vault's own key, or the string that another program was configured with. */
export type EnvelopeKey = { kind: 'vault' } | { kind: 'text'; text: string };

export interface EnvelopeImport {
  conversation: Conversation;
  messages: number;
  skipped: string[];
}

type OnProgress = (progress: ArchiveProgress) => void;

/** Every choice opens the system's dialog, and answers `null` where that was closed. */
export interface ArchiveBackend {
  /** A place for a new file, with a name to offer. */
  archivePlace(name: string): Promise<ArchivePlace | null>;
  archiveKey(): Promise<ArchivePlace | null>;
  archiveFolder(): Promise<ArchivePlace | null>;
  archiveChoose(): Promise<ArchiveFile | null>;

  archiveExport(
    path: string,
    protection: ArchiveProtection,
    replace: boolean,
    onProgress: OnProgress,
  ): Promise<ArchiveExport>;
  archivePreview(
    path: string,
    secret: ArchiveSecret,
    takeSettings: boolean,
    onProgress: OnProgress,
  ): Promise<ArchiveReport>;
  archiveImport(
    path: string,
    secret: ArchiveSecret,
    takeSettings: boolean,
    onProgress: OnProgress,
  ): Promise<ArchiveReport>;
  archiveStop(): Promise<void>;
  archivePending(): Promise<PendingArchive | null>;
  archiveUndo(): Promise<ArchiveUndo>;
  archiveKeep(): Promise<void>;

  envelopeExport(id: string, folder: string): Promise<EnvelopeExport>;
  envelopeImport(folder: string, key: EnvelopeKey, contextId: string): Promise<EnvelopeImport>;
}
