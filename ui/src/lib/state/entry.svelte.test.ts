import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';

/** No frame is painted, as in a hidden window. */
function unpainted(): void {
  vi.spyOn(globalThis, 'requestAnimationFrame').mockReturnValue(0);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the first sight of many contexts', () => {
  async function begun() {
    const fake = fakeBackend({ life: true });
    const real = fake.contextList;
    const asked = vi.fn((query: Parameters<typeof real>[0]) =>
      real({ ...query, pageSize: query.after === undefined ? 2 : 500 }),
    );
    fake.contextList = asked;
    const other = new App(fake);
    await other.start();
    return { fake, other, asked };
  }
  const ids = (of: App) => of.contexts.list.map((one) => one.id);

  it('needs a page and the one last talked to; the rest follows', async () => {
    const { fake, other, asked } = await begun();
    const all = (await fake.contextList({ includeExpired: true, pageSize: 9, after: null }))
      .contexts;
    const last = all.at(-1)?.id ?? '';
    fake.world.settings.lastContextId = last;
    asked.mockClear();
    await other.enter();
    expect([ids(other), other.contexts.complete]).toEqual([[all[0]?.id, all[1]?.id, last], false]);
    expect(other.context?.id).toBe(last);
    expect(asked).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(other.contexts.complete).toBe(true));
    expect(new Set(ids(other))).toEqual(new Set(all.map((one) => one.id)));
  });

  it('shows its place at once, and its messages behind the first paint', async () => {
    unpainted();
    const { fake, other } = await begun();
    const opened = vi.spyOn(fake, 'conversationOpen');
    const entered = other.enter();
    await vi.waitFor(() => expect(other.ready).toBe(true));
    const { current } = other.chat;
    expect([current?.id, current?.isLoaded]).toEqual([other.conversations.list[0]?.id, false]);
    expect(opened).not.toHaveBeenCalled();
    await entered;
    expect(opened).toHaveBeenCalledExactlyOnceWith(current?.id);
    expect([current?.isLoaded, current?.messages.length === 0]).toEqual([true, false]);
  });

  it('reads nothing of a vault that was locked before the first paint', async () => {
    unpainted();
    const { fake, other } = await begun();
    const opened = vi.spyOn(fake, 'conversationOpen');
    const entered = other.enter();
    await vi.waitFor(() => expect(other.ready).toBe(true));
    other.leave();
    await entered;
    expect([opened.mock.calls, other.contexts.list]).toEqual([[], []]);
  });

  it('keeps out what is deleted while the rest is being read', async () => {
    const { fake, other, asked } = await begun();
    await other.contexts.load();
    const first = ids(other)[0] ?? '';
    const read = fake.contextList;
    let late: (() => void) | undefined;
    fake.contextList = async (query) => {
      const page = await read(query);
      await new Promise<void>((resolve) => (late = resolve));
      return page;
    };
    const filled = other.contexts.fill();
    await vi.waitFor(() => expect(late).toBeDefined());
    await other.contexts.remove(first);
    fake.contextList = asked;
    late?.();
    await filled;
    expect(ids(other)).not.toContain(first);
    expect(other.contexts.list).toHaveLength(3);
  });
});
