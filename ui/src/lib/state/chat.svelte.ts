import type { Backend } from '../ipc/backend';
import type { ToolEvent } from '../ipc/tools';
import type { Conversation, ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';
import { OpenConversation } from './conversation.svelte';
import { MESSAGE_BYTES } from './text';

const KEPT = 12;

/** Which context and conversation are shown, and those that stay alive behind them. */
export class Chat {
  contextId = $state<string | null>(null);
  current = $state.raw<OpenConversation | null>(null);
  /** Told when a conversation has its first message. */
  onBorn: (conversation: Conversation) => void = () => undefined;
  /** Told when something typed could not be stored. */
  onUnstored: (error: ErrorBody) => void = () => undefined;
  /** Told what is told of tools in a conversation. */
  onTool: (opened: OpenConversation, event: ToolEvent) => void = () => undefined;
  /** The largest message, in UTF-8 bytes. */
  limit: () => number = () => MESSAGE_BYTES;
  /** Drafts are kept in the vault; quick chat's text lives in its window only. */
  keepsDrafts = true;
  private readonly alive = new Map<string, OpenConversation>();
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Shows an empty page for a new conversation; a draft begun there is still there. */
  begin(contextId: string): void {
    const key = `new:${contextId}`;
    this.contextId = contextId;
    this.current = this.alive.get(key) ?? this.keep(key, contextId, null);
    this.current.measure();
    void this.current.composer.restore();
  }

  async open(id: string, contextId: string): Promise<void> {
    await this.show(id, contextId).reload();
  }

  /** Turns to a conversation as far as it has been read. */
  show(id: string, contextId: string): OpenConversation {
    this.contextId = contextId;
    const shown = this.alive.get(id) ?? this.keep(id, contextId, id);
    this.current = shown;
    return shown;
  }

  /** Opens the conversation of a message at its place; answers with its context. */
  async openAt(messageId: string): Promise<string> {
    const view = await this.backend.conversationOpenAt(messageId);
    const { id, contextId } = view.conversation;
    this.show(id, contextId).place(view, messageId);
    return contextId;
  }

  /** Fetches the conversation that is shown again, if it is among what changed elsewhere. */
  async follow(changed: Gathered): Promise<void> {
    const { current } = this;
    const [conversations, messages] = [changed.get('conversation'), changed.get('message')];
    const any = conversations?.has('') || messages?.has('');
    const meant =
      conversations?.has(current?.id ?? '') ||
      current?.messages.some((message) => messages?.has(message.id));
    if (any || meant) await current?.reload(new Set([...(messages ?? []), ...(any ? [''] : [])]));
  }

  /** Stores every draft that waits to be stored; waits for that no longer than `most`. */
  async flush(most: number | null = null): Promise<void> {
    const all = Promise.all([...this.alive.values()].map((opened) => opened.composer.flush()));
    const end = new Promise((resolve) => most !== null && setTimeout(resolve, most));
    await Promise.race([all, end]);
  }

  /** Forgets a deleted conversation; its place is taken by a new one. */
  forget(id: string): void {
    this.alive.get(id)?.drop();
    this.alive.delete(id);
    if (this.current?.id === id) this.begin(this.current.contextId);
  }

  /** Forgets everything at once: where the vault is locked, nothing can be stored any more. */
  clear(): void {
    for (const opened of this.alive.values()) opened.drop();
    this.alive.clear();
    this.current = null;
    this.contextId = null;
  }

  private keep(key: string, contextId: string, id: string | null): OpenConversation {
    const opened = new OpenConversation(this.backend, contextId, id, this.keepsDrafts);
    opened.onBorn = (conversation) => {
      this.alive.delete(key);
      this.alive.set(conversation.id, opened);
      this.onBorn(conversation);
    };
    opened.onTool = (event) => this.onTool(opened, event);
    opened.limit = () => this.limit();
    opened.composer.onUnstored = (error) => this.onUnstored(error);
    this.alive.set(key, opened);
    this.prune();
    return opened;
  }

  /** Drops the oldest that neither stream nor hold a draft. */
  private prune(): void {
    for (const [key, opened] of this.alive) {
      if (this.alive.size <= KEPT) return;
      if (opened === this.current || opened.reply !== null) continue;
      if (opened.holdsText) continue;
      void opened.composer.flush().finally(() => opened.drop());
      this.alive.delete(key);
    }
  }
}
