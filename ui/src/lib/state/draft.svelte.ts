import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { DraftKey } from '../ipc/life';
import type { ErrorBody, ErrorCode } from '../ipc/types';
import { sendable } from './text';

const REST_MILLIS = 400;
/** Who types without a rest is stored as often as this. */
const MOST_MILLIS = 2_000;
const SAID = new Set<ErrorCode>(['vault_locked', 'not_found']);

/** What is typed and not sent: kept in the vault as it is typed, and there again after a restart. */
export class ComposerDraft {
  private shown = $state('');
  private key: DraftKey;
  /** What the vault holds; `null` where that is not known. */
  private stored: string | null = null;
  private asked = false;
  /** Something was typed since the vault last took it. */
  private fresh = false;
  private rest: ReturnType<typeof setTimeout> | null = null;
  private most: ReturnType<typeof setTimeout> | null = null;
  /** What is being stored: the next waits for it, lest the older text come last. */
  private under: Promise<void> | null = null;
  private failing = false;
  private readonly backend: Backend;
  /** It is stored in the vault. */
  readonly kept: boolean;
  /** Told when a text could not be stored; not again before one could. */
  onUnstored: (error: ErrorBody) => void = () => undefined;

  /** Without `kept` the text lives in this window only. */
  constructor(backend: Backend, key: DraftKey, kept: boolean) {
    this.backend = backend;
    this.key = key;
    this.kept = kept;
  }

  get text(): string {
    return this.shown;
  }

  set text(text: string) {
    this.shown = text;
    this.schedule();
  }

  /** Fetches what was typed before, once; what has been typed meanwhile stays. */
  async restore(): Promise<void> {
    if (!this.kept || this.asked) return;
    this.asked = true;
    try {
      const text = await this.backend.draftGet(this.key);
      this.stored ??= text;
      if (this.shown === '') this.shown = text;
    } catch {
      // A draft that cannot be read must not keep the conversation from opening.
    }
  }

  /** Fetches what another window left here; what is typed in this one stays above it. */
  async refetch(): Promise<void> {
    if (!this.kept) return;
    const text = await this.backend.draftGet(this.key);
    if (text === this.stored || text === this.shown) return;
    this.stored = text;
    this.text = [this.shown, text].filter((part) => part.trim() !== '').join('\n\n');
  }

  /** From now on the text belongs to another key, as when a conversation has begun. */
  rekey(key: DraftKey): void {
    const left = this.key;
    this.key = key;
    this.asked = true;
    if (!this.kept) return;
    if (this.stored !== '' || this.under !== null)
      void this.queue(() => this.backend.draftPut(left, '').catch(() => undefined));
    this.stored = '';
    this.schedule();
  }

  /** Stores at once what is not stored yet. */
  async flush(): Promise<void> {
    this.hush();
    if (this.fresh) void this.queue(() => this.store());
    await this.under;
  }

  /** Lets go without storing. */
  drop(): void {
    this.hush();
    this.fresh = false;
  }

  /** Whether something is typed that is nowhere else. */
  get isAlone(): boolean {
    return this.shown !== '' && (!this.kept || this.failing);
  }

  private hush(): void {
    if (this.rest !== null) clearTimeout(this.rest);
    if (this.most !== null) clearTimeout(this.most);
    this.rest = this.most = null;
  }

  private schedule(): void {
    if (!this.kept) return;
    this.fresh = true;
    if (this.rest !== null) clearTimeout(this.rest);
    this.rest = setTimeout(() => void this.flush(), REST_MILLIS);
    this.most ??= setTimeout(() => void this.flush(), MOST_MILLIS);
  }

  private async store(): Promise<void> {
    const { key } = this;
    const text = sendable(this.shown);
    const wanted = this.fresh && text !== this.stored;
    this.fresh = false;
    if (!wanted) return;
    try {
      await this.backend.draftPut(key, text);
      this.failing = false;
      if (key === this.key) this.stored = text;
    } catch (thrown) {
      // The next change tries again, and so does whoever leaves.
      this.fresh = true;
      if (key === this.key) this.stored = null;
      this.tell(errorBody(thrown));
    }
  }

  private tell(error: ErrorBody): void {
    // That the vault is locked, or the conversation gone, is said by the window.
    if (this.failing || SAID.has(error.code)) return;
    this.failing = true;
    this.onUnstored(error);
  }

  private queue(task: () => Promise<void>): Promise<void> {
    const next = this.under ? this.under.then(task) : task();
    this.under = next;
    return next.finally(() => {
      if (this.under === next) this.under = null;
    });
  }
}
