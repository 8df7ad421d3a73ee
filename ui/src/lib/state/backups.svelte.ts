import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  BackupInfo,
  ErrorBody,
  ForgetReport,
  RestorePreview,
  RestoreReport,
} from '../ipc/types';
import { Worker } from './work.svelte';

/** What is being done with backups, and with which file. */
export interface BackupWork {
  kind: 'make' | 'forget' | 'save' | 'choose' | 'verify' | 'preview' | 'restore';
  path: string | null;
}

/** The backups of the vault. One piece of work at a time. */
export class Backups extends Worker<BackupWork> {
  list = $state.raw<BackupInfo[]>([]);
  loaded = $state(false);
  /** Why the list could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    super();
    this.backend = backend;
  }

  /** The newest backup that is known to be whole. */
  get newest(): BackupInfo | null {
    return this.list.find((one) => one.isNewest) ?? null;
  }

  async load(): Promise<void> {
    try {
      const list = await this.backend.backupList();
      this.list = list.toSorted((a, b) => (b.madeAt ?? '').localeCompare(a.madeAt ?? ''));
      this.loaded = true;
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Makes a backup among the profile's own; `null` where it failed. */
  async make(): Promise<BackupInfo | null> {
    const made = await this.attempt({ kind: 'make', path: null }, () => this.backend.backupMake());
    await this.load();
    return made;
  }

  /** Makes a backup and deletes every older one; `null` where it failed. */
  async forget(): Promise<ForgetReport | null> {
    const report = await this.attempt({ kind: 'forget', path: null }, () =>
      this.backend.backupForget(),
    );
    await this.load();
    return report;
  }

  /** Makes a backup in a folder of the user's choice. */
  async save(): Promise<BackupInfo | null> {
    return this.attempt({ kind: 'save', path: null }, () => this.backend.backupSave());
  }

  /** Opens a backup again and checks it. */
  async verify(path: string): Promise<BackupInfo | null> {
    const checked = await this.attempt({ kind: 'verify', path }, () =>
      this.backend.backupVerify(path),
    );
    await this.load();
    return checked;
  }

  /** Lets the user choose a backup file that is not in the list. */
  async choose(): Promise<BackupInfo | null> {
    return this.attempt({ kind: 'choose', path: null }, () => this.backend.backupChoose());
  }

  /** What restoring would change; the backup is checked for that. */
  async preview(path: string): Promise<RestorePreview | null> {
    return this.attempt({ kind: 'preview', path }, () => this.backend.backupPreview(path));
  }

  /** Puts a backup in the vault's place; `null` where it failed. */
  async restore(path: string): Promise<RestoreReport | null> {
    return this.attempt({ kind: 'restore', path }, () => this.backend.backupRestore(path));
  }

  /** Forgets how the last work failed. */
  clear(): void {
    this.failure = null;
  }
}
