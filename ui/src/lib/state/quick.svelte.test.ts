import { beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { fakeBackend } from '../ipc/fake';
import { narrowed } from '../ipc/fake/narrow';
import { QUICK_CALLS } from '../ipc/quick';
import { App } from './app.svelte';

type Fake = ReturnType<typeof fakeBackend>;

let app: App;
let backend: Fake;
let refused: string[];

async function enter(options: Parameters<typeof fakeBackend>[0] = {}): Promise<void> {
  refused = [];
  window.reportError = (error: Error) => void refused.push(error.message);
  backend = fakeBackend({ demo: true, ...options });
  app = new App(narrowed(backend, QUICK_CALLS), true);
  await app.start();
  await app.enter();
  app.quick.settle();
}

function current() {
  const opened = app.quick.conversation;
  if (!opened) throw new Error('nothing to write into');
  return opened;
}

beforeEach(() => enter());

describe('quick chat', () => {
  it('begins with the companion last used, and asks nothing that it may not', async () => {
    expect(app.quick.contextId).toBe('context-preset-calm-counselor');
    expect(current().id).toBeNull();
    expect(await current().send('hello')).toBe(true);
    await vi.waitFor(() => expect(current().messages).toHaveLength(2));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([refused, app.notices.list]).toEqual([[], []]);
  });

  it('keeps what is typed where nothing can be moved yet', async () => {
    const moved = vi.spyOn(backend, 'quickChatMove');
    current().draft = 'half a thought';
    await app.quick.move();
    expect([current().draft, moved.mock.calls]).toEqual(['half a thought', []]);
    expect(app.notices.list.map((one) => one.key)).toEqual(['quick.sendFirst']);
  });

  it('keeps what is typed when another companion is chosen', () => {
    current().draft = 'half a thought';
    app.quick.begin('context-preset-rational-advisor');
    expect([current().contextId, current().draft]).toEqual([
      'context-preset-rational-advisor',
      'half a thought',
    ]);
  });

  it('hands over what is typed below the conversation', async () => {
    const moved = vi.spyOn(backend, 'quickChatMove');
    await current().send('first');
    const { id } = current();
    current().draft = 'and then';
    await app.quick.move();
    expect(moved).toHaveBeenCalledExactlyOnceWith(id);
    expect([current().id, current().draft]).toEqual([null, '']);

    const main = new App(backend);
    await main.enter();
    backend.world.moved = id;
    await main.followMove();
    expect([main.chat.current?.id, main.chat.current?.draft]).toEqual([id, 'and then']);
  });

  it('hands it over to a window that already shows the conversation', async () => {
    const main = new App(backend);
    await main.enter();
    await current().send('first');
    const { id, contextId } = current();
    await main.chat.open(id ?? '', contextId);
    if (main.chat.current) main.chat.current.draft = 'typed there';
    current().draft = 'typed here';
    await app.quick.move();
    backend.world.moved = id;
    await main.followMove();
    expect(main.chat.current?.draft).toBe('typed there\n\ntyped here');
  });

  it('keeps everything as it is when the move fails', async () => {
    await current().send('first');
    const { id } = current();
    backend.quickChatMove = () => Promise.reject(failure('internal', 'no window'));
    current().draft = 'and then';
    await app.quick.move();
    expect([current().id, current().draft, app.notices.list.length]).toEqual([id, 'and then', 1]);
  });

  it('can stop its reply', async () => {
    await enter({ pace: 5 });
    const sent = current().send('a long one please');
    await vi.waitFor(() => expect(current().reply?.text).not.toBe(''));
    await current().stop();
    await sent;
    expect(current().messages.at(-1)?.status).toBe('stopped');
  });

  it('takes another companion when the chosen one is gone', async () => {
    current().draft = 'half a thought';
    await backend.contextDelete('context-preset-calm-counselor');
    await vi.waitFor(() => expect(app.contexts.list).toHaveLength(1));
    app.quick.settle();
    expect([app.quick.contextId, current().draft]).toEqual([
      'context-preset-rational-advisor',
      'half a thought',
    ]);
  });

  it('shows an expired companion in the main window', async () => {
    const moved = vi.spyOn(backend, 'quickChatMove');
    const newest = backend.world.conversations.at(-1)?.id;
    await app.quick.visit();
    expect(moved).toHaveBeenCalledExactlyOnceWith(newest);
  });

  it('says why the vault could not be read, and reads it again', async () => {
    app.leave();
    vi.spyOn(backend, 'contextList').mockRejectedValueOnce(failure('storage', 'disk gone'));
    await app.enter();
    expect([app.ready, app.trouble?.code]).toEqual([false, 'storage']);
    await app.retry();
    expect([app.ready, app.trouble]).toEqual([true, null]);
  });

  it('says why the state of the vault is not known', async () => {
    vi.spyOn(backend, 'vaultStatus').mockRejectedValueOnce(failure('internal', 'no answer'));
    const other = new App(backend, true);
    await other.start();
    expect(other.trouble?.code).toBe('internal');
    await other.retry();
    expect([other.trouble, other.vault.isOpen]).toEqual([null, true]);
  });
});
