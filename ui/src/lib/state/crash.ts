import type { App } from './app.svelte';

const ABOUT = 'crash';
/** The newest report that was offered; none is offered twice. */
const OFFERED = 'evenkeel.crash.offered';

/** Offers the reports of earlier crashes once the window is there, each once. */
export async function offerCrashes(app: App): Promise<void> {
  const { diagnosis } = app.upkeep;
  await diagnosis.loadCrashes();
  const [newest] = diagnosis.crashes;
  if (!newest || localStorage.getItem(OFFERED) === newest.id) return;
  localStorage.setItem(OFFERED, newest.id);
  const run = (): void => app.openSettings('diagnosis');
  app.notices.ask(ABOUT, 'crash.offer', {}, { key: 'crash.look', run });
}
