// The main job from end to end: a first start, a calm reply, a stopped one, branches, and all of it there after a restart.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, last, messages, reopened, send, settled, streaming } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { until } from './webdriver.mjs';

const ANGRY = 'My colleague took credit for my work AGAIN. I am so angry that I could scream!';
const LONG = 'Write a very long story about a lighthouse keeper, with every day of one year in it.';

describe('a first run', { concurrency: 1 }, () => {
  let desktop, tray, app;
  const picture = (name) => desktop.screenshot(`journey-${name}`);

  before(async () => {
    desktop = await Desktop.start();
    tray = await desktop.trayHost();
    app = await App.open(desktop);
  });

  after(async () => {
    await desktop?.screenshot('journey-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
  });

  test('shows a recovery code, asks for parts of it, and offers the built-in model', async () => {
    const groups = await firstRun(app, { screenshot: picture });
    assert.equal(groups.length, 8, 'eight groups');
    for (const group of groups) assert.match(group, /^[0-9A-HJKMNP-TV-Z]{4}$/);
    const listing = await desktop.searchSecrets('service', 'evenkeel');
    assert.match(listing, /^secret = [A-Za-z0-9+/]{43}=$/m, 'the keychain holds 32 bytes as base64 text');
  });

  test('streams a reply to an angry message', async () => {
    const before = await send(app.page, ANGRY);
    const early = await streaming(app.page, 5);
    await picture('streaming');
    const whole = await settled(app.page, before);
    assert.ok(whole.text.length > early.text.length, 'the reply grew while it was read');
    // The small model does not always find an end of its own before the reply's token limit.
    assert.ok(['complete', 'truncated'].includes(whole.status), whole.status);
    await picture('reply');
  });

  test('stops a second reply and keeps what had arrived', async () => {
    const before = await send(app.page, LONG);
    const early = await streaming(app.page, 40);
    await app.page.click('composer-stop');
    const stopped = await settled(app.page, before);
    assert.equal(stopped.status, 'stopped');
    assert.ok(stopped.text.length >= early.text.length, 'nothing that was read is gone');
    await picture('stopped');
  });

  test('regenerates as a second branch, and both can be seen', async () => {
    const first = await last(app.page);
    await clickLast(app.page, 'regenerate');
    await streaming(app.page, 20);
    await app.page.click('composer-stop');
    const second = await settled(app.page, first.id);
    assert.match(await lastText(app.page, 'branch-count'), /2\s*(\/|of)\s*2/);
    await clickLast(app.page, 'branch-prev');
    await shows(app.page, first.id);
    assert.match(await lastText(app.page, 'branch-count'), /1\s*(\/|of)\s*2/);
    await clickLast(app.page, 'branch-next');
    await shows(app.page, second.id);
    await picture('branches');
  });

  test('has history, branches and the interrupted reply after quitting and starting again', async () => {
    const seen = await messages(app.page);
    await app.quit(tray);
    app = await App.open(desktop);
    assert.deepEqual(await reopened(app), seen);
    assert.equal(seen.at(-1).status, 'stopped');
    assert.equal(seen.length, 4);
    await clickLast(app.page, 'branch-prev');
    await until(async () => (await last(app.page)).id !== seen.at(-1).id, 'the other branch');
    assert.equal((await last(app.page)).status, 'stopped');
    await picture('after-restart');
  });

  test('goes on after the restart', async () => {
    const reply = await ask(app.page, 'What should I do first tomorrow morning?');
    assert.notEqual(reply.text, '');
  });
});

/** Clicks the last control of a kind; messages show theirs only while the pointer or the focus is on them. */
async function clickLast(page, id) {
  await page.run('[...document.querySelectorAll(`[data-testid="${arguments[0]}"]`)].at(-1).click()', id);
}

async function lastText(page, id) {
  return (await page.texts(id)).at(-1);
}

async function shows(page, id) {
  await until(async () => (await last(page))?.id === id, `the reply ${id}`);
}
