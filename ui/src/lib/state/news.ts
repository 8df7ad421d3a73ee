import type { Backend, Unlisten } from '../ipc/backend';
import type { ContextExpiring } from '../ipc/types';
import type { App } from './app.svelte';
import { Changes, type Gathered } from './changes';

/** What the shell tells of its own accord, and what the window does about it. */
export class News {
  private readonly app: App;
  private readonly ends: Unlisten[] = [];
  private readonly changes: Changes;

  constructor(app: App) {
    this.app = app;
    this.changes = new Changes((changed) => void app.quietly(() => this.refetch(changed)));
  }

  async listen(backend: Backend): Promise<void> {
    const { app } = this;
    this.ends.push(
      await backend.listen('change', (change) => this.changes.note(change)),
      await backend.listen('engine', (news) => {
        if (news.kind === 'crashed') app.notices.say('engine.crashed');
      }),
    );
    // The rest is for the window that can do something about it.
    if (app.isQuick) return;
    this.ends.push(
      await backend.listen('navigate', () => void app.followMove()),
      await backend.listen('contextExpiring', (news) => this.warn(news)),
      await backend.onFileDrop((paths) => void this.drop(paths)),
    );
  }

  end(): void {
    for (const end of this.ends) end();
    this.ends.length = 0;
  }

  private warn({ contextId, name }: ContextExpiring): void {
    const { app } = this;
    // A name is nothing for the lock screen.
    if (!app.vault.isOpen) return;
    const extend = async (): Promise<void> => {
      if (!app.contexts.find(contextId)) return;
      await app.contexts.extend(contextId);
      app.notices.say('contexts.extended', { name });
    };
    const offer = { key: 'chat.extend', run: () => app.quietly(extend) } as const;
    app.notices.ask(contextId, 'contexts.expiring', { name }, offer);
  }

  private async drop(paths: string[]): Promise<void> {
    const { app } = this;
    // Whatever is dropped is offered to the core: it says why something is no model file.
    for (const path of paths) {
      await app.quietly(async () => {
        const model = await app.providers.addFile(path);
        app.notices.say('models.added', { name: model.name });
        await app.providers.stock();
      });
    }
  }

  private async refetch(changed: Gathered): Promise<void> {
    const { app } = this;
    if (changed.has('vault')) await app.vault.refresh();
    if (!app.ready) return;
    app.clock.look(); // What is read anew is judged by the present time.
    const contexts = changed.get('context');
    if (contexts) await app.removal.follow(contexts);
    await app.chat.follow(changed);
    if (changed.has('settings')) await app.settings.load();
    if (!app.isQuick) await this.refetchMain(changed);
  }

  private async refetchMain(changed: Gathered): Promise<void> {
    const { app } = this;
    if (changed.has('preset')) await app.presets.load();
    if (app.page === 'trash') await app.trash.follow(changed);
    await app.trash.followCount(changed);
    const conversations = changed.get('conversation');
    if (conversations) await app.conversations.follow(conversations);
    if (changed.has('provider')) await app.providers.load();
    if (changed.has('modelFile')) await app.providers.restock();
    await app.upkeep.follow(changed);
    await app.prompting.follow(changed);
    await app.connections.follow(changed);
    await app.tools.follow(changed);
  }
}
