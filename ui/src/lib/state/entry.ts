import type { App } from './app.svelte';
import { painted } from './painted';

/** Reads what an opened vault's window cannot be painted without, and nothing that grows with the vault. */
export async function readFirst(app: App): Promise<void> {
  await app.settings.load();
  const { lastContextId, defaultModel } = app.settings.value;
  await app.contexts.load(lastContextId);
  if (app.isQuick) return;
  await Promise.all([app.presets.load(), app.providers.load()]);
  const { list } = app.contexts;
  if (list.length === 0 && defaultModel === null) app.welcoming = true;
  const last = app.contexts.find(lastContextId) ?? list[0];
  if (!last || app.chat.current) return;
  const newest = await app.turnTo(last.id);
  if (newest !== null) app.chat.show(newest, last.id);
}

/** Reads the rest behind the first paint: the messages, then the companions that are out of sight. */
export async function readRest(app: App): Promise<void> {
  await seen('usable');
  const { current } = app.chat;
  if (app.ready && current?.isLoaded === false) await current.reload();
  void app.quietly(async () => {
    await seen('shown');
    if (app.ready) await app.contexts.fill();
    if (app.ready && !app.isQuick) await app.upkeep.health.load();
  });
}

/** Marks a moment for whoever measures the start; see `scripts/bench start`. */
async function seen(mark: string): Promise<void> {
  await painted();
  performance.mark(mark);
}
