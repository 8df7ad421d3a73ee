import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ToolChoice, ToolRule, ToolServerDraft, ToolServerView } from '../ipc/tools';
import type { ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** How the last test of a server ended. */
export interface Trial {
  at: string;
  /** Tools that are too many or too large. */
  leftOut: number;
  /** Why it failed. */
  error: ErrorBody | null;
}

/** Servers of tools. Nothing is read before a page shows it, and nothing started before it is tested or used. */
export class Tools {
  list = $state.raw<ToolServerView[]>([]);
  loaded = $state(false);
  /** The servers that are being tested. */
  testing = $state.raw<ReadonlySet<string>>(new Set());
  /** The last test of each server since the vault was opened. */
  trials = $state.raw<Record<string, Trial>>({});
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
      this.list = await this.backend.toolServerList();
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Adds or changes a server and tests it; answers with the error where it was not stored. */
  async save(draft: ToolServerDraft): Promise<ErrorBody | null> {
    try {
      const view = await this.backend.toolServerSave(draft);
      this.take(view);
      void this.test(view.server.id);
      return null;
    } catch (thrown) {
      return errorBody(thrown);
    }
  }

  async test(id: string): Promise<void> {
    this.testing = new Set([...this.testing, id]);
    const trial: Trial = { at: '', leftOut: 0, error: null };
    try {
      const { view, leftOut } = await this.backend.toolServerTest(id);
      this.take(view);
      trial.leftOut = leftOut;
    } catch (thrown) {
      trial.error = errorBody(thrown);
    }
    trial.at = new Date().toISOString();
    this.trials = { ...this.trials, [id]: trial };
    this.testing = new Set([...this.testing].filter((one) => one !== id));
  }

  async remove(id: string): Promise<void> {
    await this.attempt(async () => {
      await this.backend.toolServerDelete(id);
      this.list = this.list.filter((view) => view.server.id !== id);
    });
  }

  async decide(serverId: string, tool: string, rule: ToolRule): Promise<void> {
    await this.attempt(async () =>
      this.take(await this.backend.toolRuleSet({ serverId, tool }, rule)),
    );
  }

  /** The tools that a companion uses. */
  chosen(contextId: string): Promise<ToolChoice[]> {
    return this.backend.contextTools(contextId);
  }

  async choose(contextId: string, chosen: ToolChoice[]): Promise<void> {
    await this.backend.contextToolsSet(contextId, chosen);
  }

  /** Reads again what has been shown, after something was decided elsewhere. */
  async follow(changed: Gathered): Promise<void> {
    if (changed.has('tool') && this.loaded) await this.load();
  }

  /** Forgets what was read from the vault. */
  forget(): void {
    this.list = [];
    this.trials = {};
    this.loaded = false;
    this.testing = new Set();
    this.error = this.failure = null;
  }

  private take(view: ToolServerView): void {
    const isKnown = this.list.some((one) => one.server.id === view.server.id);
    this.list = isKnown
      ? this.list.map((one) => (one.server.id === view.server.id ? view : one))
      : [...this.list, view];
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
