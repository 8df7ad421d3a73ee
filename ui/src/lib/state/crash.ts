import type { App } from './app.svelte';

const ABOUT = 'crash';

/** Offers the reports of earlier crashes once the window is there, until they are looked at or put off. */
export async function offerCrashes(app: App): Promise<void> {
  const { diagnosis } = app.upkeep;
  await diagnosis.loadCrashes();
  if (diagnosis.crashes.length === 0) return;
  const run = (): void => app.openSettings('diagnosis');
  app.notices.ask(ABOUT, 'crash.offer', {}, { key: 'crash.look', run });
}
