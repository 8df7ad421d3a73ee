import { describe, expect, it } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';
import { offerCrashes } from './crash';

async function opened() {
  const backend = fakeBackend({ vault: 'open', demo: true });
  const app = new App(backend);
  await app.start();
  await app.enter();
  return { app, fake: backend.world.diagnosis, diagnosis: app.upkeep.diagnosis };
}

describe('what the app says about itself', () => {
  it('counts what left this computer, of all companions and of one', async () => {
    const { app, fake, diagnosis } = await opened();
    await diagnosis.loadNetwork();
    expect(diagnosis.network?.left).toBe(1);
    const first = fake.requests[0]?.contextId ?? '';
    await diagnosis.loadNetwork(first);
    expect([diagnosis.contextId, diagnosis.network?.left]).toEqual([first, 0]);
    expect(diagnosis.network?.requests.every((one) => one.contextId === first)).toBe(true);
    app.leave();
    expect([diagnosis.network, diagnosis.contextId]).toEqual([null, null]);
  });

  it('shows the log by gravity and deletes it', async () => {
    const { diagnosis } = await opened();
    await diagnosis.loadLog('warn');
    expect(diagnosis.log?.lines.map((line) => line.level)).toEqual(['warn', 'error']);
    await diagnosis.clearLog();
    expect(diagnosis.log?.lines).toEqual([]);
  });

  it('offers a crash at the start, and nothing where there was none', async () => {
    const { app, fake, diagnosis } = await opened();
    await offerCrashes(app);
    expect(app.notices.list).toEqual([]);
    fake.crash();
    await offerCrashes(app);
    expect(app.notices.list.map((notice) => notice.key)).toEqual(['crash.offer']);
    app.notices.list[0]?.action?.run();
    expect([app.page, app.settingsTab]).toEqual(['settings', 'diagnosis']);
    const id = diagnosis.crashes[0]?.id ?? '';
    await diagnosis.saveCrash(id);
    expect([fake.saved, diagnosis.saved]).toEqual([[id], '/home/ada/evenkeel-crash.json']);
    await diagnosis.deleteCrash(id);
    expect(diagnosis.crashes).toEqual([]);
    await diagnosis.deleteCrash(id);
    expect(diagnosis.error?.code).toBe('not_found');
  });
});
