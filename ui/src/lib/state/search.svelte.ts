import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { SearchHit } from '../ipc/life';
import type { ErrorBody } from '../ipc/types';
import { sendable } from './text';

const PAGE = 30;
const REST_MILLIS = 180;
const LONGEST = 1_000;

/** Local midnight of a day as a date field gives it (`2026-05-12`), so many days later. */
function midnight(day: string, later = 0): string | null {
  const date = new Date(`${day}T00:00`);
  if (day === '' || Number.isNaN(date.getTime())) return null;
  date.setDate(date.getDate() + later);
  return date.toISOString();
}

/** Looking through everything that was said. */
export class Search {
  text = $state('');
  contextId = $state<string | null>(null);
  /** Days as date fields give them; both count in full. */
  from = $state('');
  until = $state('');
  hits = $state.raw<SearchHit[]>([]);
  hasMore = $state(false);
  looking = $state(false);
  /** What the hits answer. */
  asked = $state('');
  error = $state.raw<ErrorBody | null>(null);
  private timer: ReturnType<typeof setTimeout> | null = null;
  private latest = 0;
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Looks after a short rest in typing. */
  soon(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), REST_MILLIS);
  }

  async look(): Promise<void> {
    await this.fetch([]);
  }

  async more(): Promise<void> {
    if (this.hasMore && !this.looking) await this.fetch(this.hits);
  }

  clear(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.latest += 1;
    Object.assign(this, { text: '', contextId: null, from: '', until: '', asked: '' });
    this.hits = [];
    this.hasMore = false;
    this.looking = false;
    this.error = null;
  }

  private async fetch(known: SearchHit[]): Promise<void> {
    this.latest += 1;
    const ticket = this.latest;
    const text = sendable(this.text).trim().slice(0, LONGEST);
    if (text === '') {
      this.hits = [];
      this.asked = '';
      this.hasMore = false;
      this.looking = false;
      return;
    }
    this.looking = true;
    try {
      const { contextId } = this;
      const days = { from: midnight(this.from), until: midnight(this.until, 1) };
      const before = known.at(-1)?.cursor ?? null;
      const query = { text, contextId, ...days, limit: PAGE, before };
      const hits = await this.backend.searchMessages(query);
      if (ticket !== this.latest) return;
      this.hits = [...known, ...hits];
      this.hasMore = hits.length === PAGE;
      this.asked = text;
      this.error = null;
    } catch (thrown) {
      if (ticket === this.latest) this.error = errorBody(thrown);
    }
    if (ticket === this.latest) this.looking = false;
  }
}
