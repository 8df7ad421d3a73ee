// Quick chat from the tray, by its shortcut and by `evenkeel quick`; closing the window keeps the app.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, messages } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { until } from './webdriver.mjs';

const QUICK = 'quick chat$';
const MAIN = '^Evenkeel$';

/** The texts of a language, as the window and the tray have them. */
const texts = (language) =>
  JSON.parse(readFileSync(new URL(`../../ui/src/lib/i18n/locales/${language}.json`, import.meta.url), 'utf8'));

describe('quick chat', { concurrency: 1 }, () => {
  let desktop, tray, app;

  before(async () => {
    desktop = await Desktop.start();
    tray = await desktop.trayHost();
    app = await App.open(desktop);
    await firstRun(app);
    await ask(app.page, 'Good morning.');
  });

  after(async () => {
    await desktop?.screenshot('quick-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
  });

  const visible = (title) => until(async () => (await desktop.windows(title)).length > 0, `the window ${title}`);
  const hidden = (title) => until(async () => (await desktop.windows(title)).length === 0, `no window ${title}`);

  const focusedQuick = () => until(async () => /quick chat$/i.test(await desktop.focused()), 'the focus on quick chat');

  /** Types into whatever has the focus, as the person does: the cursor has to be in the field already. */
  async function askQuickly(text) {
    await visible(QUICK);
    await app.focusWindowWith('quick-input');
    await until(() => app.page.run('return document.activeElement?.dataset?.testid === "quick-input"'), 'the cursor in the field');
    await focusedQuick();
    await desktop.write(text);
    await desktop.press('Return');
    // The small model may say the same words twice: what counts is that they stand under this question.
    return until(
      async () => {
        const [question, status, answer] = await app.page.run(
          'const a = document.querySelector(\'[data-testid="quick-answer"]\'); return a ? [a.previousElementSibling?.innerText, a.dataset.status, a.innerText.trim()] : []',
        );
        return question === text && status !== 'streaming' && answer;
      },
      'an answer in quick chat',
      { timeout: 180_000 },
    );
  }

  test('the tray has an icon and a menu', async () => {
    const labels = await tray.menu();
    for (const wanted of ['Quick chat', 'Open', 'Lock', 'Quit']) {
      assert.ok(labels.some((label) => label.includes(wanted)), `${wanted} in ${labels}`);
    }
  });

  test('the tray speaks the language of the app, as soon as that changes', async () => {
    await app.page.click('open-settings');
    const choose = (language) =>
      app.page.run(
        'const field = document.querySelector("[data-testid=language]"); field.value = arguments[0]; field.dispatchEvent(new Event("change", { bubbles: true }))',
        language,
      );
    await app.page.testid('language');
    try {
      for (const language of ['de', 'ar', 'en']) {
        const word = texts(language)['tray.quick'];
        await choose(language);
        await until(async () => (await tray.menu()).includes(word), `${word} in the tray`);
      }
    } finally {
      // The journeys below name the entries in English.
      await choose('en');
    }
    await app.page.click('settings-back');
  });

  test('opens from the tray menu and answers', async () => {
    await tray.choose('Quick chat');
    assert.notEqual(await askQuickly('Say one calm sentence.'), '');
    await desktop.screenshot('quick-tray');
  });

  test('Escape hides it', async () => {
    await desktop.press('Escape');
    await hidden(QUICK);
    assert.ok(await app.running());
  });

  test('opens with the shortcut and answers', async () => {
    await desktop.press('ctrl+shift+space');
    assert.notEqual(await askQuickly('And one about the sea.'), '');
    await desktop.press('Escape');
    await hidden(QUICK);
  });

  test('one key moves the conversation to the main window', async () => {
    const question = 'What colour is calm?';
    await tray.choose('Quick chat');
    await askQuickly(question);
    await desktop.press('ctrl+Return');
    await hidden(QUICK);
    await app.focusWindowWith('composer-input');
    await until(async () => (await messages(app.page)).some((message) => message.text === question), 'the conversation in the main window');
    await desktop.screenshot('quick-moved');
  });

  test('opens with a second start of the program', async () => {
    await app.second('quick');
    await visible(QUICK);
    await focusedQuick();
    await desktop.press('Escape');
    await hidden(QUICK);
  });

  test('closing the window keeps the app in the tray, from where it opens again', async () => {
    const [window] = await desktop.windows(MAIN);
    await desktop.output('xdotool', ['windowactivate', '--sync', window]);
    await desktop.press('alt+F4');
    await hidden(MAIN);
    assert.ok(await app.running());
    await tray.choose('Open');
    await visible(MAIN);
    await app.focusWindowWith('composer-input');
    assert.ok((await messages(app.page)).length >= 2, 'the conversation is still there');
  });

  test('Lock hides every conversation, and the keychain opens them again', async () => {
    await tray.choose('Lock');
    await app.page.testid('unlock-state');
    assert.ok(!(await app.page.has('message-text')));
    const says = texts('en');
    await until(async () => (await tray.menu()).includes(says['tray.unlock']), 'a tray that says that the vault is locked');
    await desktop.screenshot('locked');
    await tray.choose('Quick chat');
    await visible(QUICK);
    await app.focusWindowWith('quick-locked');
    await focusedQuick();
    await desktop.press('Escape');
    await hidden(QUICK);
    await app.focusWindowWith('unlock-state');
    await app.page.click('unlock-retry');
    await app.page.testid('composer-input');
    await until(async () => (await tray.menu()).includes(says['tray.lock']), 'a tray that offers to lock again');
  });

  test('quits from the tray', async () => {
    await app.quit(tray);
    assert.ok(!(await app.running()));
  });

  test('moves a conversation to a main window that was not there, as after `evenkeel quick`', async () => {
    const profile = app.profile;
    app = await App.open(desktop, { profile, args: ['--profile', profile, 'quick'] });
    const question = 'Where does calm begin?';
    await askQuickly(question);
    assert.equal((await desktop.windows(MAIN)).length, 0);
    await desktop.press('ctrl+Return');
    await hidden(QUICK);
    await visible(MAIN);
    await app.focusWindowWith('composer-input');
    await until(async () => (await messages(app.page)).some((message) => message.text === question), 'the conversation in the new window');
    await app.quit(tray);
  });
});
