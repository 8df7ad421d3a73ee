import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from './app.svelte';
import { entered, type Fake } from './entered';

let app: App;
let backend: Fake;
beforeEach(async () => {
  ({ app, backend } = await entered({ life: true }));
});

describe('a large trash', () => {
  it('is read in one go, with the name of everything in it', async () => {
    for (let turn = 0; turn < 700; turn += 1) backend.world.talk('context-gone', `T${turn}`, 1);
    for (const talk of backend.world.conversations) talk.deletedAt = new Date().toISOString();
    const names = vi.spyOn(backend, 'conversationList');
    await app.trash.load();
    expect(app.trash.list.length).toBeGreaterThan(700);
    expect(app.trash.list.filter((one) => one.name === '')).toEqual([]);
    expect(names).not.toHaveBeenCalled();
  });

  it('says when it cannot be read, and reads on change only what can lie in it', async () => {
    const read = vi.spyOn(backend, 'trashList').mockRejectedValueOnce(new Error('gone'));
    await app.trash.load();
    expect(app.trash.error?.code).toBe('internal');
    await app.trash.follow(
      new Map([
        ['job', new Set([''])],
        ['settings', new Set([''])],
        ['message', new Set([''])],
      ]),
    );
    expect(read).toHaveBeenCalledTimes(1);
    await app.trash.follow(new Map([['conversation', new Set([''])]]));
    expect([app.trash.error, app.trash.loaded]).toEqual([null, true]);
  });
});

describe('many conversations', () => {
  const many = async (count: number): Promise<void> => {
    const contextId = app.chat.contextId ?? '';
    for (let turn = 0; turn < count; turn += 1) backend.world.begin(contextId, `Talk ${turn}`);
    await app.conversations.refresh();
  };

  it('stay fetched when something changes', async () => {
    await many(700);
    while (app.conversations.hasMore) await app.conversations.more();
    const { length } = app.conversations.list;
    expect(length).toBeGreaterThan(700);
    await app.conversations.refresh();
    expect(app.conversations.list).toHaveLength(length);
  });

  it('come once each, whatever comes and goes between two parts', async () => {
    await many(350);
    const contextId = app.chat.contextId ?? '';
    const ids = (): string[] => app.conversations.list.map((one) => one.id);
    const steady = new Set(
      backend.world.conversations
        .filter((one) => one.contextId === contextId && one.deletedAt === null && !one.isArchived)
        .map((one) => one.id),
    );
    const real = backend.conversationList;
    backend.conversationList = async (query) => {
      const page = await real(query);
      // More go than come: a list counted from its beginning would pass some over.
      for (const gone of page.items.slice(0, 3)) {
        steady.delete(gone.id);
        backend.world.conversation(gone.id).deletedAt = new Date().toISOString();
      }
      const born = { ...backend.world.begin(contextId, 'Meanwhile') };
      Object.assign(backend.world.conversation(born.id), { isPinned: true });
      return page;
    };
    while (app.conversations.hasMore) await app.conversations.more();
    expect(new Set(ids()).size).toBe(ids().length);
    expect([...steady].filter((id) => !ids().includes(id))).toEqual([]);
    expect(steady.size).toBeGreaterThan(300);
  });

  it('are all ticked, also those not fetched yet', async () => {
    await many(700);
    app.conversations.choosing(true);
    expect(app.conversations.hasMore).toBe(true);
    await app.conversations.tickAll();
    expect(app.conversations.chosen?.size).toBe(app.conversations.totalCount);
  });

  it('are not chosen any more once a filter hides them', async () => {
    app.conversations.choosing(true);
    await app.conversations.tickAll();
    await app.conversations.narrow({ text: 'team meeting' });
    expect(app.conversations.chosen?.size).toBe(1);
    await app.conversations.narrow({ text: '' });
    expect(app.conversations.chosen?.size).toBe(1);
  });

  it('are counted with those in the archive, whatever the filter leaves', async () => {
    const contextId = app.chat.contextId ?? '';
    await app.conversations.narrow({ text: 'team meeting' });
    expect(app.conversations.totalCount).toBe(1);
    const all = backend.world.conversations.filter(
      (one) => one.contextId === contextId && one.deletedAt === null,
    );
    expect(await app.conversations.count(contextId)).toBe(all.length);
  });
});

describe('a long list of conversations, all of it fetched', () => {
  const write = (conversationId: string): void => {
    const contextId = app.chat.contextId ?? '';
    const rest = { reasoning: null, status: 'complete' as const, model: null, parentId: null };
    backend.world.store({ conversationId, contextId, role: 'user', content: 'hi', ...rest });
  };
  /** What the core has, in its order. */
  const expected = async (): Promise<string[]> => {
    const query = { contextId: app.chat.contextId, limit: 5_000 };
    return (await backend.conversationList(query)).items.map((one) => one.id);
  };
  const shown = (): string[] => app.conversations.list.map((one) => one.id);

  beforeEach(async () => {
    const contextId = app.chat.contextId ?? '';
    for (let turn = 0; turn < 1_200; turn += 1) backend.world.begin(contextId, `Talk ${turn}`);
    await app.conversations.refresh();
    while (app.conversations.hasMore) await app.conversations.more();
  });

  it('is not read again for each message', async () => {
    const deep = app.conversations.list.at(-5)?.id ?? '';
    const asked = vi.spyOn(backend, 'conversationList');
    write(deep);
    const pinned = app.conversations.list.filter((one) => one.isPinned).length;
    await vi.waitFor(() => expect(shown()[pinned]).toBe(deep));
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
    expect(shown()).toEqual(await expected());
  });

  it('takes in a new one, and keeps what is ticked', async () => {
    app.conversations.choosing(true);
    await app.conversations.tickAll();
    const ticked = app.conversations.chosen?.size;
    write(backend.world.begin(app.chat.contextId ?? '', 'From quick chat').id);
    await vi.waitFor(async () => expect(shown()).toEqual(await expected()));
    expect(app.conversations.totalCount).toBe(shown().length);
    expect(app.conversations.chosen?.size).toBe(ticked);
  });

  it.each([
    ['renamed far below', { title: 'Another name' }],
    ['gone from far below', { deletedAt: '2026-05-01T00:00:00Z' }],
    ['archived on top', { isArchived: true }],
  ])('follows one %s', async (what, fields) => {
    const { id } = app.conversations.list.at(what.endsWith('top') ? 9 : -9) ?? { id: '' };
    Object.assign(backend.world.conversation(id), fields);
    backend.emit('change', { noun: 'conversation', id });
    await vi.waitFor(async () => {
      const rows = (await backend.conversationList({ contextId: app.chat.contextId, limit: 5_000 }))
        .items;
      expect(app.conversations.list).toEqual(rows);
    });
  });

  it('takes answers in the order of its questions, and loses no change', async () => {
    const [first, second] = [shown()[600] ?? '', shown()[700] ?? ''];
    await Promise.all([
      app.conversations.follow(new Set([first])),
      app.conversations.follow(new Set([second])),
      (write(first), write(second), app.conversations.follow(new Set([second]))),
    ]);
    expect(shown()).toEqual(await expected());
  });
});

describe('a companion from a preset', () => {
  it('begins as it was adjusted', async () => {
    const [preset] = app.presets.active;
    const wishes = { name: 'Ada', expiryDays: 0 };
    const made = await app.contexts.createFromPreset(preset?.id ?? '', wishes);
    expect([made.name, made.expiryDays, made.expiresAt]).toEqual(['Ada', null, null]);
    expect(made.systemPrompt).toBe(preset?.systemPrompt);
  });
});
