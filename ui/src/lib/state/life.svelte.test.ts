import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';
import { changes } from './change';
import { hoursLeft, isExpired } from './lifetime';

type Fake = ReturnType<typeof fakeBackend>;

async function entered(options: Parameters<typeof fakeBackend>[0]) {
  const backend = fakeBackend(options);
  const app = new App(backend);
  await app.start();
  await app.enter();
  return { app, backend };
}

function current(app: App) {
  const opened = app.chat.current;
  if (!opened) throw new Error('no conversation is shown');
  return opened;
}

function named(app: App, name: string) {
  const context = app.contexts.list.find((one) => one.name === name);
  if (!context) throw new Error(`no ${name}`);
  return context;
}

async function open(app: App, title: string) {
  const found = app.conversations.list.find((one) => one.title === title);
  if (!found) throw new Error(`no ${title}`);
  await app.chat.open(found.id, found.contextId);
  return current(app);
}

let app: App;
let backend: Fake;
beforeEach(async () => {
  ({ app, backend } = await entered({ life: true }));
});

describe('the list of contexts', () => {
  it('holds expired ones, but none from the trash', () => {
    const names = app.contexts.list.map((one) => one.name);
    expect(names).toContain('Project Planner');
    expect(names).not.toContain('Old Friend');
  });

  it('is narrowed by text and tag, and sorted', () => {
    const shown = (): string[] => app.contexts.shown.map((one) => one.name);
    expect(app.contexts.tags).toEqual(['calm', 'home', 'work']);
    app.contexts.narrow({ tag: 'work', sort: 'name' });
    expect(shown()).toEqual(['Calm Counselor', 'Project Planner']);
    app.contexts.narrow({ tag: null, text: 'MIR' });
    expect(shown()).toEqual(['Mira']);
    app.contexts.narrow({ text: '', sort: 'expiresSoon' });
    expect(shown().slice(0, 2)).toEqual(['Project Planner', 'Mira']);
  });

  it('fetches every page', async () => {
    const real = backend.contextList;
    backend.contextList = (query) => real({ ...query, pageSize: 2 });
    await app.contexts.refresh();
    expect(new Set(app.contexts.list.map((one) => one.id)).size).toBe(4);
  });
});

describe('a lifetime', () => {
  it('is counted in hours on its last day only', () => {
    const context = named(app, 'Mira');
    const now = Date.now();
    const at = (hours: number) => ({
      ...context,
      expiresAt: new Date(now + hours * 3_600_000).toISOString(),
    });
    expect([25, 24, 1.6, 0.1].map((hours) => hoursLeft(at(hours), now))).toEqual([null, 24, 2, 1]);
    expect([isExpired(at(0), now), isExpired(at(-1), now), isExpired(at(1), now)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(hoursLeft({ ...context, expiresAt: null }, now)).toBeNull();
    expect(isExpired({ ...context, isActive: false }, now)).toBe(true);
  });

  it('begins anew when extended', async () => {
    const old = named(app, 'Project Planner');
    expect(isExpired(old, app.clock.now)).toBe(true);
    expect(isExpired(await app.contexts.extend(old.id), app.clock.now)).toBe(false);
  });
});

describe('the time that the window shows', () => {
  it('is the present one for what a change brings, and whenever somebody looks', async () => {
    app.clock.now = 0;
    backend.emit('change', { noun: 'context', id: '' });
    await vi.waitFor(() => expect(app.clock.now).toBeGreaterThan(0));
    app.clock.now = 0;
    app.clock.look();
    expect(Date.now() - app.clock.now).toBeLessThan(5_000);
  });
});

describe('deleting', () => {
  it('a context shows the next one, and comes back where it was', async () => {
    const shown = app.chat.contextId ?? '';
    const context = app.contexts.find(shown);
    if (!context) throw new Error('no context');
    await app.removal.context(context);
    expect(app.contexts.find(shown)).toBeNull();
    expect(app.chat.contextId).not.toBe(shown);
    const notice = app.notices.list.at(-1);
    if (!notice) throw new Error('no notice');
    app.notices.act(notice);
    await vi.waitFor(() => expect(app.chat.contextId).toBe(shown));
    expect(app.notices.list).toHaveLength(0);
  });

  it('a context elsewhere, as a clean-up does, leaves nothing of it in the window', async () => {
    const { id } = named(app, 'Calm Counselor');
    await app.pick(id);
    await backend.contextDelete(id);
    backend.emit('change', { noun: 'context', id });
    await vi.waitFor(() => expect(app.chat.contextId).not.toBe(id));
    expect(app.context).not.toBeNull();
    expect(app.conversations.contextId).toBe(app.context?.id);
  });

  it('several conversations is one step, and so is taking it back', async () => {
    const ids = app.conversations.list.slice(0, 2).map((one) => one.id);
    const before = app.conversations.totalCount;
    app.conversations.choosing(true);
    ids.forEach((id) => app.conversations.tick(id, true));
    await app.removal.conversations([...(app.conversations.chosen ?? [])]);
    expect([app.conversations.totalCount, app.conversations.chosen]).toEqual([before - 2, null]);
    const notice = app.notices.list.at(-1);
    expect(notice?.values.count).toBe(2);
    if (notice) app.notices.act(notice);
    await vi.waitFor(() => expect(app.conversations.totalCount).toBe(before));
  });

  it('by age spares pinned ones, and says when there was nothing', async () => {
    await app.removal.older(new Date('2100-01-01'));
    expect(app.conversations.list.every((one) => one.isPinned)).toBe(true);
    await app.removal.older(new Date('2000-01-01'));
    expect(app.notices.list.at(-1)).toMatchObject({ values: { count: 0 }, action: null });
  });

  it('a message keeps those after it, and puts it back in its place', async () => {
    const opened = await open(app, 'The team meeting yesterday');
    const ids = opened.messages.map((message) => message.id);
    const gone = ids[1] ?? '';
    await app.removal.message(opened, gone);
    expect(opened.messages.map((message) => message.id)).toEqual(ids.filter((id) => id !== gone));
    await opened.restore(gone);
    expect(opened.messages.map((message) => message.id)).toEqual(ids);
  });
});

describe('the trash', () => {
  it('names what lies in it, and gives it back', async () => {
    await app.trash.load();
    expect(app.trash.list.map(({ name, contextName }) => [name, contextName])).toEqual([
      ['Something I deleted', 'Calm Counselor'],
      ['Old Friend', ''],
    ]);
    const [talk, friend] = app.trash.list;
    if (!talk || !friend) throw new Error('nothing there');
    await app.trash.restore(friend);
    await app.contexts.refresh();
    expect(named(app, 'Old Friend').isActive).toBe(true);
    await app.trash.purge(talk);
    expect(app.trash.list).toEqual([]);
  });
});

describe('search', () => {
  it('opens a message in its place, and pages to the newest', async () => {
    app.search.text = 'number 20?';
    await app.search.look();
    const [hit] = app.search.hits;
    if (!hit) throw new Error('nothing found');
    expect(hit.snippet.filter((part) => part.isMatch).map((part) => part.text)).toContain('20?');
    await app.showMessage(hit.messageId);
    const opened = current(app);
    expect([opened.target, opened.hasLater, opened.hasEarlier]).toEqual([
      hit.messageId,
      true,
      true,
    ]);
    await opened.reload();
    expect(opened.messages.some((message) => message.id === hit.messageId)).toBe(true);
    while (opened.hasLater) await opened.later();
    expect(opened.messages.at(-1)?.content).toContain('(90)');
    expect(new Set(opened.messages.map((one) => one.id)).size).toBe(opened.messages.length);
  });

  it('sends from the middle of a conversation to its end', async () => {
    app.search.text = 'number 20?';
    await app.search.look();
    await app.showMessage(app.search.hits[0]?.messageId ?? '');
    const opened = current(app);
    await opened.send('and now?');
    expect(opened.hasLater).toBe(false);
    expect(opened.messages.at(-3)?.content).toContain('(90)');
  });

  it('goes by context and day, page by page', async () => {
    app.search.text = 'number';
    await app.search.look();
    expect([app.search.hits.length, app.search.hasMore]).toEqual([30, true]);
    await app.search.more();
    expect(new Set(app.search.hits.map((hit) => hit.messageId)).size).toBe(60);
    app.search.contextId = named(app, 'Mira').id;
    await app.search.look();
    expect(app.search.hits).toEqual([]);
    app.search.contextId = null;
    app.search.until = '2026-05-11';
    await app.search.look();
    expect(app.search.hits).toEqual([]);
  });

  it('shows the answer to the newest question only', async () => {
    const real = backend.searchMessages;
    backend.searchMessages = async (query) => {
      const slow = query.text === 'number';
      if (slow) await new Promise((done) => setTimeout(done, 20));
      return real(query);
    };
    app.search.text = 'number';
    const first = app.search.look();
    app.search.text = 'nothing like this';
    await app.search.look();
    await first;
    expect([app.search.hits.length, app.search.asked]).toEqual([0, 'nothing like this']);
  });
});

describe('a composer draft', () => {
  it('is there again after a restart, and goes with its message', async () => {
    const opened = current(app);
    opened.draft = 'half a thought';
    await app.chat.flush();
    const again = new App(backend);
    await again.enter();
    await vi.waitFor(() => expect(current(again).draft).toBe('half a thought'));
    await current(again).send();
    await vi.waitFor(() => expect(backend.world.drafts.size).toBe(0));
  });

  it('of a new conversation moves on with it', async () => {
    app.chat.begin(app.chat.contextId ?? '');
    const opened = current(app);
    opened.draft = 'first words';
    await app.chat.flush();
    expect([...backend.world.drafts.keys()][0]).toContain('"context"');
    const sent = opened.send();
    opened.draft = 'already the next';
    await sent;
    await app.chat.flush();
    expect([...backend.world.drafts.entries()]).toEqual([
      [JSON.stringify({ conversation: opened.id }), 'already the next'],
    ]);
  });

  it('that was typed before the old one arrived stays', async () => {
    const opened = current(app);
    backend.world.drafts.set(JSON.stringify({ conversation: opened.id }), 'old');
    const again = new App(backend);
    await again.enter();
    expect(current(again).draft).toBe('old');
    again.leave();
    expect(again.chat.current).toBeNull();
  });

  it('of quick chat is not stored', async () => {
    app.chat.clear();
    app.chat.keepsDrafts = false;
    app.chat.begin(named(app, 'Mira').id);
    current(app).draft = 'a quick word';
    await app.chat.flush();
    expect(backend.world.drafts.size).toBe(0);
  });
});

describe('the persona of a conversation', () => {
  it('shows where its wording changed, for each who answers', async () => {
    const opened = await open(app, 'A disagreement with my sister');
    const found = [...changes(opened.messages).values()];
    expect(found).toHaveLength(1);
    const uses = await app.contexts.revisions(found[0]?.contextId ?? '');
    expect(uses.map(({ revision }) => revision.id)).toEqual([found[0]?.after, found[0]?.before]);
  });

  it('goes back to an old wording', async () => {
    const context = app.contexts.find(app.chat.contextId);
    if (!context) throw new Error('no context');
    const uses = await app.contexts.revisions(context.id);
    const old = uses.at(-1)?.revision;
    const back = await app.contexts.restoreRevision(context.id, old?.id ?? '');
    expect([back.personality, back.revisionId]).toEqual([old?.personality, old?.id]);
  });

  it('can be that of another companion, once chosen', async () => {
    const opened = current(app);
    opened.agentId = named(app, 'Mira').id;
    await opened.send('what do you think?');
    expect(opened.messages.at(-1)?.contextId).toBe(named(app, 'Mira').id);
    expect(opened.contextId).not.toBe(named(app, 'Mira').id);
  });
});

describe('votes and presets', () => {
  it('count for the preset of the companion, and can be taken back', async () => {
    const opened = current(app);
    const reply = opened.messages.find((message) => message.role === 'assistant');
    const thumbs = async () => {
      await app.presets.load();
      return app.presets.list.find((one) => one.id === 'preset-calm-counselor')?.thumbsUp;
    };
    await opened.vote(reply?.id ?? '', 'up');
    expect([opened.messages.find((one) => one.id === reply?.id)?.vote, await thumbs()]).toEqual([
      'up',
      1,
    ]);
    await opened.vote(reply?.id ?? '', null);
    expect(await thumbs()).toBe(0);
  });

  it('lists experimental ones first, offers only active ones, and resets', async () => {
    expect(app.presets.list[0]?.metadata).toContain('"experimental":true');
    await app.presets.setActive('preset-calm-counselor', false);
    expect(app.presets.active).toHaveLength(5);
    const reset = await app.presets.reset('preset-calm-counselor');
    expect([reset.isActive, reset.isEdited, app.presets.active.length]).toEqual([true, false, 6]);
    const made = await app.presets.fromContext(named(app, 'Mira').id, 'My guide');
    expect([made.name, made.isBuiltIn]).toEqual(['My guide', false]);
  });
});

describe('advice', () => {
  it('follows what is typed, after a rest', async () => {
    const draft = {
      name: 'Anna',
      systemPrompt: 'You are always nice.',
      personality: '',
      maxTokens: null,
    };
    app.advice.consider(draft, null);
    await vi.waitFor(
      () => expect(app.advice.list.map((one) => one.code)).toContain('second_person'),
      2_000,
    );
    app.advice.consider({ ...draft, systemPrompt: '' }, null);
    expect(app.advice.list).toEqual([]);
  });
});
