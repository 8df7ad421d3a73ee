import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TrashItem } from '../ipc/life';
import type { App } from './app.svelte';
import { entered, type Fake } from './entered';

let app: App;
let backend: Fake;
beforeEach(async () => {
  ({ app, backend } = await entered({ life: true }));
});

describe('the number beside the trash', () => {
  it('is asked for once it comes into sight, and counts as shown', async () => {
    expect([app.trash.count, backend.world.shownInTrash.size]).toEqual([null, 0]);
    await app.trash.show(true);
    expect(app.trash.count).toBeGreaterThan(0);
    expect(backend.world.shownInTrash.size).toBe(app.trash.count);
  });

  it('follows what is deleted and restored, here or elsewhere', async () => {
    await app.trash.show(true);
    const before = app.trash.count ?? 0;
    const [first] = app.conversations.list;
    await app.removal.conversations([first?.id ?? '']);
    await vi.waitFor(() => expect(app.trash.count).toBe(before + 1));
    await backend.conversationRestore([first?.id ?? '']);
    await vi.waitFor(() => expect(app.trash.count).toBe(before));
  });

  it('is not asked for where nobody can see it', async () => {
    const asked = vi.spyOn(backend, 'trashSummary');
    const change = new Map([['conversation', new Set([''])]] as const);
    await app.trash.followCount(change);
    await app.trash.show(true);
    await app.trash.show(false);
    await app.trash.followCount(change);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('goes with the vault, and an answer that comes later brings nothing back', async () => {
    const asked = app.trash.show(true);
    app.leave();
    await asked;
    expect(app.trash.count).toBeNull();
  });
});

describe('what lies in the trash', () => {
  const item = (fields: Partial<TrashItem>): TrashItem => ({
    ...{ id: { conversation: 'c' }, title: 'T', contextId: null, contextName: null },
    ...{ deletedAt: '2026-05-01T10:00:00Z', shownAt: null, purgeDueRunningMs: null },
    ...{ weight: 1, waits: false },
    ...fields,
  });

  it.each([
    ['2026-05-03T10:00:00Z', '2026-05-10T10:00:00.000Z'],
    ['2026-04-20T10:00:00Z', '2026-05-08T10:00:00.000Z'],
    [null, null],
  ])('that was shown at %s stays until %s', async (shownAt, until) => {
    vi.spyOn(backend, 'trashList').mockResolvedValue([item({ shownAt })]);
    await app.trash.load();
    expect(app.trash.list[0]?.staysUntil).toBe(until);
  });

  it('knows what is due, and what waits for a word', async () => {
    const both = [item({ purgeDueRunningMs: 5 }), item({ waits: true })];
    vi.spyOn(backend, 'trashList').mockResolvedValue(both);
    await app.trash.load();
    expect(app.trash.list.map(({ isDue, waits }) => [isDue, waits])).toEqual([
      [true, false],
      [false, true],
    ]);
  });
});
