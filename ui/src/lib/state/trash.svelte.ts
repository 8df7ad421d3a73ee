import type { Backend } from '../ipc/backend';
import type { TrashId } from '../ipc/life';
import type { Context, Conversation } from '../ipc/types';

const PAGE = 500;

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
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    const [items, gone, talks, alive] = await Promise.all([
      this.backend.trashList(),
      this.backend.contextList({ onlyDeleted: true, pageSize: PAGE }),
      this.backend.conversationList({ onlyDeleted: true, limit: PAGE }),
      this.backend.contextList({ includeExpired: true, pageSize: PAGE }),
    ]);
    const contexts = [...gone.contexts, ...alive.contexts];
    this.list = items.map(({ id, deletedAt }) => ({
      ...named(id, contexts, talks.items),
      deletedAt,
    }));
    this.loaded = true;
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
    this.list = [];
    this.loaded = false;
  }
}

function named(
  id: TrashId,
  contexts: Context[],
  conversations: Conversation[],
): Omit<TrashEntry, 'deletedAt'> {
  const context = (wanted: string | undefined): string =>
    contexts.find((one) => one.id === wanted)?.name ?? '';
  if ('context' in id)
    return { id: id.context, kind: 'context', name: context(id.context), contextName: '' };
  const talk = conversations.find((one) => one.id === id.conversation);
  const contextName = context(talk?.contextId);
  return { id: id.conversation, kind: 'conversation', name: talk?.title ?? '', contextName };
}
