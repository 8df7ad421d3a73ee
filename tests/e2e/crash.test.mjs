// Sudden ends: of the application while it writes a reply, and of the engine behind it. Nothing that was shown as sent is lost.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, messages, reopened, send, settled, streaming } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { until } from './webdriver.mjs';

const LONG = 'Write a very long story about a gardener, with every day of one year in it.';

describe('a sudden end', { concurrency: 1 }, () => {
  let desktop, app;

  before(async () => {
    desktop = await Desktop.start();
    app = await App.open(desktop);
    await firstRun(app);
  });

  after(async () => {
    await desktop?.screenshot('crash-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
  });

  test('of the engine while it answers is said, and the next message is answered by a new one', async () => {
    await ask(app.page, 'Good evening.');
    const first = await app.engine();
    const before = await send(app.page, LONG);
    const seen = await streaming(app.page, 40);
    process.kill(first, 'SIGKILL');
    const broken = await settled(app.page, before);
    await desktop.screenshot('engine-killed');
    assert.equal(broken.status, 'interrupted');
    assert.ok(broken.text.includes(seen.text.slice(0, 20)), 'what had arrived is kept');
    assert.equal(await (await app.page.testid('error')).attribute('data-code'), 'engine_crashed');
    await ask(app.page, 'Are you there?');
    const second = await app.engine();
    assert.notEqual(second, first);
  });

  test('of the application during a reply leaves every sent message, and no engine behind', async () => {
    const engine = await app.engine();
    const before = await messages(app.page);
    await send(app.page, LONG);
    await streaming(app.page, 40);
    await app.kill();
    await until(async () => !(await exists(engine)), 'the engine to end with its parent');
    app = await App.open(desktop);
    const after = await reopened(app);
    assert.equal(after.length, before.length + 2);
    assert.deepEqual(after.slice(0, before.length), before);
    assert.equal(after[before.length].role, 'user');
    assert.equal(after[before.length].text, LONG);
    // The draft of the reply is stored with its first text, so it is there as what it is: broken off.
    assert.equal(after[before.length + 1].role, 'assistant');
    assert.equal(after[before.length + 1].status, 'interrupted');
    await desktop.screenshot('app-killed');
  });

  test('is followed by a working conversation', async () => {
    const reply = await ask(app.page, 'Let us go on calmly.');
    assert.notEqual(reply.text, '');
  });
});

async function exists(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
}
