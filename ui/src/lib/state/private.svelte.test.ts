import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';

let app: App;
let backend: ReturnType<typeof fakeBackend>;
let contextId: string;
beforeEach(async () => {
  backend = fakeBackend({ life: true });
  app = new App(backend);
  await app.start();
  await app.enter();
  contextId = app.contexts.list.find((one) => one.name === 'Calm Counselor')?.id ?? '';
  await app.pick(contextId);
});

function current() {
  const opened = app.chat.current;
  if (!opened) throw new Error('no conversation is shown');
  return opened;
}

describe('a private conversation', () => {
  const privates = () => app.conversations.privates.map(({ title }) => title);

  it('is listed apart, found nowhere else, and says what it is', async () => {
    const before = app.conversations.totalCount;
    const { id } = await app.conversations.beginPrivate(contextId, 'Between us');
    await app.chat.open(id, contextId);
    expect([current().isPrivate, privates()]).toEqual([true, ['Between us']]);
    expect(app.conversations.totalCount).toBe(before);
    current().draft = 'zwetschge';
    await current().send();
    await vi.waitFor(() => expect(current().messages).toHaveLength(2));
    expect(await backend.searchMessages({ text: 'zwetschge' })).toEqual([]);
    const [kept] = app.conversations.list;
    await app.chat.open(kept?.id ?? '', contextId);
    expect(current().isPrivate).toBe(false);
  });

  it('belongs to its companion and is gone when it ends', async () => {
    const other = app.contexts.list.find((one) => one.id !== contextId);
    const { id } = await app.conversations.beginPrivate(contextId, 'Between us');
    await app.chat.open(id, contextId);
    await app.conversations.show(other?.id ?? '');
    expect(privates()).toEqual([]);
    await app.conversations.show(contextId);
    expect(privates()).toEqual(['Between us']);
    await app.removal.ending(id);
    expect([privates(), current().id, app.notices.list]).toEqual([[], null, []]);
    await expect(backend.conversationOpen(id)).rejects.toThrow();
  });

  it('shows nothing of itself while the vault is locked', async () => {
    await app.conversations.beginPrivate(contextId, 'Between us');
    app.leave();
    expect(privates()).toEqual([]);
  });
});
