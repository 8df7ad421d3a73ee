// Who looks after a vault, on the real application with a real keyring: a privacy screen becomes a real lock, what was
// deleted is forgotten everywhere, the app tells what it did, and a vault that is damaged comes back. The model is
// scripted, because what is tested here is what becomes of what was said.

import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, ownServer, reopened } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { MODEL, scriptedModel } from './scripted_model.mjs';
import { until } from './webdriver.mjs';

const SAID = 'Where does the marmalade recipe lie?';
const REPLY = 'In the blue folder, behind the invoices.';
const PASSPHRASE = 'correct horse battery';
/** Whatever a first window of a debug build needs, in milliseconds. */
const SLOW = { timeout: 60_000 };

describe('who looks after a vault', { concurrency: 1 }, () => {
  let desktop, model, app, code, broken;

  before(async () => {
    model = await scriptedModel(() => REPLY);
    desktop = await Desktop.start();
    app = await App.open(desktop);
  });

  after(async () => {
    await desktop?.screenshot('security-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
  });

  /** One stretch of the way; those behind a broken one would only wait in vain. */
  function step(name, body) {
    test(name, async (context) => {
      if (broken) return context.skip('an earlier step failed');
      broken = true;
      await body();
      broken = false;
    });
  }

  const marked = (id, name, value, options) =>
    until(async () => {
      const [found] = await app.page.all(`[data-testid="${id}"]`);
      return found && (await found.attribute(`data-${name}`)) === value;
    }, `${id} with ${name} ${value}`, options);
  const says = (id, wanted, options) =>
    until(async () => wanted.test((await app.page.texts(id)).join('\n')), `${wanted} in ${id}`, options);
  const shown = () => app.page.run('return document.body.innerText');

  async function settings(tab) {
    await app.page.click('open-settings');
    await app.page.click(`tab-${tab}`);
  }

  step('makes a real lock out of a privacy screen by a passphrase and the recovery code', async () => {
    code = (await firstRun(app, { chooseModel: ownServer(model.address, MODEL) })).join('-');
    await ask(app.page, SAID);
    await settings('security');
    await marked('lock-kind', 'kind', 'privacyScreen');
    await app.page.click('lock-make');
    await app.page.fill('new-passphrase', PASSPHRASE);
    await app.page.fill('new-passphrase-again', PASSPHRASE);
    await app.page.click('passphrase-save');
    await app.page.fill('proof-code', code);
    await app.page.click('proof-go');
    await marked('lock-kind', 'kind', 'real', SLOW);
    await marked('key-change', 'backup', 'true', SLOW);
    await desktop.screenshot('security-real');
  });

  step('locks: nothing is shown, a wrong passphrase is refused, the right one opens', async () => {
    await app.page.click('lock-now');
    await marked('unlock-state', 'state', 'lockedByUser');
    assert.ok(!(await shown()).includes('marmalade'));
    await app.page.fill('unlock-secret', `${PASSPHRASE}!`);
    await app.page.click('unlock-submit');
    await marked('error', 'code', 'wrong_key', SLOW);
    await desktop.screenshot('security-locked');
    await app.page.fill('unlock-secret', PASSPHRASE);
    await app.page.click('unlock-submit');
    assert.deepEqual((await reopened(app)).map((one) => one.text), [SAID, REPLY]);
  });

  step('forgets everywhere: of the backups one is left, and it is verified', async () => {
    await settings('backups');
    await app.page.click('backup-make');
    await says('notices', /made and verified/, SLOW);
    assert.ok((await app.page.all('[data-testid="backup"]')).length >= 2);
    await app.page.click('backup-forget');
    await app.page.click('confirm-yes');
    await until(async () => (await app.page.all('[data-testid="backup"]')).length === 1, 'one backup', SLOW);
    await says('backup-verified', /Verified/);
    await app.page.click('health-go');
    await says('health-check', /whole/, SLOW);
    await desktop.screenshot('security-forgotten');
  });

  step('tells where its requests went', async () => {
    await app.page.click('tab-privacy');
    await says('network-verdict', /nothing has left this computer/);
    await says('network-request', /127\.0\.0\.1/);
    await desktop.screenshot('security-journal');
  });

  step('rescues a vault whose database does not open, with what the backup holds', async () => {
    await app.kill();
    const file = await open(path.join(app.profile, 'vault.db'), 'r+');
    // Where the salt of its encryption stands: without it no page decrypts, in the log neither.
    await file.write(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]), 0, 8, 0);
    await file.close();
    app = await App.open(desktop);
    await app.page.testid('unlock-secret', SLOW);
    await app.page.fill('unlock-secret', PASSPHRASE);
    await app.page.click('unlock-submit');
    await marked('unlock-state', 'state', 'damaged', SLOW);
    await desktop.screenshot('security-damaged');
    await app.page.click('unlock-rescue');
    await app.page.click('rescue-passphrase');
    await app.page.fill('unlock-secret', PASSPHRASE);
    await app.page.click('unlock-submit');
    await app.page.testid('rescue-offer', SLOW);
    await desktop.screenshot('security-offer');
    await app.page.click('rescue-go');
    await says('rescue-aside', /pre-restore/, SLOW);
    await app.page.click('rescue-open');
    assert.deepEqual((await reopened(app)).map((one) => one.text), [SAID, REPLY]);
  });

  step('tells what it did in a log without content', async () => {
    await settings('diagnosis');
    // A first start has no folder yet to write into; this was another one.
    await says('log-lines', /Evenkeel starts/);
    assert.ok(!(await shown()).includes('marmalade'));
    await desktop.screenshot('security-log');
  });
});
