import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ContextPlace, ContextSort, RecommendedHistory, RevisionUse } from '../ipc/life';
import type {
  Context,
  ContextDraft,
  ContextPatch,
  ModelChoice,
  PresetOverrides,
} from '../ipc/types';
import { sendableFields } from './text';

const PAGE = 500;
/** As many as a window shows when it opens; each comes with its whole persona. */
const FIRST = 24;
/** So many are fetched one by one. */
const FEW = 8;

/** What the list is narrowed to, and its order. */
export interface ContextFilter {
  text: string;
  tag: string | null;
  sort: ContextSort;
}

const ALL: ContextFilter = { text: '', tag: null, sort: 'lastInteraction' };

function placeOf({ id, name, createdAt, lastInteractionAt, expiresAt }: Context): ContextPlace {
  return { id, name, createdAt, lastInteractionAt, expiresAt };
}

/** The companions, expired ones too; those in the trash are elsewhere. */
export class Contexts {
  list = $state.raw<Context[]>([]);
  loaded = $state(false);
  /** All of them are here, and not only those that the window shows first. */
  complete = $state(false);
  filter = $state.raw<ContextFilter>(ALL);
  /** Every tag in use, in the order of the alphabet. */
  readonly tags = $derived(
    [...new Set(this.list.flatMap((context) => context.tags))].sort((a, b) => a.localeCompare(b)),
  );
  /** What the filter leaves, in its order. */
  readonly shown = $derived(
    sorted(
      this.list.filter((one) => fits(one, this.filter)),
      this.filter,
    ),
  );
  private readonly backend: Backend;
  /** Each change of the list by a call of its own; reading all of it notices them. */
  private edits = 0;
  private latest = 0;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Reads those that a window shows first, and the one that it begins with. The rest follows by `fill`. */
  async load(wanted: string | null = null): Promise<void> {
    const query = { includeExpired: true, pageSize: FIRST };
    const { contexts, totalCount } = await this.backend.contextList(query);
    this.list = contexts;
    this.complete = contexts.length >= totalCount;
    if (wanted !== null && !this.complete && !this.find(wanted)) await this.fetch(wanted);
    this.loaded = true;
  }

  /** Reads the rest. */
  async fill(): Promise<void> {
    if (!this.complete) await this.refresh();
  }

  async refresh(): Promise<void> {
    this.latest += 1;
    const ticket = this.latest;
    for (let seen = -1; seen !== this.edits;) {
      seen = this.edits;
      const found = await this.all();
      // A slower answer to an older question must not replace a newer one.
      if (ticket !== this.latest) return;
      // One that came or went meanwhile may be missing here, or be here still: then once more.
      if (seen === this.edits) this.list = found;
    }
    this.complete = true;
  }

  /** Fetches again those that changed elsewhere; the empty id stands for any of them. */
  async follow(ids: ReadonlySet<string>): Promise<void> {
    if (ids.has('') || ids.size > FEW) await this.refresh();
    else await Promise.all([...ids].map((id) => this.fetch(id)));
  }

  find(id: string | null): Context | null {
    return this.list.find((context) => context.id === id) ?? null;
  }

  /** Narrows the list or changes its order. */
  narrow(patch: Partial<ContextFilter>): void {
    this.filter = { ...this.filter, ...patch };
  }

  /** Forgets everything that was read. */
  clear(): void {
    this.latest += 1;
    this.list = [];
    this.complete = false;
    this.filter = ALL;
  }

  async create(draft: ContextDraft): Promise<Context> {
    return this.remember(await this.backend.contextCreate(sendableFields(draft)));
  }

  async createFromPreset(presetId: string, overrides: PresetOverrides = {}): Promise<Context> {
    return this.remember(
      await this.backend.contextCreateFromPreset(presetId, sendableFields(overrides)),
    );
  }

  async update(id: string, patch: ContextPatch): Promise<Context> {
    return this.remember(await this.backend.contextUpdate(id, sendableFields(patch)));
  }

  async duplicate(id: string): Promise<Context> {
    return this.remember(await this.backend.contextDuplicate(id));
  }

  /** Gives an expired or ageing companion its whole lifetime again. */
  async extend(id: string): Promise<Context> {
    return this.remember(await this.backend.contextExtend(id));
  }

  /** To the trash. */
  async remove(id: string): Promise<void> {
    await this.backend.contextDelete(id);
    this.drop(id);
  }

  async restore(id: string): Promise<Context> {
    return this.remember(await this.backend.contextRestore(id));
  }

  /** The wordings of a companion's persona, the newest first. */
  async revisions(id: string): Promise<RevisionUse[]> {
    return this.backend.contextRevisions(id);
  }

  async restoreRevision(id: string, revisionId: string): Promise<Context> {
    return this.remember(await this.backend.contextRestoreRevision(id, revisionId));
  }

  async recommendedHistory(model: ModelChoice | null): Promise<RecommendedHistory> {
    return this.backend.contextRecommendedHistory(model && { ...model });
  }

  private async all(): Promise<Context[]> {
    const found = new Map<string, Context>();
    for (let last: Context | undefined; ;) {
      const query = { includeExpired: true, pageSize: PAGE, after: last ? placeOf(last) : null };
      const { contexts, totalCount } = await this.backend.contextList(query);
      // One that was talked to meanwhile stands in front again: its newest state counts.
      for (const one of contexts) found.set(one.id, one);
      last = contexts.at(-1);
      if (!last || found.size >= totalCount) return [...found.values()];
    }
  }

  private async fetch(id: string): Promise<void> {
    try {
      const context = await this.backend.contextGet(id);
      if (context.deletedAt === null) this.remember(context);
      else this.drop(id);
    } catch (thrown) {
      if (errorBody(thrown).code !== 'not_found') throw thrown;
      this.drop(id);
    }
  }

  private drop(id: string): void {
    this.edits += 1;
    this.list = this.list.filter((context) => context.id !== id);
  }

  private remember(context: Context): Context {
    this.edits += 1;
    const known = this.list.some((one) => one.id === context.id);
    this.list = known
      ? this.list.map((one) => (one.id === context.id ? context : one))
      : [...this.list, context];
    return context;
  }
}

function fits(context: Context, { text, tag }: ContextFilter): boolean {
  const part = text.trim().toLocaleLowerCase();
  const words = [context.name, context.personality, ...context.tags];
  return (
    (tag === null || context.tags.includes(tag)) &&
    (part === '' || words.some((word) => word.toLocaleLowerCase().includes(part)))
  );
}

function sorted(list: Context[], { sort }: ContextFilter): Context[] {
  const order: Record<ContextSort, (a: Context, b: Context) => number> = {
    lastInteraction: (a, b) => b.lastInteractionAt.localeCompare(a.lastInteractionAt),
    name: (a, b) => a.name.localeCompare(b.name),
    created: (a, b) => b.createdAt.localeCompare(a.createdAt),
    // Those that never expire come last: no date sorts behind every date.
    expiresSoon: (a, b) => (a.expiresAt ?? '~').localeCompare(b.expiresAt ?? '~'),
  };
  return [...list].sort((a, b) => order[sort](a, b) || a.id.localeCompare(b.id));
}
