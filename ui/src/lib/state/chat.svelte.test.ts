import { beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import type { App } from './app.svelte';
import { current, entered, type Fake } from './entered';

let app: App;
let backend: Fake;
beforeEach(async () => {
  ({ app, backend } = await entered({ demo: true }));
});

describe('a conversation', () => {
  it('opens at the newest, with earlier ones to fetch', async () => {
    expect(current(app).messages).toHaveLength(50);
    expect(current(app).hasEarlier).toBe(true);
    await current(app).earlier();
    expect(current(app).messages).toHaveLength(100);
    await current(app).reload();
    expect(current(app).messages).toHaveLength(100);
    expect(new Set(current(app).messages.map((message) => message.id)).size).toBe(100);
  });

  it('begins with the first message and shows up in the list', async () => {
    const before = app.conversations.totalCount;
    app.chat.begin(app.chat.contextId ?? '');
    current(app).draft = 'Hello there';
    expect(await current(app).send()).toBe(true);
    expect(current(app).messages.map((message) => message.role)).toEqual(['user', 'assistant']);
    expect(current(app).draft).toBe('');
    await vi.waitFor(() => expect(app.conversations.totalCount).toBe(before + 1));
  });

  it('makes branches by editing and answering again, and switches between them', async () => {
    app.chat.begin(app.chat.contextId ?? '');
    const opened = current(app);
    await opened.send('first wording');
    const reply = opened.messages[1];
    await opened.regenerate(reply?.id ?? '');
    expect(opened.messages).toHaveLength(2);
    expect(opened.messages[1]?.siblingIds).toHaveLength(2);
    await opened.edit(opened.messages[0]?.id ?? '', 'second wording');
    expect(opened.messages.map((message) => message.content)[0]).toBe('second wording');
    expect(opened.messages[0]?.siblingIds).toHaveLength(2);
    await opened.selectBranch(opened.messages[0]?.siblingIds[0] ?? '');
    expect(opened.messages[0]?.content).toBe('first wording');
    expect(opened.messages).toHaveLength(2);
  });

  it('keeps what had arrived when stopped', async () => {
    ({ app, backend } = await entered({ demo: true, pace: 1 }));
    const opened = current(app);
    const sent = opened.send('a long one please');
    await vi.waitFor(() => expect(opened.reply?.text).not.toBe(''));
    await opened.stop();
    await sent;
    expect(opened.messages.at(-1)?.status).toBe('stopped');
    expect(opened.messages.at(-1)?.content).not.toBe('');
  });

  it('keeps a broken reply, with the error', async () => {
    await current(app).send('please break');
    expect(current(app).messages.at(-1)?.status).toBe('interrupted');
    expect(current(app).error?.code).toBe('provider_broken_off');
  });

  it('keeps the message when nothing arrived, and answers it later', async () => {
    await current(app).send('rate limit');
    const last = current(app).messages.at(-1);
    expect([last?.role, current(app).error?.code]).toEqual(['user', 'provider_rate_limited']);
    expect(current(app).draft).toBe('');
  });

  it('keeps the draft when sending is refused', async () => {
    backend.world.settings.defaultModel = null;
    current(app).draft = 'hello';
    expect(await current(app).send()).toBe(false);
    expect([current(app).draft, current(app).error?.code]).toEqual(['hello', 'no_model']);
  });

  it('sends no halves of surrogate pairs and no NUL', async () => {
    await current(app).send('a\ud800b\0c 😀');
    const user = current(app).messages.findLast((message) => message.role === 'user');
    expect(user?.content).toBe('a\ufffdbc 😀');
  });

  it('refuses blank and oversized messages before they leave', async () => {
    const send = vi.spyOn(backend, 'chatSend');
    expect(await current(app).send(' \n\t')).toBe(false);
    expect(await current(app).send('ä'.repeat(600_000))).toBe(false);
    expect(current(app).error?.code).toBe('invalid_parameter');
    expect(send).not.toHaveBeenCalled();
  });

  it('writes one reply at a time', async () => {
    const first = current(app).send('one');
    expect(await current(app).send('two')).toBe(false);
    await first;
  });

  it('takes the end of a reply that comes after the answer of the command', async () => {
    const real = backend.chatSend;
    backend.chatSend = (request, onEvent) =>
      real(request, (event) =>
        event.kind === 'ended' ? void setTimeout(() => onEvent(event), 20) : onEvent(event),
      );
    await current(app).send('late');
    expect(current(app).messages.at(-1)?.role).toBe('assistant');
    expect(current(app).reply).toBeNull();
  });
});

describe('several conversations', () => {
  it('keep their drafts', async () => {
    const [first, second] = app.conversations.list;
    await app.chat.open(first?.id ?? '', first?.contextId ?? '');
    current(app).draft = 'half a thought';
    await app.chat.open(second?.id ?? '', second?.contextId ?? '');
    expect(current(app).draft).toBe('');
    await app.chat.open(first?.id ?? '', first?.contextId ?? '');
    expect(current(app).draft).toBe('half a thought');
  });

  it('go on streaming behind the one shown', async () => {
    ({ app, backend } = await entered({ demo: true, pace: 1 }));
    const behind = current(app);
    const sent = behind.send('hello');
    app.chat.begin(app.chat.contextId ?? '');
    await sent;
    expect(behind.messages.at(-1)?.role).toBe('assistant');
    expect(current(app).messages).toHaveLength(0);
  });

  it('follow a change made elsewhere', async () => {
    const opened = current(app);
    const last = opened.messages.at(-1);
    if (!last || !opened.id) throw new Error('no message');
    backend.world.store({
      conversationId: opened.id,
      contextId: opened.contextId,
      parentId: last.id,
      role: 'user',
      content: 'from quick chat',
      reasoning: null,
      status: 'complete',
      model: null,
    });
    await vi.waitFor(() => expect(opened.messages.at(-1)?.content).toBe('from quick chat'));
  });

  it('leave the list when deleted', async () => {
    const id = current(app).id ?? '';
    await app.removal.conversations([id]);
    expect(app.conversations.list.some((one) => one.id === id)).toBe(false);
    expect(current(app).id).toBeNull();
  });
});

describe('locking', () => {
  it('forgets every text', async () => {
    await app.vault.lock();
    app.leave();
    expect([app.chat.current, app.contexts.list.length, app.conversations.list.length]).toEqual([
      null,
      0,
      0,
    ]);
  });

  it('takes back what may name someone', () => {
    app.notices.say('contexts.extended', { name: 'Mira' });
    app.notices.fail(failure('storage', 'Mira cannot be written'));
    app.links.ask('https://example.org/mira');
    app.leave();
    expect([app.notices.list, app.links.pending]).toEqual([[], null]);
  });

  it('hears of no companion', async () => {
    await backend.vaultLock();
    await app.vault.refresh();
    app.leave();
    backend.emit('contextExpiring', { contextId: 'c', name: 'Mira', expiresAt: '' });
    expect(app.notices.list).toEqual([]);
  });

  it('shows what fails once, not again and again', () => {
    app.notices.fail(failure('storage', 'disk gone'));
    app.notices.fail(failure('storage', 'disk gone'));
    expect(app.notices.list).toHaveLength(1);
  });
});
