import type { LifeBackend, TrashItem } from '../life';
import type { Open } from './index';
import type { World } from './world';

/** What lies in the trash, the last deleted first. Whoever asks has been shown it. */
function shown(world: World): TrashItem[] {
  const rest = (id: string) => {
    const shownAt = world.shownInTrash.get(id) ?? new Date().toISOString();
    world.shownInTrash.set(id, shownAt);
    return { weight: 1, shownAt, purgeDueRunningMs: null, waits: world.waiting.has(id) };
  };
  const none = { contextId: null, contextName: null };
  const items: TrashItem[] = [];
  for (const { id, name: title, deletedAt } of world.contexts)
    if (deletedAt !== null)
      items.push({ ...{ id: { context: id }, title, deletedAt }, ...none, ...rest(id) });
  for (const { id: conversation, title, contextId, deletedAt } of world.conversations) {
    if (deletedAt === null) continue;
    const contextName = world.contexts.find((one) => one.id === contextId)?.name ?? null;
    const home = { contextId, contextName };
    items.push({ id: { conversation }, title, deletedAt, ...home, ...rest(conversation) });
  }
  return items.sort((a, b) => b.deletedAt.localeCompare(a.deletedAt));
}

/** The trash of the in-memory backend. */
export function trashCalls(world: World, open: Open) {
  return {
    trashList: () => open(() => shown(world)),
    trashSummary: () =>
      open(() => {
        const items = shown(world);
        return { count: items.length, oldest: items.at(-1)?.deletedAt ?? null };
      }),
    trashEmpty: () =>
      open(() => {
        const keep = <T extends { deletedAt: string | null }>(list: T[]): void => {
          const kept = list.filter((one) => one.deletedAt === null);
          list.splice(0, list.length, ...kept);
        };
        keep(world.contexts);
        keep(world.conversations);
        world.onChange({ noun: 'context', id: '' });
        world.onChange({ noun: 'conversation', id: '' });
      }),
  } satisfies Partial<LifeBackend>;
}
