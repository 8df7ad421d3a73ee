import type { Backend } from '../ipc/backend';
import type { Conversation } from '../ipc/types';
import { sendable } from './text';

const PAGE = 100;

/** The conversations of one context, newest first, fetched page by page. */
export class Conversations {
  contextId = $state<string | null>(null);
  list = $state.raw<Conversation[]>([]);
  totalCount = $state(0);
  private readonly backend: Backend;
  private latest = 0;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  get hasMore(): boolean {
    return this.list.length < this.totalCount;
  }

  async show(contextId: string | null): Promise<void> {
    if (this.contextId !== contextId) {
      this.contextId = contextId;
      this.list = [];
      this.totalCount = 0;
    }
    await this.refresh();
  }

  /** Fetches everything shown so far again. */
  async refresh(): Promise<void> {
    await this.fetch(0, Math.max(PAGE, this.list.length));
  }

  async more(): Promise<void> {
    if (this.hasMore) await this.fetch(this.list.length, PAGE);
  }

  async rename(id: string, title: string): Promise<void> {
    await this.backend.conversationRename(id, sendable(title));
    await this.refresh();
  }

  async remove(id: string): Promise<void> {
    await this.backend.conversationDelete(id);
    await this.refresh();
  }

  private async fetch(offset: number, limit: number): Promise<void> {
    const contextId = this.contextId;
    if (contextId === null) return;
    this.latest += 1;
    const ticket = this.latest;
    const page = await this.backend.conversationList(contextId, limit, offset);
    // A slower answer to an older question must not replace a newer one.
    if (ticket !== this.latest) return;
    this.list = [...this.list.slice(0, offset), ...page.items];
    this.totalCount = page.totalCount;
  }
}
