import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from './app.svelte';
import { entered, type Fake } from './entered';
import type { OpenConversation } from './conversation.svelte';

let app: App;
let backend: Fake;
let opened: OpenConversation;
beforeEach(async () => {
  ({ app, backend } = await entered({ demo: true }));
  if (!app.chat.current) throw new Error('no conversation is shown');
  opened = app.chat.current;
});

const shown = (): string[] => opened.messages.map((one) => one.id);
const branch = (): string[] =>
  backend.world.branch(backend.world.conversation(opened.id ?? '')).map((one) => one.id);

async function fetched(count: number): Promise<void> {
  while (opened.messages.length < count) await opened.earlier();
}

describe('a message deleted elsewhere', () => {
  it.each([[[40]], [[0]], [[40, 41, 42]], [[0, 1, 70]]])(
    'leaves no ghost on an earlier page: %j',
    async (places) => {
      await fetched(150);
      const gone = places.map((at) => shown()[at] ?? '');
      const asked = vi.spyOn(backend, 'conversationEarlier');
      for (const id of gone) await backend.messageDelete(id);
      await vi.waitFor(() => expect(shown().filter((id) => gone.includes(id))).toEqual([]));
      expect(shown()).toEqual(branch().slice(-shown().length));
      expect(shown().length).toBeGreaterThanOrEqual(147);
      for (const [, limit] of asked.mock.calls) expect(limit).toBeLessThan(10);
      await fetched(branch().length);
      expect(shown()).toEqual(branch());
    },
  );

  it('leaves none where another process wrote, and names nothing', async () => {
    await fetched(150);
    const id = shown()[30] ?? '';
    const { world } = backend;
    const tell = world.onChange;
    world.onChange = () => undefined;
    await backend.messageDelete(id);
    world.onChange = tell;
    backend.emit('change', { noun: 'message', id: '' });
    await vi.waitFor(() => expect(shown()).not.toContain(id));
    expect(shown()).toEqual(branch().slice(-shown().length));
  });

  it('does not keep earlier ones from being fetched, though nobody told of it', async () => {
    backend.world.onChange = () => undefined;
    const ghosts = shown().slice(0, 2);
    for (const id of ghosts) await backend.messageDelete(id);
    await opened.earlier();
    expect(opened.error).toBeNull();
    expect(shown()).toEqual(branch().slice(-shown().length));
  });

  it('leaves none in the middle of a conversation, where the place stays', async () => {
    const middle = branch()[60] ?? '';
    await app.chat.openAt(middle);
    if (app.chat.current) opened = app.chat.current;
    opened.messages = [];
    opened.place(await backend.conversationOpenAt(middle), middle);
    expect(opened.hasLater).toBe(true);
    const gone = [shown()[3] ?? '', shown().at(-1) ?? ''];
    for (const id of gone) await backend.messageDelete(id);
    await vi.waitFor(() => expect(shown().filter((id) => gone.includes(id))).toEqual([]));
    const from = branch().indexOf(shown()[0] ?? '');
    expect(shown()).toEqual(branch().slice(from, from + shown().length));
    expect([opened.hasLater, shown().includes(middle)]).toEqual([true, true]);
  });

  it('keeps the pages of somebody who reads, where nothing is gone', async () => {
    await fetched(150);
    const asked = vi.spyOn(backend, 'conversationEarlier');
    await opened.reload(new Set(['']));
    expect([shown().length, asked.mock.calls.length]).toEqual([150, 0]);
  });
});
