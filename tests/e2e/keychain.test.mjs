// The states of the keychain, made by real daemons: unlocked, locked, waiting for the person, no service, no bus.
// Each has its own screen with a way out, and the window stays usable meanwhile.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, messages, reopened } from './companion.mjs';
import { Desktop, KEYRING_PASSWORD } from './desktop.mjs';
import { until } from './webdriver.mjs';

const QUESTION = 'What is worth keeping?';

describe('the keychain', { concurrency: 1 }, () => {
  let folder, profile, code, home;

  before(async () => {
    // The profile outlives its first desktop, as it does when a machine's keyring is gone.
    folder = await mkdtemp(path.join(tmpdir(), 'evenkeel-profile-'));
    profile = path.join(folder, 'profile');
    home = await Desktop.start({ prompter: true });
    const app = await App.open(home, { profile });
    code = (await firstRun(app)).join('-');
    await ask(app.page, QUESTION);
    await app.kill();
  });

  after(async () => {
    await home?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Opens the profile on a desktop; ends the app, and the desktop unless it is `home`, whatever `body` does. */
  async function on(desktop, body) {
    let app;
    try {
      app = await App.open(desktop, { profile });
      await body(app);
    } finally {
      await desktop.screenshot(`keychain-${app ? 'end' : 'start'}`).catch(() => {});
      await app?.dispose();
      if (desktop !== home) await desktop.stop();
    }
  }

  const state = (app, wanted) =>
    until(async () => {
      const found = await (await app.page.testid('unlock-state', { timeout: 0 })).attribute('data-state');
      return found === wanted || undefined;
    }, `the unlock screen in the state ${wanted}`);

  async function unlockWithCode(app) {
    await app.page.click('unlock-recovery');
    await app.page.fill('unlock-secret', code);
    await app.page.click('unlock-submit');
  }

  async function isOpen(app) {
    const shown = await reopened(app);
    assert.equal(shown[0].text, QUESTION);
  }

  test('unlocked opens without a question', () => on(home, isOpen));

  test('locked, without a dialog to ask: says so, and a retry after unlocking opens', async () => {
    const desktop = home;
    await desktop.setPrompter(false);
    await desktop.lockKeyring();
    await on(desktop, async (app) => {
      await state(app, 'locked');
      await desktop.screenshot('keychain-locked');
      await desktop.unlockKeyring();
      await app.page.click('unlock-retry');
      await isOpen(app);
    });
  });

  test('waiting for the dialog: the window answers meanwhile, and opens once the person has typed the password', async () => {
    await home.setPrompter(true);
    await home.lockKeyring();
    await on(home, async (app) => {
      await state(app, 'waiting');
      const dialog = await until(async () => (await home.windows('Unlock|Keyring|gcr|Password'))[0], 'the password dialog');
      await home.screenshot('keychain-waiting');
      const began = Date.now();
      await app.page.run('return 1');
      assert.ok(Date.now() - began < 2000, 'the window is not frozen');
      await home.output('xdotool', ['windowactivate', '--sync', dialog]);
      await home.write(KEYRING_PASSWORD);
      await home.press('Return');
      await isOpen(app);
    });
  });

  test('no secret service: says so, and the recovery code opens', async () => {
    const desktop = await Desktop.start({ keyring: 'none' });
    await on(desktop, async (app) => {
      await state(app, 'unavailable');
      await desktop.screenshot('keychain-no-service');
      await unlockWithCode(app);
      await isOpen(app);
    });
  });

  test('no session bus: says so, and the recovery code opens', async () => {
    const desktop = await Desktop.start({ bus: false });
    await on(desktop, async (app) => {
      await state(app, 'unavailable');
      await desktop.screenshot('keychain-no-bus');
      await unlockWithCode(app);
      await isOpen(app);
    });
  });

  test('a wrong recovery code is refused with a sentence, and the right one still opens', async () => {
    const desktop = await Desktop.start({ keyring: 'none' });
    await on(desktop, async (app) => {
      await state(app, 'unavailable');
      await app.page.click('unlock-recovery');
      await app.page.fill('unlock-secret', code.replace(/^./, (first) => (first === '0' ? '1' : '0')));
      await app.page.click('unlock-submit');
      await app.page.testid('error');
      await desktop.screenshot('keychain-wrong-code');
      await app.page.fill('unlock-secret', code);
      await app.page.click('unlock-submit');
      await isOpen(app);
    });
  });

  test('an empty keychain is no first run: the item is missing, the vault stays, the recovery code opens', async () => {
    const desktop = await Desktop.start();
    await on(desktop, async (app) => {
      await state(app, 'missing');
      await desktop.screenshot('keychain-missing');
      await unlockWithCode(app);
      await isOpen(app);
    });
  });

  test('a first run without a keychain asks for a passphrase, which opens after a restart', async () => {
    const desktop = await Desktop.start({ keyring: 'none' });
    let app;
    try {
      app = await App.open(desktop);
      await firstRun(app, { passphrase: 'level water in the bay' });
      await ask(app.page, QUESTION);
      await app.kill();
      app = await App.open(desktop);
      await app.page.testid('unlock-state');
      await desktop.screenshot('keychain-passphrase');
      const shown = await app.page.run('return document.body.innerText');
      assert.doesNotMatch(shown, /no longer there|keychain/i, 'nothing is missing where no keychain has the key');
      await app.page.fill('unlock-secret', 'level water in the bay');
      await app.page.click('unlock-submit');
      await isOpen(app);
      assert.ok((await messages(app.page)).length >= 2);
    } finally {
      await app?.dispose();
      await desktop.stop();
    }
  });
});
