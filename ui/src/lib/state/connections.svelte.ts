import type { Backend } from '../ipc/backend';
import type {
  Access,
  Connection,
  ConnectionGrant,
  ConnectionSetup,
  ServerSettings,
  ServerStatus,
} from '../ipc/connections';
import { errorBody } from '../ipc/error';
import type { ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** Entries of the log that are shown. */
const SHOWN = 100;

/** Other programs that use the companions. Nothing is read before a page shows it. */
export class Connections {
  list = $state.raw<Connection[]>([]);
  log = $state.raw<Access[]>([]);
  setup = $state.raw<ConnectionSetup | null>(null);
  server = $state.raw<ServerStatus | null>(null);
  /** What programs show to the server; read only once the user wants to see it. */
  token = $state<string | null>(null);
  loaded = $state(false);
  /** Why they could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  /** Why the last change was not made. */
  failure = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    try {
      [this.list, this.log, this.setup, this.server] = await Promise.all([
        this.backend.connectionList(),
        this.backend.connectionLog(null, SHOWN),
        this.backend.connectionSetup(),
        this.backend.serverStatus(),
      ]);
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Changes a part of what a program may do. */
  async decide(name: string, part: Partial<ConnectionGrant>): Promise<void> {
    const known = this.list.find((one) => one.name === name);
    if (!known) return;
    await this.attempt(async () => {
      const decided = await this.backend.connectionSetGrant(name, { ...known.grant, ...part });
      this.list = this.list.map((one) => (one.name === name ? decided : one));
    });
  }

  async forgetProgram(name: string): Promise<void> {
    await this.attempt(async () => {
      await this.backend.connectionForget(name);
      this.list = this.list.filter((one) => one.name !== name);
    });
  }

  async clearLog(): Promise<void> {
    await this.attempt(async () => {
      await this.backend.connectionClearLog();
      this.log = [];
    });
  }

  /** Turns the server on or off, or moves it to another port. */
  async serve(settings: ServerSettings): Promise<void> {
    await this.attempt(async () => {
      this.server = await this.backend.serverSave(settings);
    });
  }

  async showToken(): Promise<void> {
    await this.attempt(async () => {
      this.token = await this.backend.serverToken();
    });
  }

  hideToken(): void {
    this.token = null;
  }

  /** Makes another token, and reads where the server listens now. */
  async renewToken(): Promise<void> {
    await this.attempt(async () => {
      this.token = await this.backend.serverRenewToken();
      this.server = await this.backend.serverStatus();
    });
  }

  /** Reads again what has been shown, after a program was there. */
  async follow(changed: Gathered): Promise<void> {
    if (changed.has('connection') && this.loaded) await this.load();
  }

  /** Forgets what was read from the vault. */
  forget(): void {
    this.list = [];
    this.log = [];
    this.setup = this.server = this.token = null;
    this.loaded = false;
    this.error = this.failure = null;
  }

  private async attempt(task: () => Promise<void>): Promise<void> {
    this.failure = null;
    try {
      await task();
    } catch (thrown) {
      this.failure = errorBody(thrown);
    }
  }
}
