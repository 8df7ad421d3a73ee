import type { Context } from '../ipc/types';
import type { App } from './app.svelte';
import type { OpenConversation } from './conversation.svelte';
import { isExpired } from './lifetime';

const FLUSH_MILLIS = 500;

/** Deleting, each with a notice that takes it back. */
export class Removal {
  private readonly app: App;
  /** Those that the user deletes right now. */
  private readonly leaving = new Set<string>();

  constructor(app: App) {
    this.app = app;
  }

  /** A context goes to the trash; where it was shown, the next one is. */
  async context(context: Context): Promise<void> {
    const { app } = this;
    await app.quietly(async () => {
      const shown = app.chat.contextId === context.id;
      // What is half typed comes back with the companion.
      if (shown) await app.chat.flush(FLUSH_MILLIS);
      this.leaving.add(context.id);
      await app.contexts.remove(context.id).finally(() => this.leaving.delete(context.id));
      if (shown) await this.leave(context.id);
      const back = async (): Promise<void> => {
        await app.contexts.restore(context.id);
        if (shown) await app.pick(context.id);
      };
      this.offer('undo.context', { name: context.name }, back, context.id);
    });
  }

  /** Reads changed contexts; where the shown one went to the trash elsewhere, the next one is. */
  async follow(ids: ReadonlySet<string>): Promise<void> {
    const { app } = this;
    const before = app.contexts.list;
    await app.contexts.follow(ids);
    if (app.isQuick) return;
    this.tell(before.filter((one) => isExpired(one, app.clock.now) && !app.contexts.find(one.id)));
    const { contextId } = app.chat;
    if (contextId !== null && !app.contexts.find(contextId)) await this.leave(contextId);
  }

  async conversations(ids: string[]): Promise<void> {
    await this.app.quietly(async () => this.gone(await this.app.conversations.remove(ids)));
  }

  /** Ends a private conversation: there is no way back. */
  async ending(id: string): Promise<void> {
    await this.app.quietly(async () => {
      await this.app.conversations.endPrivate(id);
      this.app.chat.forget(id);
    });
  }

  async older(before: Date): Promise<void> {
    await this.app.quietly(async () => this.gone(await this.app.conversations.removeOlder(before)));
  }

  async all(contextId: string): Promise<void> {
    const { conversations } = this.app;
    await this.app.quietly(async () => this.gone(await conversations.removeAll(contextId)));
  }

  async message(conversation: OpenConversation, messageId: string): Promise<void> {
    if (!(await conversation.remove(messageId))) return;
    this.offer('undo.message', {}, () => conversation.restore(messageId), messageId);
  }

  /** Expired companions that went to the trash by themselves do not go without a word. */
  private tell(gone: Context[]): void {
    const { app } = this;
    const [first, ...more] = gone.filter(({ id }) => !this.leaving.has(id));
    if (!first) return;
    const run = (): void => void (app.page = 'trash');
    const values = { name: first.name, count: more.length + 1 };
    app.notices.ask(first.id, 'contexts.wentAway', values, { key: 'action.show', run });
  }

  private gone(ids: string[]): void {
    const { app } = this;
    if (ids.length === 0) {
      app.notices.say('undo.conversations', { count: 0 });
      return;
    }
    for (const id of ids) app.chat.forget(id);
    const back = (): Promise<void> => app.conversations.restore(ids);
    const [only = null] = ids.length === 1 ? ids : [];
    this.offer('undo.conversations', { count: ids.length }, back, only);
  }

  private offer(
    key: 'undo.context' | 'undo.conversations' | 'undo.message',
    values: Record<string, string | number>,
    back: () => Promise<unknown>,
    about: string | null,
  ): void {
    const run = (): void => void this.app.quietly(back);
    this.app.notices.say(key, values, { key: 'action.undo', run }, about);
  }

  private async leave(contextId: string): Promise<void> {
    const { app } = this;
    await app.chat.flush(FLUSH_MILLIS);
    // Meanwhile another one may have been chosen, or the vault locked.
    if (app.chat.contextId !== contextId) return;
    app.chat.clear();
    await app.conversations.show(null);
    const next = app.contexts.shown[0] ?? app.contexts.list[0];
    if (next) await app.pick(next.id);
  }
}
