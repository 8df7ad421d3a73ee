import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { TrashItem } from '../ipc/life';
import type { Context, Conversation, ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** So many names are looked up where the trash does not tell them itself. */
const NAMES = 500;

/** Something in the trash, with what it is called. */
export interface TrashEntry {
  id: string;
  kind: 'context' | 'conversation';
  /** Empty where the name is not known. */
  name: string;
  /** Name of the context a conversation belongs to. */
  contextName: string;
  deletedAt: string;
}

/** What was deleted and can come back. */
export class Trash {
  list = $state.raw<TrashEntry[]>([]);
  loaded = $state(false);
  /** Why the trash could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private latest = 0;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    this.latest += 1;
    const ticket = this.latest;
    try {
      const list = await this.read();
      if (ticket !== this.latest) return;
      this.list = list;
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      if (ticket === this.latest) this.error = errorBody(thrown);
    }
  }

  /** Reads it again after something has changed that can lie in it. */
  async follow(nouns: Gathered): Promise<void> {
    if (nouns.has('context') || nouns.has('conversation')) await this.load();
  }

  async restore(entry: TrashEntry): Promise<void> {
    if (entry.kind === 'context') await this.backend.contextRestore(entry.id);
    else await this.backend.conversationRestore([entry.id]);
    await this.load();
  }

  /** For good. */
  async purge(entry: TrashEntry): Promise<void> {
    if (entry.kind === 'context') await this.backend.contextPurge(entry.id);
    else await this.backend.conversationPurge([entry.id]);
    await this.load();
  }

  async empty(): Promise<void> {
    await this.backend.trashEmpty();
    await this.load();
  }

  clear(): void {
    this.latest += 1;
    this.list = [];
    this.loaded = false;
    this.error = null;
  }

  private async read(): Promise<TrashEntry[]> {
    const items = await this.backend.trashList();
    if (items.every((item) => item.title !== undefined))
      return items.map((item) => entry(item, [], []));
    const [gone, talks, alive] = await Promise.all([
      this.backend.contextList({ onlyDeleted: true, pageSize: NAMES }),
      this.backend.conversationList({ onlyDeleted: true, limit: NAMES }),
      this.backend.contextList({ includeExpired: true, pageSize: NAMES }),
    ]);
    const contexts = [...gone.contexts, ...alive.contexts];
    return items.map((item) => entry(item, contexts, talks.items));
  }
}

/** An item with its names: as it tells them, else as they are known. */
function entry(item: TrashItem, contexts: Context[], conversations: Conversation[]): TrashEntry {
  const { id, deletedAt } = item;
  const nameOf = (wanted: string | undefined): string =>
    contexts.find((one) => one.id === wanted)?.name ?? '';
  if ('context' in id) {
    const name = item.title ?? nameOf(id.context);
    return { id: id.context, kind: 'context', name, contextName: '', deletedAt };
  }
  const talk = conversations.find((one) => one.id === id.conversation);
  return {
    id: id.conversation,
    kind: 'conversation',
    name: item.title ?? talk?.title ?? '',
    contextName: item.contextName ?? nameOf(talk?.contextId),
    deletedAt,
  };
}
