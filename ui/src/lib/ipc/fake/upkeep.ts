import { failure } from '../error';
import type { BackupInfo, BackupKind, FeatureInfo, Job, Limits, LostTail } from '../types';
import type { UpkeepBackend } from '../upkeep';
import { restoreCalls } from './restore';
import type { FakeVault } from './vault';
import type { World } from './world';

const HOUR = 3_600_000;
const DIR = '~/.local/share/evenkeel';
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR).toISOString();

/** What the list of backups begins with. */
export type FakeBackups = 'some' | 'none' | 'unreadable';

function job(name: string, rest: Partial<Job>): Job {
  const began = ago(5);
  return {
    name,
    lastStartedAt: began,
    lastEndedAt: began,
    nextRunAt: ago(-19),
    result: 'ok',
    message: null,
    durationMs: 420,
    runs: 31,
    isRunning: false,
    ...rest,
  };
}

function jobs(): Job[] {
  return [
    job('title', { nextRunAt: null, durationMs: 2_140, message: '2 titles' }),
    job('drill', { durationMs: 940, runs: 4 }),
    job('backup', { durationMs: 1_320 }),
    job('expiry', { lastStartedAt: ago(0.4), lastEndedAt: ago(0.4), nextRunAt: ago(-0.6) }),
    job('cleanup', {
      result: 'failed',
      message: 'disk_full: No space left on the device while the backup before it was written.',
      durationMs: 90,
    }),
    job('vacuum', {
      lastStartedAt: null,
      lastEndedAt: null,
      result: null,
      durationMs: null,
      runs: 0,
    }),
    job('check', { nextRunAt: ago(-91), durationMs: 610, runs: 4 }),
  ];
}

function backup(kind: BackupKind, hours: number, rest: Partial<BackupInfo> = {}): BackupInfo {
  const name = `evenkeel-${Math.round(hours * 10)}`;
  return {
    path: `${DIR}/backups/${name}.ekbackup`,
    id: name,
    kind,
    madeAt: ago(hours),
    sizeBytes: 48_200_000 - Math.round(hours) * 9_000,
    contexts: 2,
    conversations: 5,
    messages: 208,
    verifiedAt: ago(hours),
    problem: null,
    isNewest: false,
    ...rest,
  };
}

function backups(begin: FakeBackups): BackupInfo[] {
  if (begin === 'none') return [];
  return [
    backup('beforePurge', 2, { problem: 'damaged', messages: 206 }),
    backup('daily', 5, { isNewest: true, messages: 198 }),
    backup('manual', 30, { verifiedAt: null, messages: 180 }),
    backup('daily', 53, { contexts: 1, conversations: 3, messages: 120 }),
    backup('beforeMigration', 340, { contexts: 1, conversations: 2, messages: 96 }),
  ];
}

/** A backup on a stick. */
export const ELSEWHERE = backup('manual', 100, {
  path: '/media/stick/old.ekbackup',
  contexts: 3,
});

/** The ranges the in-memory core allows. */
const RANGES: Record<keyof Limits, [number, number]> = {
  contexts: [1, 100_000],
  messagesPerContext: [100, 10_000_000],
  messageBytes: [1_024, 16 * 1_048_576],
  vaultBytes: [64 * 1_048_576, 1_024 ** 4],
};

/** Refuses limits outside their range, as the core does. */
export function checkLimits(limits: Limits): void {
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = limits[name as keyof Limits];
    if (value >= least && value <= most) continue;
    throw failure('invalid_parameter', `limits.${name} is ${value}`, {
      field: `limits.${name}`,
      value: String(value),
      range: `${least} to ${most}`,
    });
  }
}

/** Jobs, backups and data of the in-memory backend. */
export class FakeUpkeep {
  readonly jobs = jobs();
  backups: BackupInfo[];
  /** Whether the next backup fails. */
  full = false;
  /** Whether the open vault is damaged. */
  damaged = false;
  /** Whether nothing of it can be read any more. */
  spoilt = false;
  /** Whether deletions rest, since the clock jumped. */
  clockJumped = false;
  lost: LostTail | null = null;
  private readonly world: World;
  private readonly begin: FakeBackups;

  constructor(world: World, begin: FakeBackups) {
    this.world = world;
    this.begin = begin;
    this.backups = backups(begin);
  }

  /** What has befallen the vault, by a word of the page's address. */
  fall(health: string | null): void {
    this.damaged = health === 'damaged';
    this.spoilt = health === 'spoilt';
    this.clockJumped = health === 'jumped';
    if (health === 'lost')
      this.lost = { at: ago(5), messages: 3, kept: `${DIR}/vault.db.pre-restore-20261122T010203Z` };
  }

  list(): BackupInfo[] {
    if (this.begin === 'unreadable')
      throw failure('storage', `${DIR}/backups could not be read: permission denied`);
    return this.backups;
  }

  make(kind: BackupKind): BackupInfo {
    if (this.full) throw failure('disk_full', 'No space left on the device.');
    for (const one of this.backups) one.isNewest = false;
    const { contexts, conversations, messages } = this.world;
    const made = backup(kind, 0, {
      path: `${DIR}/backups/${this.world.id('evenkeel')}.ekbackup`,
      contexts: contexts.length,
      conversations: conversations.length,
      messages: messages.length,
      isNewest: true,
    });
    this.backups = [made, ...this.backups];
    return made;
  }

  find(path: string): BackupInfo {
    const found = this.backups.find((one) => one.path === path);
    if (!found) throw failure('not_found', `There is no backup at ${path}.`, { noun: 'backup' });
    return found;
  }

  /** Runs a job; it goes on for a moment, and another process would see that too. */
  run(name: string): Job {
    const found = this.jobs.find((one) => one.name === name);
    if (!found) throw failure('not_found', `There is no job ${name}.`, { noun: 'job' });
    found.isRunning = true;
    found.lastStartedAt = ago(0);
    setTimeout(() => {
      Object.assign(found, job(name, { runs: found.runs + 1, message: null }));
      found.lastStartedAt = found.lastEndedAt = ago(0);
      this.world.onChange({ noun: 'job', id: name });
    }, 400);
    return found;
  }

  features(): FeatureInfo[] {
    const set = this.world.settings.features;
    const rows: [string, FeatureInfo['stage'], boolean][] = [
      ['private-conversations', 'beta', true],
      ['automatic-titles', 'beta', true],
      ['care-card', 'stable', true],
      ['memory-ledger', 'experimental', false],
    ];
    return rows.map(([id, stage, on]) => ({
      id,
      stage,
      isOn: set[id] ?? on,
      isDefault: set[id] === undefined,
    }));
  }
}

type Open = <R>(work: () => R) => Promise<R>;

function backupCalls(world: World, upkeep: FakeUpkeep, open: Open) {
  return {
    backupList: () => open(() => upkeep.list()),
    backupForget: () =>
      open(() => {
        const older = upkeep.backups.length;
        const made = upkeep.make('manual');
        upkeep.backups = [made];
        return { backup: made, removed: older, left: [] };
      }),
    backupMake: () => open(() => upkeep.make('manual')),
    backupSave: () =>
      open(() => ({ ...backup('manual', 0), path: '/media/stick/evenkeel.ekbackup' })),
    backupVerify: (path) =>
      open(() => Object.assign(upkeep.find(path), { verifiedAt: new Date().toISOString() })),
    backupChoose: () => open(() => ({ ...ELSEWHERE })),
    backupPreview: (path) =>
      open(() => {
        const made = upkeep.backups.find((one) => one.path === path) ?? ELSEWHERE;
        const { contexts, conversations, messages } = world;
        const { contexts: a, conversations: b, messages: c, madeAt } = made;
        return {
          madeAt: madeAt ?? ago(0),
          now: {
            contexts: contexts.length,
            conversations: conversations.length,
            messages: messages.length,
          },
          then: { contexts: a ?? 0, conversations: b ?? 0, messages: c ?? 0 },
          comeBack: made === ELSEWHERE ? [{ id: 'context-anna', name: 'Anna' }] : [],
          disappear: contexts.slice(a ?? 0).map(({ id, name }) => ({ id, name })),
          newerMessages: Math.max(0, messages.length - (c ?? 0)),
          newestMessageAt: ago(0.3),
          isVaultDamaged: upkeep.damaged,
        };
      }),
    backupRestore: (path) =>
      open(() => {
        const kept = upkeep.find(path);
        const withoutBackup = upkeep.damaged;
        if (!withoutBackup) upkeep.make('beforeRestore');
        upkeep.damaged = false;
        world.contexts.splice(kept.contexts ?? 0);
        world.onChange({ noun: 'vault', id: '' });
        return { withoutBackup, setAside: `${DIR}/vault.db.pre-restore` };
      }),
  } satisfies Partial<UpkeepBackend>;
}

/** The calls of the in-memory backend that keep a vault well. */
export function upkeepCalls(
  world: World,
  upkeep: FakeUpkeep,
  vault: FakeVault,
  open: Open,
): UpkeepBackend {
  return {
    jobList: () => open(() => upkeep.jobs),
    jobRun: (name) => open(() => upkeep.run(name)),
    ...backupCalls(world, upkeep, open),
    ...restoreCalls(world, upkeep, vault),
    dataSummary: () =>
      open(() => ({
        profileDir: DIR,
        backupsDir: `${DIR}/backups`,
        kinds: [
          { kind: 'messages', rows: world.messages.length, bytes: 31_400_000 },
          { kind: 'index', rows: world.messages.length, bytes: 11_200_000 },
          { kind: 'contexts', rows: world.contexts.length, bytes: 240_000 },
          { kind: 'others', rows: 64, bytes: 92_000 },
        ],
        databaseBytes: 44_100_000,
        backupsBytes: upkeep.backups.reduce((sum, one) => sum + one.sizeBytes, 0),
        modelsBytes: 2_598_000_000,
      })),
    dataErase: (confirmation) =>
      open(() => {
        if (confirmation !== 'ERASE')
          throw failure('invalid_parameter', 'The confirmation does not match.', {
            field: 'confirmation',
            value: confirmation,
            range: 'ERASE',
          });
        world.erase();
        upkeep.backups = [];
        vault.erase();
        return true;
      }),
    dataMove: () => open(() => '/media/data/evenkeel'),
    featureList: () => open(() => upkeep.features()),
  };
}
