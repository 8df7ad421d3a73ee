import { t, type MessageKey } from '$lib/i18n';
import type { BackupInfo, BackupKind } from '$lib/state/types';

const KINDS: Record<BackupKind, MessageKey> = {
  daily: 'backups.kind.daily',
  beforePurge: 'backups.kind.beforePurge',
  beforeMigration: 'backups.kind.beforeMigration',
  beforeRestore: 'backups.kind.beforeRestore',
  afterKeyChange: 'backups.kind.afterKeyChange',
  manual: 'backups.kind.manual',
};

const PROBLEMS: Record<string, MessageKey> = {
  damaged: 'backups.problem.damaged',
  foreign: 'backups.problem.foreign',
  otherVault: 'backups.problem.otherVault',
  tooNew: 'backups.problem.tooNew',
  wrongKey: 'backups.problem.wrongKey',
};

/** Why a backup was made. */
export function kindOf(backup: BackupInfo): string {
  return backup.kind === null ? t('backups.kind.unknown') : t(KINDS[backup.kind]);
}

/** Why a backup cannot be relied on; `null` where it can. */
export function problemOf(backup: BackupInfo): { text: string; raw: string | null } | null {
  if (backup.problem === null) return null;
  const key = PROBLEMS[backup.problem];
  return key
    ? { text: t(key), raw: null }
    : { text: t('backups.problem.other'), raw: backup.problem };
}

/** The last part of a path, on any system. */
export function fileName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}
