import type { Backend } from '../ipc/backend';
import type { App } from './app.svelte';
import type { OpenConversation } from './conversation.svelte';
import { sendable } from './text';

/** Quick chat: each question begins a conversation of its own with the chosen companion. */
export class QuickChat {
  contextId = $state<string | null>(null);
  private readonly app: App;
  private readonly backend: Backend;

  constructor(app: App, backend: Backend) {
    this.app = app;
    this.backend = backend;
  }

  /** What is written into; before this window has begun one there is nothing. */
  get conversation(): OpenConversation | null {
    return this.contextId === null ? null : this.app.chat.current;
  }

  /** Sees to it that a companion is chosen: the one last used, where none is or it has gone. */
  settle(): void {
    const { contexts, settings, ready } = this.app;
    if (!ready) this.contextId = null;
    if (!ready || contexts.find(this.contextId)) return;
    const next = contexts.find(settings.value.lastContextId) ?? contexts.list[0];
    if (next) this.begin(next.id);
  }

  /** Begins a new question; what is typed goes along. */
  begin(contextId: string): void {
    const text = this.conversation?.draft ?? '';
    const { chat } = this.app;
    this.contextId = contextId;
    chat.clear();
    chat.begin(contextId);
    if (chat.current) chat.current.draft = text;
  }

  hide(): Promise<void> {
    return this.app.quietly(() => this.backend.quickChatHide());
  }

  /** Hands the conversation to the main window, with what is typed below it. */
  async move(): Promise<void> {
    const { conversation, contextId } = this;
    if (!conversation || contextId === null) return;
    const { id, draft } = conversation;
    if (id === null) {
      // There is nothing yet that another window could show.
      if (draft.trim() !== '') this.app.notices.say('quick.sendFirst');
      return;
    }
    await this.app.quietly(async () => {
      if (draft !== '') await this.backend.draftPut({ conversation: id }, sendable(draft));
      await this.backend.quickChatMove(id);
      // What was typed meanwhile belongs to the next question.
      if (conversation.draft === draft) conversation.draft = '';
      if (this.conversation === conversation) this.begin(contextId);
    });
  }

  /** Shows the companion in the main window, where it can be extended. */
  async visit(): Promise<void> {
    const { conversation, contextId, app } = this;
    if (conversation?.id) return this.move();
    await app.quietly(async () => {
      const query = { contextId, includeArchived: true, limit: 1 };
      const [newest] = (await this.backend.conversationList(query)).items;
      if (newest) await this.backend.quickChatMove(newest.id);
      else app.notices.say('quick.openMain');
    });
  }
}
