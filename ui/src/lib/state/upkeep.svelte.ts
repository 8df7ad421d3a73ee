import type { Backend } from '../ipc/backend';
import type { CareCard } from '../ipc/types';
import { Archives } from './archive.svelte';
import { Backups } from './backups.svelte';
import type { Gathered } from './changes';
import { Diagnosis } from './diagnosis.svelte';
import { Features } from './features.svelte';
import { Health } from './health.svelte';
import { Jobs } from './jobs.svelte';
import type { SettingsState } from './settings.svelte';
import { Storage } from './storage.svelte';

/** What the core remembers of the vault's health; empty = any of it may have changed. */
const HEALTH = ['vault_checked', 'tail_lost', ''];

/** What keeps the vault well. Nothing of it is read before a page shows it. */
export class Upkeep {
  readonly jobs: Jobs;
  readonly archives: Archives;
  readonly backups: Backups;
  readonly storage: Storage;
  readonly features: Features;
  readonly diagnosis: Diagnosis;
  readonly health: Health;
  private readonly backend: Backend;

  constructor(backend: Backend, settings: SettingsState) {
    this.backend = backend;
    this.jobs = new Jobs(backend);
    this.archives = new Archives(backend);
    this.backups = new Backups(backend);
    this.storage = new Storage(backend);
    this.diagnosis = new Diagnosis(backend);
    this.health = new Health(backend);
    this.features = new Features(backend, settings);
  }

  /** The helplines of a region; `null` is the one of the settings or of the system. */
  helplines(region: string | null): Promise<CareCard> {
    return this.backend.careHelplines(region);
  }

  /** Reads again what has been shown, after a job has written. */
  async follow(changed: Gathered): Promise<void> {
    const kept = changed.get('appState');
    if (HEALTH.some((key) => kept?.has(key)) || changed.has('job')) await this.health.load();
    if (!changed.has('job')) return;
    if (this.jobs.loaded) await this.jobs.load();
    if (this.backups.loaded) await this.backups.load();
  }

  /** Forgets what was read from the vault. */
  forget(): void {
    this.jobs.list = [];
    this.jobs.loaded = false;
    this.backups.list = [];
    this.backups.loaded = false;
    this.health.forget();
    this.storage.summary = null;
    this.archives.pending = null;
    this.diagnosis.forget();
  }
}
