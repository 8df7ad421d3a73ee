import type { Backend } from '../ipc/backend';
import type { DraftKey } from '../ipc/life';
import { sendable } from './text';

const REST_MILLIS = 400;

/** What is typed and not sent: kept in the vault as it is typed, and there again after a restart. */
export class ComposerDraft {
  private shown = $state('');
  private key: DraftKey;
  /** What the vault holds; `null` until it has been asked. */
  private stored: string | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly backend: Backend;
  /** It is stored in the vault. */
  readonly kept: boolean;

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
    if (!this.kept || this.stored !== null) return;
    this.stored = '';
    try {
      const text = await this.backend.draftGet(this.key);
      this.stored = text;
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
    if (!this.kept) return;
    if (this.stored !== '') void this.backend.draftPut(left, '').catch(() => undefined);
    this.stored = '';
    this.schedule();
  }

  /** Stores at once what waits to be stored. */
  async flush(): Promise<void> {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    const text = sendable(this.shown);
    if (text === this.stored) return;
    this.stored = text;
    await this.backend.draftPut(this.key, text).catch(() => {
      // Not stored: the next change tries again.
      this.stored = null;
    });
  }

  /** Lets go without storing. */
  drop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private schedule(): void {
    if (!this.kept) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), REST_MILLIS);
  }
}
