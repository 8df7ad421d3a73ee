import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { BackupInfo, ClosedRestore, ErrorBody, RestoreProgress } from '../ipc/types';
import type { App } from './app.svelte';
import { Worker } from './work.svelte';

/** Restoring a backup while no vault is open: the vault is damaged or lost, or was elsewhere. */
export class Restore extends Worker<'choose' | 'restore'> {
  /** What can be restored: those of the profile, behind those that were chosen. */
  list = $state.raw<BackupInfo[]>([]);
  loaded = $state(false);
  /** The path of the one to be restored. */
  chosen = $state<string | null>(null);
  /** How far the restore is; `null` before its first word. */
  progress = $state.raw<RestoreProgress | null>(null);
  /** Why the list could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private readonly app: App;

  constructor(backend: Backend, app: App) {
    super();
    this.backend = backend;
    this.app = app;
  }

  /** Begins anew: the list of the profile, with the best of it chosen. */
  async begin(): Promise<void> {
    this.list = [];
    this.loaded = false;
    this.chosen = null;
    this.progress = null;
    this.failure = null;
    this.error = null;
    try {
      this.list = await this.backend.backupListClosed();
      const usable = this.list.filter((one) => one.problem === null);
      this.chosen = (usable.find((one) => one.isNewest) ?? usable[0])?.path ?? null;
      this.loaded = true;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Lets the user choose a file, which is then the one to be restored. */
  async choose(): Promise<void> {
    await this.attempt('choose', async () => {
      const file = await this.backend.backupChooseClosed();
      if (file === null) return;
      this.list = [file, ...this.list.filter((one) => one.path !== file.path)];
      if (file.problem === null) this.chosen = file.path;
    });
  }

  /** Restores the chosen backup with its recovery code or passphrase; `null` where it failed. */
  async restore(secret: string): Promise<ClosedRestore | null> {
    const path = this.chosen;
    if (path === null) return null;
    this.progress = null;
    return this.attempt('restore', async () => {
      const done = await this.backend.backupRestoreClosed(path, secret, (progress) => {
        this.progress = progress;
      });
      // What was restored is no first run.
      this.app.welcoming = false;
      this.app.vault.follow(done.status);
      return done;
    });
  }

  /** Takes another one of the list. */
  pick(path: string): void {
    this.chosen = path;
    this.failure = null;
  }
}
