import type { Backend } from '../ipc/backend';
import type { Conversation } from '../ipc/types';
import { OpenConversation } from './conversation.svelte';
import { MESSAGE_BYTES } from './text';

const KEPT = 12;

/** Which context and conversation are shown, and those that stay alive behind them. */
export class Chat {
  contextId = $state<string | null>(null);
  current = $state.raw<OpenConversation | null>(null);
  /** Told when a conversation has its first message. */
  onBorn: (conversation: Conversation) => void = () => undefined;
  /** The largest message, in UTF-8 bytes. */
  limit: () => number = () => MESSAGE_BYTES;
  private readonly alive = new Map<string, OpenConversation>();
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Shows an empty page for a new conversation; a draft begun there is still there. */
  begin(contextId: string): void {
    const key = `new:${contextId}`;
    this.contextId = contextId;
    this.current = this.alive.get(key) ?? this.keep(key, contextId);
    this.current.measure();
  }

  async open(id: string, contextId: string): Promise<void> {
    this.contextId = contextId;
    const known = this.alive.get(id);
    this.current = known ?? this.keep(id, contextId);
    await (known ? known.reload() : this.current.load(id));
  }

  /** Forgets a deleted conversation; its place is taken by a new one. */
  forget(id: string): void {
    this.alive.delete(id);
    if (this.current?.id === id) this.begin(this.current.contextId);
  }

  /** Forgets everything, as when the vault is locked or a context deleted. */
  clear(): void {
    this.alive.clear();
    this.current = null;
    this.contextId = null;
  }

  private keep(key: string, contextId: string): OpenConversation {
    const opened = new OpenConversation(this.backend, contextId);
    opened.onBorn = (conversation) => {
      this.alive.delete(key);
      this.alive.set(conversation.id, opened);
      this.onBorn(conversation);
    };
    opened.limit = () => this.limit();
    this.alive.set(key, opened);
    this.prune();
    return opened;
  }

  /** Drops the oldest that neither stream nor hold a draft. */
  private prune(): void {
    for (const [key, opened] of this.alive) {
      if (this.alive.size <= KEPT) return;
      if (opened !== this.current && opened.reply === null && opened.draft === '')
        this.alive.delete(key);
    }
  }
}
