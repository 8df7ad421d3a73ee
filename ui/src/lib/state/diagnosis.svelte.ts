import type { Backend } from '../ipc/backend';
import type { CrashInfo, LogLevel, LogPage, NetworkPage } from '../ipc/diagnosis';
import { errorBody } from '../ipc/error';
import type { ErrorBody } from '../ipc/types';

/** Lines of the log and requests that are shown. */
const SHOWN = { lines: 300, requests: 200 };

/** What the app says about itself. Nothing is read before a page shows it. */
export class Diagnosis {
  /** The companion whose requests are shown; `null` = all. */
  contextId = $state<string | null>(null);
  network = $state.raw<NetworkPage | null>(null);
  level = $state<LogLevel>('info');
  log = $state.raw<LogPage | null>(null);
  crashes = $state.raw<CrashInfo[]>([]);
  /** Where a report was saved. */
  saved = $state<string | null>(null);
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Reads the newest requests, of the companion or of all. */
  async loadNetwork(contextId: string | null = this.contextId): Promise<void> {
    this.contextId = contextId;
    await this.attempt(async () => {
      const page = await this.backend.networkList(contextId, SHOWN.requests);
      // Another may have been chosen meanwhile.
      if (this.contextId === contextId) this.network = page;
    });
  }

  async loadLog(level: LogLevel = this.level): Promise<void> {
    this.level = level;
    await this.attempt(async () => {
      const page = await this.backend.logRead(level, SHOWN.lines);
      if (this.level === level) this.log = page;
    });
  }

  async clearLog(): Promise<void> {
    await this.attempt(async () => {
      await this.backend.logClear();
      this.log = await this.backend.logRead(this.level, SHOWN.lines);
    });
  }

  async openFolder(): Promise<void> {
    await this.attempt(() => this.backend.logOpenFolder());
  }

  /** Reads what the page of the diagnosis shows; an error of either part stays. */
  async load(): Promise<void> {
    await this.attempt(async () => {
      const [log, crashes] = await Promise.allSettled([
        this.backend.logRead(this.level, SHOWN.lines),
        this.backend.crashList(),
      ]);
      if (log.status === 'fulfilled') this.log = log.value;
      if (crashes.status === 'fulfilled') this.crashes = crashes.value;
      for (const part of [log, crashes]) if (part.status === 'rejected') throw part.reason;
    });
  }

  async loadCrashes(): Promise<void> {
    await this.attempt(async () => {
      this.crashes = await this.backend.crashList();
    });
  }

  async saveCrash(id: string): Promise<void> {
    await this.attempt(async () => {
      this.saved = (await this.backend.crashSave(id)) ?? this.saved;
    });
  }

  async deleteCrash(id: string): Promise<void> {
    await this.attempt(async () => {
      await this.backend.crashDelete(id);
      this.crashes = await this.backend.crashList();
    });
  }

  /** Forgets what was read; which companions talk to whom is nobody's business while the vault is locked. */
  forget(): void {
    this.contextId = null;
    this.network = null;
    this.log = null;
    this.crashes = [];
    this.saved = null;
    this.error = null;
  }

  private async attempt(task: () => Promise<void>): Promise<void> {
    try {
      await task();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }
}
