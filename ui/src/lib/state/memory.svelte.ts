import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ErrorBody, StateValue, Summary } from '../ipc/types';
import type { Gathered } from './changes';

/** What is remembered of one conversation: summaries and extracted values. */
export class Memory {
  conversationId = $state<string | null>(null);
  /** The newest first. */
  summaries = $state.raw<Summary[]>([]);
  values = $state.raw<StateValue[]>([]);
  loaded = $state(false);
  /** Values that others have taken the place of are listed too. */
  past = $state(false);
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private latest = 0;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async open(conversationId: string): Promise<void> {
    this.forget();
    this.conversationId = conversationId;
    await this.load();
  }

  async load(): Promise<void> {
    const { conversationId } = this;
    if (conversationId === null) return;
    this.latest += 1;
    const ticket = this.latest;
    try {
      const [summaries, values] = await Promise.all([
        this.backend.summaryList(conversationId),
        this.backend.stateGet(conversationId, this.past),
      ]);
      if (ticket !== this.latest) return;
      this.summaries = summaries.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
      this.values = values.toSorted(byName);
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      if (ticket === this.latest) this.error = errorBody(thrown);
    }
  }

  async showPast(on: boolean): Promise<void> {
    this.past = on;
    await this.load();
  }

  async editSummary(id: string, text: string): Promise<ErrorBody | null> {
    return this.change(() => this.backend.summaryEdit(id, text));
  }

  async removeSummary(id: string): Promise<ErrorBody | null> {
    return this.change(() => this.backend.summaryRemove(id));
  }

  /** Stores a value of the user's own; the one before it is superseded. */
  async set(name: string, value: string): Promise<ErrorBody | null> {
    const { conversationId } = this;
    if (conversationId === null) return null;
    return this.change(() => this.backend.stateSet(conversationId, name, value));
  }

  async pin(id: string, isPinned: boolean): Promise<ErrorBody | null> {
    return this.change(() => this.backend.statePin(id, isPinned));
  }

  async drop(id: string): Promise<ErrorBody | null> {
    return this.change(() => this.backend.stateForget(id));
  }

  /** Reads it again after something has changed that it rests on. */
  async follow(changed: Gathered): Promise<void> {
    if (this.conversationId === null) return;
    // Who writes summaries and values tells of the conversation, of them, or of both.
    const nouns: string[] = [...changed.keys()];
    const near = ['conversation', 'message', 'summary', 'state', 'fact'];
    if (nouns.some((noun) => near.includes(noun))) await this.load();
  }

  forget(): void {
    this.latest += 1;
    this.conversationId = null;
    this.summaries = [];
    this.values = [];
    this.loaded = false;
    this.past = false;
    this.error = null;
  }

  private async change(task: () => Promise<unknown>): Promise<ErrorBody | null> {
    try {
      await task();
    } catch (thrown) {
      return errorBody(thrown);
    }
    await this.load();
    return null;
  }
}

/** By name; of one name the value that holds, then those before it. */
function byName(a: StateValue, b: StateValue): number {
  const name = a.name.localeCompare(b.name);
  const held = Number(a.validTo !== null) - Number(b.validTo !== null);
  return name || held || b.validFrom.localeCompare(a.validFrom);
}
