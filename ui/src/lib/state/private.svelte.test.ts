import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from './app.svelte';
import { current, entered, type Fake } from './entered';

let app: App;
let backend: Fake;
let contextId: string;
beforeEach(async () => {
  ({ app, backend } = await entered({ life: true }));
  contextId = app.contexts.list.find((one) => one.name === 'Calm Counselor')?.id ?? '';
  await app.pick(contextId);
});

describe('a private conversation', () => {
  const privates = () => app.conversations.privates.map(({ title }) => title);

  it('is listed apart, found nowhere else, and says what it is', async () => {
    const before = app.conversations.totalCount;
    const { id } = await app.conversations.beginPrivate(contextId, 'Between us');
    await app.chat.open(id, contextId);
    expect([current(app).isPrivate, privates()]).toEqual([true, ['Between us']]);
    expect(app.conversations.totalCount).toBe(before);
    current(app).draft = 'zwetschge';
    await current(app).send();
    await vi.waitFor(() => expect(current(app).messages).toHaveLength(2));
    expect(await backend.searchMessages({ text: 'zwetschge' })).toEqual([]);
    const [kept] = app.conversations.list;
    await app.chat.open(kept?.id ?? '', contextId);
    expect(current(app).isPrivate).toBe(false);
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
    expect([privates(), current(app).id, app.notices.list]).toEqual([[], null, []]);
    await expect(backend.conversationOpen(id)).rejects.toThrow();
  });

  it('shows nothing of itself while the vault is locked', async () => {
    await app.conversations.beginPrivate(contextId, 'Between us');
    app.leave();
    expect(privates()).toEqual([]);
  });
});
