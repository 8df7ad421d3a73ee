import type {
  ArchiveExport,
  ArchiveFile,
  ArchivePlace,
  ArchiveProgress,
  ArchiveProtection,
  ArchiveReport,
  ArchiveSecret,
  ArchiveUndo,
  EnvelopeExport,
  EnvelopeImport,
  EnvelopeKey,
  PendingArchive,
} from '../ipc/archive';
import type { Backend } from '../ipc/backend';
import { Worker } from './work.svelte';

/** What is being done with archives. */
export type ArchiveWork = 'choose' | 'export' | 'preview' | 'import' | 'undo' | 'envelopes';

/** Archives and envelopes. One piece of work at a time. */
export class Archives extends Worker<ArchiveWork> {
  progress = $state.raw<ArchiveProgress | null>(null);
  /** An import that was stopped or cut off. */
  pending = $state.raw<PendingArchive | null>(null);
  /** The user has stopped the work, and it is about to end. */
  stopping = $state(false);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    super();
    this.backend = backend;
  }

  /** Looks whether an import waits for its end. */
  async load(): Promise<void> {
    try {
      this.pending = await this.backend.archivePending();
    } catch {
      // What a locked vault keeps is asked again when the page is shown the next time.
      this.pending = null;
    }
  }

  place(name: string): Promise<ArchivePlace | null> {
    return this.attempt('choose', () => this.backend.archivePlace(name));
  }

  key(): Promise<ArchivePlace | null> {
    return this.attempt('choose', () => this.backend.archiveKey());
  }

  folder(): Promise<ArchivePlace | null> {
    return this.attempt('choose', () => this.backend.archiveFolder());
  }

  choose(): Promise<ArchiveFile | null> {
    return this.attempt('choose', () => this.backend.archiveChoose());
  }

  /** Writes everything into an archive; `null` where it failed. */
  export(
    place: ArchivePlace,
    protection: ArchiveProtection,
    replace: boolean,
  ): Promise<ArchiveExport | null> {
    return this.watched('export', (tell) =>
      this.backend.archiveExport(place.path, protection, replace, tell),
    );
  }

  /** What importing an archive would do. */
  preview(path: string, secret: ArchiveSecret, settings: boolean): Promise<ArchiveReport | null> {
    return this.watched('preview', (tell) =>
      this.backend.archivePreview(path, secret, settings, tell),
    );
  }

  /** Takes an archive in; what is left of it after a failure is `pending`. */
  async import(
    path: string,
    secret: ArchiveSecret,
    settings: boolean,
  ): Promise<ArchiveReport | null> {
    const done = await this.watched('import', (tell) =>
      this.backend.archiveImport(path, secret, settings, tell),
    );
    await this.load();
    return done;
  }

  /** Takes back what an import has added that was stopped. */
  async undo(): Promise<ArchiveUndo | null> {
    const undone = await this.attempt('undo', () => this.backend.archiveUndo());
    await this.load();
    return undone;
  }

  /** Leaves what it has added. */
  async keep(): Promise<void> {
    await this.attempt('undo', () => this.backend.archiveKeep());
    await this.load();
  }

  stop(): void {
    this.stopping = true;
    void this.backend.archiveStop();
  }

  exportEnvelopes(id: string, folder: string): Promise<EnvelopeExport | null> {
    return this.attempt('envelopes', () => this.backend.envelopeExport(id, folder));
  }

  importEnvelopes(
    folder: string,
    key: EnvelopeKey,
    contextId: string,
  ): Promise<EnvelopeImport | null> {
    return this.attempt('envelopes', () => this.backend.envelopeImport(folder, key, contextId));
  }

  /** Forgets how the last work failed. */
  clear(): void {
    this.failure = null;
  }

  private async watched<R>(
    work: ArchiveWork,
    task: (tell: (progress: ArchiveProgress) => void) => Promise<R>,
  ): Promise<R | null> {
    this.progress = null;
    this.stopping = false;
    const done = await this.attempt(work, () => task((progress) => (this.progress = progress)));
    // That the user stopped it is no failure that needs words.
    if (this.stopping) this.failure = null;
    this.progress = null;
    this.stopping = false;
    return done;
  }
}
