import { describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';

describe('a conversation that quick chat hands over', () => {
  function begun(): { app: App; backend: ReturnType<typeof fakeBackend>; handed: string } {
    const backend = fakeBackend({ demo: true });
    const handed = backend.world.conversations[0]?.id ?? '';
    return { app: new App(backend), backend, handed };
  }

  it('is shown when the window was only made for it, and once', async () => {
    const { app, backend, handed } = begun();
    backend.world.moved = handed;
    // The shell's event comes before this page listens, so nobody hears it.
    backend.emit('navigate', null);
    await app.start();
    await app.enter();
    expect(app.chat.current?.id).not.toBe(handed);
    await app.followMove();
    expect([app.chat.current?.id, app.page]).toEqual([handed, 'chat']);
    const other = app.conversations.list.find((one) => one.id !== handed);
    await app.chat.open(other?.id ?? '', other?.contextId ?? '');
    await app.followMove();
    expect(app.chat.current?.id).toBe(other?.id);
  });

  it('waits while the vault is not read yet', async () => {
    const { app, backend, handed } = begun();
    await app.start();
    backend.world.moved = handed;
    backend.emit('navigate', null);
    await Promise.resolve();
    expect(backend.world.moved).toBe(handed);
    await app.enter();
    await app.followMove();
    expect(app.chat.current?.id).toBe(handed);
  });

  it('is shown at once in a window that is there', async () => {
    const { app, backend, handed } = begun();
    await app.start();
    await app.enter();
    app.page = 'settings';
    backend.world.moved = handed;
    backend.emit('navigate', null);
    await vi.waitFor(() => expect(app.chat.current?.id).toBe(handed));
    expect([app.page, backend.world.moved]).toEqual(['chat', null]);
  });
});

describe('a first run', () => {
  it('begins although another window opens the vault at the same moment', async () => {
    vi.useFakeTimers();
    try {
      const backend = fakeBackend({ vault: 'new' });
      const status = await backend.vaultStatus();
      vi.spyOn(backend, 'vaultStatus').mockResolvedValueOnce({ ...status, state: 'opening' });
      const app = new App(backend);
      await app.start();
      expect([app.vault.phase, app.welcoming]).toEqual(['opening', false]);
      await vi.advanceTimersByTimeAsync(1000);
      expect([app.vault.phase, app.welcoming]).toEqual(['new', true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps its recovery code while another window looks at the vault', async () => {
    const backend = fakeBackend({ vault: 'new' });
    const renew = vi.spyOn(backend, 'vaultRenewRecovery');
    const [main, quick] = [new App(backend), new App(backend)];
    await main.start();
    await main.vault.create(true, null);
    await quick.start();
    expect(quick.vault.phase).toBe('confirmRecovery');
    expect(renew).not.toHaveBeenCalled();
  });
});

describe('what changes elsewhere', () => {
  async function entered() {
    const backend = fakeBackend({ demo: true });
    const app = new App(backend);
    await app.start();
    await app.enter();
    return { app, backend };
  }

  it('is fetched by its id: neither every companion nor another conversation', async () => {
    const { app, backend } = await entered();
    const [shown, other] = app.conversations.list;
    if (!shown || !other) throw new Error('no conversations');
    expect(app.chat.current?.id).toBe(shown.id);
    const all = vi.spyOn(backend, 'contextList');
    const one = vi.spyOn(backend, 'contextGet');
    const opened = vi.spyOn(backend, 'conversationOpen');
    const list = vi.spyOn(backend, 'conversationList');
    backend.world.context(other.contextId).name = 'Anna';
    backend.emit('change', { noun: 'context', id: other.contextId });
    backend.emit('change', { noun: 'conversation', id: other.id });
    backend.emit('change', { noun: 'message', id: 'message-elsewhere' });
    await vi.waitFor(() => expect(app.contexts.find(other.contextId)?.name).toBe('Anna'));
    await vi.waitFor(() => expect(list).toHaveBeenCalledOnce());
    expect([one.mock.calls, all.mock.calls, opened.mock.calls]).toEqual([
      [[other.contextId]],
      [],
      [],
    ]);
    backend.emit('change', { noun: 'message', id: app.chat.current?.messages[3]?.id ?? '' });
    await vi.waitFor(() => expect(opened).toHaveBeenCalledExactlyOnceWith(shown.id));
    expect(list).toHaveBeenCalledOnce();
  });

  it('takes a companion out that went to the trash or is gone', async () => {
    const { app, backend } = await entered();
    const [first, second] = app.contexts.list;
    await backend.contextDelete(first?.id ?? '');
    await vi.waitFor(() => expect(app.contexts.list).toEqual([second]));
    await backend.contextPurge(second?.id ?? '');
    await vi.waitFor(() => expect(app.contexts.list).toEqual([]));
  });

  it('is all of a noun where no id is given', async () => {
    const { app, backend } = await entered();
    const all = vi.spyOn(backend, 'contextList');
    const opened = vi.spyOn(backend, 'conversationOpen');
    backend.emit('change', { noun: 'context', id: '' });
    backend.emit('change', { noun: 'conversation', id: '' });
    await vi.waitFor(() => expect(opened).toHaveBeenCalledWith(app.chat.current?.id));
    expect(all).toHaveBeenCalledOnce();
  });

  it('is a model file: the engine is asked for its models again', async () => {
    const { app, backend } = await entered();
    await app.providers.stock();
    await backend.modelFileAdd('/models/mine.gguf');
    const names = () => app.providers.shelves[0]?.models.map((model) => model.name);
    await vi.waitFor(() => expect(names()).toContain('mine.gguf'));
  });
});

describe('whether the shortcut works', () => {
  it('is asked again once the vault has opened, and after another was chosen', async () => {
    const backend = fakeBackend({ demo: true });
    const real = backend.appInfo;
    let bound: 'off' | 'ok' | 'failed' = 'off';
    backend.appInfo = async () => ({ ...(await real()), globalShortcut: bound });
    const app = new App(backend);
    await app.start();
    expect(app.settings.info?.globalShortcut).toBe('off');
    bound = 'ok';
    await app.enter();
    expect(app.settings.info?.globalShortcut).toBe('ok');
    bound = 'failed';
    await app.settings.save({ quickChatShortcut: 'CommandOrControl+Space' });
    expect(app.settings.info?.globalShortcut).toBe('failed');
  });
});
