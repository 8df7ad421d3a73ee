import type {
  ArchiveBackend,
  ArchiveCounts,
  ArchiveProgress,
  ArchiveReport,
  ArchiveSecret,
  ArchiveStep,
  PendingArchive,
} from '../archive';
import { failure } from '../error';
import type { World } from './world';

type Open = <R>(work: () => R) => Promise<R>;

/** What opens the one archive that this core knows. */
export const PASSPHRASE = 'correct horse battery';
const ARCHIVE = '/media/stick/evenkeel.age';
const NONE: ArchiveCounts = {
  settings: 0,
  presets: 0,
  providers: 0,
  modelFiles: 0,
  revisions: 0,
  contexts: 0,
  conversations: 0,
  messages: 0,
  receipts: 0,
  summaries: 0,
  stateValues: 0,
};
const INSIDE: ArchiveCounts = {
  settings: 1,
  presets: 2,
  providers: 3,
  modelFiles: 1,
  revisions: 5,
  contexts: 4,
  conversations: 36,
  messages: 2_418,
  receipts: 1_190,
  summaries: 12,
  stateValues: 9,
};

function report(takeSettings: boolean): ArchiveReport {
  const settings = takeSettings ? 1 : 0;
  return {
    exportedAt: new Date(Date.now() - 86_400_000).toISOString(),
    appVersion: '0.1.0',
    counts: INSIDE,
    added: { ...INSIDE, settings, presets: 1, contexts: 3, conversations: 31, messages: 2_188 },
    same: { ...NONE, presets: 1, conversations: 3, messages: 222 },
    kept: [
      { reason: 'different', counts: { ...NONE, settings: 1 - settings, contexts: 1 } },
      { reason: 'inTrash', counts: { ...NONE, conversations: 2, messages: 8 } },
    ],
    missingPlugins: ['newest-and-first'],
  };
}

/** Archives of the in-memory backend. */
export class FakeArchive {
  pending: PendingArchive | null = null;
  private stopped = false;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Goes through the steps, until it is stopped. */
  async run(steps: ArchiveStep[], onProgress: (progress: ArchiveProgress) => void): Promise<void> {
    this.stopped = false;
    for (const step of steps) {
      for (let done = 0; done <= 3_600; done += 600) {
        onProgress({ step, done, of: 3_600 });
        await new Promise((resolve) => setTimeout(resolve, 120));
        if (this.stopped) throw failure('storage', 'the work was stopped as asked');
      }
    }
  }

  check(secret: ArchiveSecret): void {
    if (secret.kind === 'passphrase' && secret.passphrase !== PASSPHRASE)
      throw failure('archive_locked', 'the passphrase or key does not open it');
  }

  async import(
    takeSettings: boolean,
    onProgress: (progress: ArchiveProgress) => void,
  ): Promise<ArchiveReport> {
    await this.run(['checking'], onProgress);
    this.pending = { path: ARCHIVE, startedAt: new Date().toISOString(), isUndoing: false };
    await this.run(['importing'], onProgress);
    this.pending = null;
    this.world.onChange({ noun: 'context', id: '' });
    return report(takeSettings);
  }
}

/** The calls of the in-memory backend about archives and envelopes. */
export function archiveCalls(world: World, open: Open): ArchiveBackend {
  const archive = new FakeArchive(world);
  return {
    archivePlace: (name) => open(() => ({ path: `/media/stick/${name}`, exists: false })),
    archiveKey: () => open(() => ({ path: '/media/stick/key.txt', exists: true })),
    archiveFolder: () => open(() => ({ path: '/media/stick', exists: true })),
    archiveChoose: () =>
      open(() => ({ path: ARCHIVE, lock: 'passphrase' as const, sizeBytes: 18_400_000 })),
    archiveExport: async (path, protection, _replace, onProgress) => {
      await open(() => undefined);
      await archive.run(['writing', 'proving'], onProgress);
      const keyPath = protection.kind === 'newKey' ? protection.keyPath : null;
      return { path, sizeBytes: 18_400_000, counts: INSIDE, keyPath };
    },
    archivePreview: async (_path, secret, takeSettings, onProgress) => {
      await open(() => archive.check(secret));
      await archive.run(['checking'], onProgress);
      return report(takeSettings);
    },
    archiveImport: async (_path, secret, takeSettings, onProgress) => {
      await open(() => archive.check(secret));
      return archive.import(takeSettings, onProgress);
    },
    archiveStop: () => open(() => archive.stop()),
    archivePending: () => open(() => archive.pending),
    archiveUndo: () =>
      open(() => {
        archive.pending = null;
        return { removed: 34, kept: 0 };
      }),
    archiveKeep: () => open(() => void (archive.pending = null)),
    envelopeExport: (id, folder) =>
      open(() => {
        const about = world.conversations.find((one) => one.id === id);
        if (!about) throw failure('not_found', `There is no conversation ${id}.`);
        return { path: `${folder}/${about.title}`, files: about.messageCount };
      }),
    envelopeImport: (_folder, key, contextId) =>
      open(() => {
        if (key.kind === 'text' && key.text !== PASSPHRASE)
          throw failure('archive_locked', 'the key does not open it, or it was changed');
        const conversation = world.conversations.find((one) => one.contextId === contextId);
        if (!conversation) throw failure('not_found', `There is no context ${contextId}.`);
        return { conversation, messages: 12, skipped: ['notes.txt'] };
      }),
  };
}
