import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { TrashItem } from '../ipc/life';
import type { ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** Something in the trash, with what it is called. */
export interface TrashEntry {
  id: string;
  kind: 'context' | 'conversation';
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
      const list = (await this.backend.trashList()).map(entry);
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
}

function entry({ id, title: name, contextName, deletedAt }: TrashItem): TrashEntry {
  const where = { name, contextName: contextName ?? '', deletedAt };
  return 'context' in id
    ? { id: id.context, kind: 'context', ...where }
    : { id: id.conversation, kind: 'conversation', ...where };
}
