import type { LifeBackend, TrashItem } from '../life';
import type { Open } from './index';
import type { World } from './world';

/** The trash of the in-memory backend. */
export function trashCalls(world: World, open: Open) {
  return {
    trashList: () =>
      open(() => {
        const rest = { weight: 1, waits: false, shownAt: null, purgeDueRunningMs: null };
        const none = { contextId: null, contextName: null };
        const items: TrashItem[] = [];
        for (const { id, name: title, deletedAt } of world.contexts)
          if (deletedAt !== null)
            items.push({ ...{ id: { context: id }, title, deletedAt }, ...none, ...rest });
        for (const { id: conversation, title, contextId, deletedAt } of world.conversations) {
          if (deletedAt === null) continue;
          const contextName = world.contexts.find((one) => one.id === contextId)?.name ?? null;
          const home = { contextId, contextName };
          items.push({ id: { conversation }, title, deletedAt, ...home, ...rest });
        }
        return items.sort((a, b) => b.deletedAt.localeCompare(a.deletedAt));
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
