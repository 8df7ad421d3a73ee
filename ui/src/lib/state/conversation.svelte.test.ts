import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { fakeBackend } from '../ipc/fake';
import type { TokenMeter } from '../ipc/types';
import { App } from './app.svelte';
import type { OpenConversation } from './conversation.svelte';

type Fake = ReturnType<typeof fakeBackend>;

let app: App;
let backend: Fake;

function current(): OpenConversation {
  const opened = app.chat.current;
  if (!opened) throw new Error('no conversation is shown');
  return opened;
}

async function enter(options: Parameters<typeof fakeBackend>[0] = {}): Promise<void> {
  backend = fakeBackend({ demo: true, ...options });
  app = new App(backend);
  await app.start();
  await app.enter();
}

beforeEach(() => enter());
afterEach(() => {
  app.stop();
  vi.useRealTimers();
});

/** Opens another conversation, whose first reading fails. */
async function openFailing() {
  const other = app.conversations.list[1];
  if (!other) throw new Error('no other conversation');
  vi.spyOn(backend, 'conversationOpen').mockRejectedValueOnce(failure('storage', 'disk gone'));
  await app.chat.open(other.id, other.contextId);
  return other;
}

describe('a conversation that could not be read', () => {
  it('does not become a new one, and keeps what is typed', async () => {
    const { id } = await openFailing();
    const send = vi.spyOn(backend, 'chatSend');
    current().draft = 'hello';
    expect([current().id, current().error?.code]).toEqual([id, 'storage']);
    expect(await current().send()).toBe(false);
    expect([send.mock.calls.length, current().draft]).toEqual([0, 'hello']);
  });

  it('is read again when it is opened again, and can be written into then', async () => {
    const { id, contextId } = await openFailing();
    current().draft = 'hello';
    await app.chat.open(id, contextId);
    expect([current().error, current().messages.length > 0]).toEqual([null, true]);
    expect(await current().send()).toBe(true);
    expect(current().messages.at(-2)).toMatchObject({ conversationId: id, content: 'hello' });
  });

  it('is not written into while it is being read', async () => {
    const other = app.conversations.list[1];
    const opening = app.chat.open(other?.id ?? '', other?.contextId ?? '');
    expect(await current().send('too early')).toBe(false);
    await opening;
    expect(await current().send('now')).toBe(true);
    expect(current().id).toBe(other?.id);
  });
});

describe('editing a message', () => {
  const ownMessage = () => current().messages.find((one) => one.role === 'user')?.id ?? '';

  it('keeps the new wording until it is on disk', async () => {
    const id = ownMessage();
    const real = backend.chatSend;
    backend.chatSend = () => Promise.reject(failure('no_model', 'No model.'));
    current().reword(id, 'another wording');
    expect(await current().edit(id)).toBe(false);
    expect(current().edits).toEqual({ [id]: 'another wording' });
    expect([current().failedEdit, current().error?.code]).toEqual([id, 'no_model']);
    backend.chatSend = real;
    expect(await current().edit(id)).toBe(true);
    expect([current().edits, current().failedEdit]).toEqual([{}, null]);
    expect(current().messages.at(-2)?.content).toBe('another wording');
  });

  it('checks how long it is before it leaves', async () => {
    const send = vi.spyOn(backend, 'chatSend');
    const id = ownMessage();
    current().reword(id, 'ä'.repeat(600_000));
    expect(await current().edit(id)).toBe(false);
    expect([send.mock.calls.length, current().error?.code]).toEqual([0, 'invalid_parameter']);
    expect(current().edits[id]).toHaveLength(600_000);
  });

  it('is remembered while other conversations are shown', async () => {
    const [id, opened] = [ownMessage(), current()];
    const contextId = app.chat.contextId ?? '';
    opened.reword(id, 'half a wording');
    for (let index = 0; index < 14; index += 1) {
      const { id: other } = backend.world.begin(contextId, `Number ${index}`);
      await app.chat.open(other, contextId);
    }
    await app.chat.open(opened.id ?? '', contextId);
    expect(current().edits).toEqual({ [id]: 'half a wording' });
  });
});

describe('a reply that another window began', () => {
  async function elsewhere(text: string): Promise<{ ended: Promise<void> }> {
    const { id, contextId } = current();
    const request = { kind: 'new', contextId, conversationId: id, text, agentId: null } as const;
    let started: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (started = resolve));
    const ended = backend.chatSend(request, ({ kind }) => kind === 'started' && started());
    await begun;
    await current().reload();
    return { ended };
  }

  it('is not offered to be answered, and nothing is sent meanwhile', async () => {
    await enter({ pace: 1 });
    const { ended } = await elsewhere('hello');
    expect([current().busy, current().elsewhere, current().messages.at(-1)?.content]).toEqual([
      true,
      true,
      'hello',
    ]);
    current().draft = 'and another';
    expect([await current().send(), current().draft]).toEqual([false, 'and another']);
    await ended;
    await vi.waitFor(() => expect(current().busy).toBe(false));
    expect(current().messages.at(-1)?.role).toBe('assistant');
  });

  it('can be stopped here', async () => {
    await enter({ pace: 5 });
    const { ended } = await elsewhere('a long one please');
    await current().stop();
    expect(current().stopping).toBe(true);
    await ended;
    await vi.waitFor(() => expect([current().busy, current().stopping]).toEqual([false, false]));
  });

  it('ends here too if it leaves nothing behind', async () => {
    const { id } = current();
    backend.world.replying.add(id ?? '');
    vi.useFakeTimers();
    await current().reload();
    expect(current().elsewhere).toBe(true);
    await vi.advanceTimersByTimeAsync(2_100);
    expect(current().elsewhere).toBe(true);
    backend.world.replying.delete(id ?? '');
    await vi.advanceTimersByTimeAsync(2_100);
    expect(current().elsewhere).toBe(false);
  });

  it('is found out by a refusal', async () => {
    const { id } = current();
    backend.world.replying.add(id ?? '');
    expect(await current().send('hello')).toBe(false);
    expect([current().error?.code, current().elsewhere]).toEqual(['busy', true]);
    backend.world.replying.delete(id ?? '');
    await current().reload();
    expect([current().error, current().elsewhere]).toEqual([null, false]);
  });
});

describe('a new conversation', () => {
  it('is stopped as soon as it has an id, if that was wished before', async () => {
    await enter({ pace: 5 });
    app.chat.begin(app.contexts.list[0]?.id ?? '');
    await vi.waitFor(() => expect(current().isLoaded).toBe(true));
    const stop = vi.spyOn(backend, 'chatStop');
    const sent = current().send('a long one please');
    expect([current().busy, current().id]).toEqual([true, null]);
    void current().stop();
    expect([current().stopping, stop.mock.calls.length]).toEqual([true, 0]);
    await sent;
    expect(stop.mock.calls).toEqual([[current().id]]);
    // Nothing of the reply had arrived.
    expect(current().messages.map((message) => message.role)).toEqual(['user']);
    expect([current().busy, current().stopping]).toEqual([false, false]);
  });

  it('forgets the wish to stop what never began', async () => {
    app.chat.begin(app.contexts.list[0]?.id ?? '');
    await vi.waitFor(() => expect(current().isLoaded).toBe(true));
    vi.spyOn(backend, 'chatSend').mockRejectedValueOnce(failure('no_model', 'none'));
    const sent = current().send('hello');
    await current().stop();
    expect(await sent).toBe(false);
    expect([current().busy, current().stopping]).toEqual([false, false]);
  });
});

describe('the meter', () => {
  const counted = (historyTokens: number): TokenMeter => ({
    historyTokens,
    budgetTokens: 1_000,
    requestTokens: 0,
    windowTokens: 8_000,
    leftOut: 0,
    warning: false,
    estimated: false,
    leaving: null,
  });

  it('counts what is typed, also after a change elsewhere', async () => {
    const meter = vi.spyOn(backend, 'chatMeter');
    const [before, draft] = [current().meter?.historyTokens ?? 0, 'x'.repeat(4_000)];
    const asked = [current().contextId, current().id, draft];
    current().draft = draft;
    current().measure();
    await vi.waitFor(() => expect(current().meter?.historyTokens).toBe(before + 1_000), 2_000);
    meter.mockClear();
    await current().reload();
    expect(current().meter?.historyTokens).toBe(before + 1_000);
    await vi.waitFor(() => expect(meter).toHaveBeenCalledWith(...asked), 2_000);
  });

  it('shows the newest answer, whichever comes last', async () => {
    vi.useFakeTimers();
    const answers: ((meter: TokenMeter) => void)[] = [];
    backend.chatMeter = () => new Promise((resolve) => answers.push(resolve));
    for (const draft of ['a', 'ab']) {
      current().draft = draft;
      current().measure();
      await vi.advanceTimersByTimeAsync(400);
    }
    answers[1]?.(counted(2));
    await vi.advanceTimersByTimeAsync(0);
    answers[0]?.(counted(1));
    await vi.advanceTimersByTimeAsync(0);
    expect(current().meter?.historyTokens).toBe(2);
  });
});

describe('what has expired', () => {
  it('is told with the companion that has', async () => {
    const other = backend.world.contexts.find((one) => one.id !== app.chat.contextId);
    Object.assign(other ?? {}, { isActive: false });
    current().agentId = other?.id ?? '';
    expect(await current().send('hello')).toBe(false);
    expect(current().error).toMatchObject({
      code: 'context_expired',
      details: { id: other?.id, name: other?.name },
    });
  });
});
