import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ErrorBody, Job } from '../ipc/types';

/** What the app does on its own, and how its last runs ended. */
export class Jobs {
  list = $state.raw<Job[]>([]);
  loaded = $state(false);
  /** Why the list could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  /** Names of the jobs that the user has just started. */
  starting = $state.raw<string[]>([]);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  get anyRunning(): boolean {
    return this.list.some((job) => job.isRunning);
  }

  async load(): Promise<void> {
    try {
      this.list = await this.backend.jobList();
      this.loaded = true;
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  async run(name: string): Promise<void> {
    if (this.starting.includes(name)) return;
    this.starting = [...this.starting, name];
    try {
      const job = await this.backend.jobRun(name);
      this.list = this.list.map((one) => (one.name === name ? job : one));
    } finally {
      this.starting = this.starting.filter((one) => one !== name);
    }
  }
}
