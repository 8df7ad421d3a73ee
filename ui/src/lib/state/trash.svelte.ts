import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { TrashItem } from '../ipc/life';
import type { ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** How long an item stays, from when it was first shown; as the core's clean-up counts. */
const STAYS_MILLIS = 7 * 86_400_000;

/** Something in the trash, with what it is called. */
export interface TrashEntry {
  id: string;
  kind: 'context' | 'conversation';
  name: string;
  /** Name of the context a conversation belongs to. */
  contextName: string;
  deletedAt: string;
  /** It does not go for good before; `null` where the core has not said. */
  staysUntil: string | null;
  /** A clean-up has found it due: one of the next takes it. */
  isDue: boolean;
  /** It is too much to go by itself. */
  waits: boolean;
}

/** What was deleted and can come back. */
export class Trash {
  list = $state.raw<TrashEntry[]>([]);
  loaded = $state(false);
  /** How many lie in it; `null` until that has been asked. */
  count = $state<number | null>(null);
  /** The number is on the screen. What is asked then counts as shown, and may go in time. */
  inSight = false;
  /** Why the trash could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private latest = 0;
  private counted = 0;

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
      this.count = list.length;
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      if (ticket === this.latest) this.error = errorBody(thrown);
    }
  }

  /** Reads it again after something has changed that can lie in it. */
  async follow(nouns: Gathered): Promise<void> {
    if (canLieIn(nouns)) await this.load();
  }

  /** The number comes into sight, or goes out of it. */
  async show(inSight: boolean): Promise<void> {
    const comes = inSight && !this.inSight;
    this.inSight = inSight;
    if (comes) await this.recount();
  }

  /** Counts again after such a change, where the number can be seen. */
  async followCount(nouns: Gathered): Promise<void> {
    if (this.inSight && canLieIn(nouns)) await this.recount();
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
    this.counted += 1;
    this.count = null;
    this.list = [];
    this.loaded = false;
    this.error = null;
  }

  private async recount(): Promise<void> {
    this.counted += 1;
    const ticket = this.counted;
    try {
      const { count } = await this.backend.trashSummary();
      if (ticket === this.counted) this.count = count;
    } catch {
      // The page of the trash says why it cannot be read; a number is not worth a word here.
      if (ticket === this.counted) this.count = null;
    }
  }
}

function canLieIn(nouns: Gathered): boolean {
  return nouns.has('context') || nouns.has('conversation');
}

function entry(item: TrashItem): TrashEntry {
  const { id, title: name, contextName, deletedAt, purgeDueRunningMs, waits } = item;
  const where = { name, contextName: contextName ?? '', deletedAt };
  const fate = { staysUntil: staysUntil(item), isDue: purgeDueRunningMs !== null, waits };
  return 'context' in id
    ? { id: id.context, kind: 'context', ...where, ...fate }
    : { id: id.conversation, kind: 'conversation', ...where, ...fate };
}

/** The later of the two counts, should the clock have gone back between them. */
function staysUntil({ shownAt, deletedAt }: TrashItem): string | null {
  if (shownAt === null) return null;
  const since = Math.max(Date.parse(shownAt), Date.parse(deletedAt));
  return new Date(since + STAYS_MILLIS).toISOString();
}
