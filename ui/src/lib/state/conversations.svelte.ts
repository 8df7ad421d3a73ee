import type { Backend } from '../ipc/backend';
import type { ConversationStatistics, ExportFormat } from '../ipc/life';
import type { Conversation } from '../ipc/types';
import { ALL, placeOf, queryOf, type ConversationFilter } from './filter';
import { merged } from './rows';
import { sendable } from './text';

const PAGE = 100;
/** So many changed rows are looked for on the first page. */
const FEW = 8;
/** So many come at once at most. */
const MOST = 500;

/** The conversations of one context, pinned ones and newest first, fetched page by page. */
export class Conversations {
  contextId = $state<string | null>(null);
  list = $state.raw<Conversation[]>([]);
  totalCount = $state(0);
  /** Those that are never written to disk, the last used first. */
  privates = $state.raw<Conversation[]>([]);
  filter = $state.raw<ConversationFilter>(ALL);
  /** Those ticked while several are being chosen; `null` otherwise. */
  chosen = $state.raw<ReadonlySet<string> | null>(null);
  private readonly backend: Backend;
  /** Nothing stands after the last one of the list. */
  private atEnd = $state(true);
  private latest = 0;
  /** What changed and has not been read again. */
  private changed = new Set<string>();
  private followed = 0;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  get hasMore(): boolean {
    return !this.atEnd;
  }

  get isNarrowed(): boolean {
    return this.filter.text.trim() !== '' || this.filter.tag !== null;
  }

  async show(contextId: string | null): Promise<void> {
    if (this.contextId !== contextId) {
      this.contextId = contextId;
      this.list = [];
      this.totalCount = 0;
      this.atEnd = true;
      this.privates = [];
      this.filter = ALL;
      this.chosen = null;
    }
    await this.refresh();
  }

  async narrow(patch: Partial<ConversationFilter>): Promise<void> {
    this.filter = { ...this.filter, ...patch };
    await this.fetch([], PAGE);
  }

  /** Begins or ends choosing several. */
  choosing(on: boolean): void {
    this.chosen = on ? new Set() : null;
  }

  tick(id: string, on: boolean): void {
    const chosen = new Set(this.chosen);
    if (on) chosen.add(id);
    else chosen.delete(id);
    this.chosen = chosen;
  }

  /** Ticks all that the filter leaves, also those that were not fetched yet. */
  async tickAll(): Promise<void> {
    if (this.hasMore) await this.fetch([], this.totalCount);
    if (this.chosen) this.chosen = new Set(this.list.map((one) => one.id));
  }

  /** How many a context has, archived ones too, whatever the list is narrowed to. */
  async count(contextId: string): Promise<number> {
    const query = { contextId, includeArchived: true, limit: 1 };
    return (await this.backend.conversationList(query)).totalCount;
  }

  /** Fetches everything shown so far again. */
  async refresh(): Promise<void> {
    await Promise.all([
      this.fetch([], Math.max(PAGE, this.list.length)),
      this.contextId === null ? null : this.fetchPrivates(this.contextId),
    ]);
  }

  /**
   * Reads again those that changed; the empty id stands for any of them. What is written in comes
   * to the top, so the first page holds it; what it does not hold takes the whole list.
   */
  async follow(ids: ReadonlySet<string>): Promise<void> {
    if (ids.has('') || ids.size > FEW || this.list.length <= PAGE) return this.refresh();
    const { contextId } = this;
    if (contextId !== null)
      await Promise.all([this.followFirst(contextId, ids), this.fetchPrivates(contextId)]);
  }

  async more(): Promise<void> {
    if (this.hasMore) await this.fetch(this.list, PAGE);
  }

  async rename(id: string, title: string): Promise<void> {
    await this.backend.conversationRename(id, sendable(title));
    await this.refresh();
  }

  async pin(id: string, isPinned: boolean): Promise<void> {
    await this.backend.conversationSetPinned(id, isPinned);
    await this.refresh();
  }

  async archive(id: string, isArchived: boolean): Promise<void> {
    await this.backend.conversationSetArchived(id, isArchived);
    await this.refresh();
  }

  async setTags(id: string, tags: string[]): Promise<void> {
    await this.backend.conversationSetTags(id, tags.map(sendable));
    await this.refresh();
  }

  /** To the trash; answers with those that went there. */
  async remove(ids: string[]): Promise<string[]> {
    const gone = await this.backend.conversationDelete(ids);
    this.chosen = null;
    await this.refresh();
    return gone;
  }

  /** To the trash, those of the shown context that rested since then; pinned ones stay. */
  async removeOlder(before: Date): Promise<string[]> {
    const gone = await this.backend.conversationDeleteOlder(this.contextId, before.toISOString());
    await this.refresh();
    return gone;
  }

  /** To the trash, all of a context. */
  async removeAll(contextId: string): Promise<string[]> {
    const gone = await this.backend.conversationClear(contextId);
    await this.refresh();
    return gone;
  }

  async restore(ids: string[]): Promise<void> {
    await this.backend.conversationRestore(ids);
    await this.refresh();
  }

  async statistics(id: string): Promise<ConversationStatistics> {
    return this.backend.conversationStatistics(id);
  }

  async export(id: string, format: ExportFormat): Promise<string> {
    return this.backend.conversationExport(id, format);
  }

  /** Where it was saved; `null` if the dialog was closed. */
  async save(id: string, format: ExportFormat): Promise<string | null> {
    return this.backend.conversationSave(id, format);
  }

  /** Begins one that is never written to disk. */
  async beginPrivate(contextId: string, title: string): Promise<Conversation> {
    const begun = await this.backend.privateBegin(contextId, title);
    await this.refresh();
    return begun;
  }

  /** Ends one that was never written to disk; nothing of it is left. */
  async endPrivate(id: string): Promise<void> {
    await this.backend.privateEnd(id);
    this.privates = this.privates.filter((one) => one.id !== id);
  }

  private async fetchPrivates(contextId: string): Promise<void> {
    const found = await this.backend.privateList(contextId);
    if (this.contextId === contextId) this.privates = found;
  }

  private async followFirst(contextId: string, ids: ReadonlySet<string>): Promise<void> {
    const { filter } = this;
    for (const id of ids) this.changed.add(id);
    this.followed += 1;
    const ticket = this.followed;
    const page = await this.backend.conversationList({
      ...queryOf(contextId, filter),
      limit: PAGE,
    });
    // A newer question asks for what this one was about, too; another list has been read since.
    if (ticket !== this.followed) return;
    const { changed } = this;
    this.changed = new Set();
    if (contextId !== this.contextId || filter !== this.filter) return;
    const rows = merged(this.list, this.totalCount, page, changed);
    if (rows === null) return this.refresh();
    this.list = rows;
    this.totalCount = page.totalCount;
  }

  /** Fetches so many more after those that are known, each of them once, whatever comes and goes meanwhile. */
  private async fetch(known: Conversation[], more: number): Promise<void> {
    if (this.contextId === null) return;
    const query = queryOf(this.contextId, this.filter);
    this.latest += 1;
    const ticket = this.latest;
    const found = new Map(known.map((one) => [one.id, one]));
    const wanted = found.size + more;
    let last = known.at(-1);
    for (let open = true; open;) {
      const limit = Math.min(MOST, wanted - found.size);
      const after = last ? placeOf(last) : null;
      const page = await this.backend.conversationList({ ...query, limit, after });
      // A slower answer to an older question must not replace a newer one.
      if (ticket !== this.latest) return;
      for (const one of page.items) found.set(one.id, one);
      last = page.items.at(-1);
      this.totalCount = page.totalCount;
      this.atEnd = page.items.length < limit || found.size === page.totalCount;
      open = !this.atEnd && found.size < wanted;
    }
    this.list = [...found.values()];
    if (known.length === 0) this.untick();
  }

  /** What is no longer shown is not chosen: nobody deletes what they do not see. */
  private untick(): void {
    const { chosen } = this;
    if (!chosen) return;
    const kept = this.list.filter((one) => chosen.has(one.id)).map((one) => one.id);
    if (kept.length < chosen.size) this.chosen = new Set(kept);
  }
}
