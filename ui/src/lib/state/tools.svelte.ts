import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ToolChoice, ToolRule, ToolServerDraft, ToolServerView } from '../ipc/tools';
import type { ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** Servers of tools. Nothing is read before a page shows it, and nothing started before it is tested or used. */
export class Tools {
  list = $state.raw<ToolServerView[]>([]);
  loaded = $state(false);
  /** The server that is being tested. */
  testing = $state<string | null>(null);
  /** How many tools of a server were left out at its last test. */
  leftOut = $state.raw<Record<string, number>>({});
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
    this.testing = id;
    await this.attempt(async () => {
      const { view, leftOut } = await this.backend.toolServerTest(id);
      this.take(view);
      this.leftOut = { ...this.leftOut, [id]: leftOut };
    });
    if (this.testing === id) this.testing = null;
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
    this.leftOut = {};
    this.loaded = false;
    this.testing = null;
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
