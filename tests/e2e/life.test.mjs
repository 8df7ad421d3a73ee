// The life of a companion on the real application, from its preset to the trash and back out of a backup. Months pass in
// it by the clock's shift; the model is scripted, because what is tested here is what stays of what was said.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, messages, ownServer, reopened } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { DAY, HOUR, PassingTime } from './passing_time.mjs';
import { MODEL, scriptedModel } from './scripted_model.mjs';
import { Key, until } from './webdriver.mjs';

const NAME = 'Calm Counselor';
const LIFETIME = 14 * DAY;
const TITLE = 'A raincoat for Tuesday';
const ADDED = ' It always ends with one small next step.';

/** What the scripted model says. */
function reply(asked) {
  if (asked[0].content.startsWith('Give the conversation below a title')) return `"${TITLE}"`;
  const last = asked.findLast((message) => message.role === 'user').content;
  if (/umbrella/.test(last)) return 'An **umbrella** keeps the rain off; a meteorologist would add that a raincoat keeps the wind off too.';
  return 'That can wait until tomorrow. For tonight, one thing is enough: put the shoes beside the door.';
}

describe('the life of a companion', { concurrency: 1 }, () => {
  let desktop, tray, model, time, notified, app, said;

  before(async () => {
    model = await scriptedModel(reply);
    desktop = await Desktop.start();
    tray = await desktop.trayHost();
    notified = await desktop.notifications();
    time = new PassingTime(desktop);
    app = await App.open(desktop, { env: time.env });
  });

  after(async () => {
    await desktop?.screenshot('life-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
  });

  /** One stretch of the way; those behind a broken one would only wait in vain. */
  let broken = false;
  function step(name, body) {
    test(name, async (context) => {
      if (broken) return context.skip('an earlier step failed');
      broken = true;
      await body();
      broken = false;
    });
  }

  /** A picture once everything that moves has come to rest. */
  async function picture(name) {
    await app.page.runAsync(
      `const done = arguments[arguments.length - 1];
       const moving = document.getAnimations().filter((one) => one.effect?.getTiming().iterations !== Infinity);
       Promise.allSettled([document.fonts.ready, ...moving.map((one) => one.finished)]).then(() => setTimeout(done, 60));`,
    );
    await desktop.screenshot(`life-${name}`);
  }

  const text = async (id) => (await app.page.texts(id)).join('\n');
  const says = (id, wanted) => until(async () => wanted.test(await text(id)), `${wanted} in ${id}`);
  const gone = (id) => until(async () => !(await app.page.has(id)), `no ${id}`);

  /** Clicks a control within the element that `css` names. */
  const within = (css, id) =>
    until(async () => {
      const [control] = await app.page.all(`${css} [data-testid="${id}"]`);
      await control.click();
      return true;
    }, `a click on ${id} in ${css}`);

  async function menu(act) {
    await app.page.click('context-menu');
    await app.page.click(`context-${act}`);
  }

  /** Opens the menu of the conversation with this in its row. */
  async function talkMenu(words, act) {
    const place = await until(async () => {
      const found = (await app.page.texts('conversation-item')).findIndex((row) => row.includes(words));
      return found >= 0 && `${found}`;
    }, `the conversation "${words}"`);
    await (await app.page.all('[data-testid="conversation-menu"]'))[place].click();
    await app.page.click(`conversation-${act}`);
  }

  /** The rows of the list of conversations, each with whether it is pinned. */
  const rows = () =>
    app.page.run(
      `return [...document.querySelectorAll('[data-testid="conversation-item"]')].map((row) => ({
         title: row.querySelector('.side').textContent, pinned: row.querySelector('.lucide-pin') !== null,
         archived: row.querySelector('.lucide-archive') !== null, tags: [...row.querySelectorAll('bdi')].map((tag) => tag.textContent),
       }))`,
    );

  async function settings(tab) {
    await app.page.click('open-settings');
    await app.page.click(`tab-${tab}`);
  }

  /** Lets a job run as a person does who does not want to wait, and waits for its end. */
  async function runJob(name) {
    const runs = () =>
      app.page.run('const job = document.querySelector(`[data-job="${arguments[0]}"]`); return [job.dataset.runs, job.querySelector("button").getAttribute("aria-busy")]', name);
    await settings('activity');
    await app.page.find(`[data-job="${name}"]`);
    const [before] = await runs();
    await within(`[data-job="${name}"]`, 'job-run');
    await until(async () => {
      const [now, busy] = await runs();
      return Number(now) > Number(before) && busy !== 'true';
    }, `the job ${name} to end`);
  }

  const toChat = () => app.page.click('settings-back');

  step('begins with a preset, and its conversation gets a title from the model by itself', async () => {
    await firstRun(app, { chooseModel: ownServer(model.address, MODEL) });
    await ask(app.page, 'Do I need an umbrella on Tuesday?');
    await ask(app.page, 'And the shoes?');
    await until(async () => (await rows())[0]?.title === TITLE, 'the title of the model');
    assert.equal((await rows()).length, 1);
    await picture('title');
  });

  step('has what was said found by a word of it', async () => {
    await app.page.click('open-search');
    await app.page.fill('search-input', 'meteorologist');
    await says('search-hit', /meteorologist would add/);
    assert.equal((await app.page.texts('search-hit')).length, 1);
    await picture('search');
    await app.page.click('search-hit');
    const lit = await app.page.find('[data-lit]');
    assert.match(await lit.text(), /An umbrella keeps the rain off/);
    await gone('search-input');
    // The end is in view already.
    await gone('to-end');
    await picture('found');
  });

  step('keeps pins, tags and the archive over a restart', async () => {
    await talkMenu(TITLE, 'pin');
    await until(async () => (await rows())[0].pinned, 'the pin');
    await talkMenu(TITLE, 'tags');
    await app.page.fill('tag-input', 'weather, walks,');
    await app.page.click('tags-save');
    await gone('tags-save');
    await app.page.click('conversation-new');
    await ask(app.page, 'A word in between.');
    await talkMenu('A word in between', 'archive');
    await until(async () => (await rows()).length === 1, 'the archived conversation to be out of sight');
    await picture('archived');
    await app.quit(tray);
    app = await App.open(desktop, { env: time.env });
    said = await reopened(app);
    assert.equal(said.length, 4);
    const first = { title: TITLE, pinned: true, archived: false, tags: ['walks', 'weather'] };
    assert.deepEqual((await rows()).map((row) => ({ ...row, tags: row.tags.toSorted() })), [first]);
    await app.page.click('conversations-menu');
    await app.page.click('list-archived');
    await until(async () => (await rows()).length === 2, 'the archive');
    assert.deepEqual((await rows())[1], { title: 'A word in between.', pinned: false, archived: true, tags: [] });
    await picture('restart');
  });

  step('shows two wordings of its persona side by side, and where one became the other', async () => {
    await menu('edit');
    const prompt = await app.page.testid('context-prompt');
    await prompt.type(ADDED);
    await picture('editor');
    await app.page.click('context-save');
    await gone('context-save');
    await ask(app.page, 'And what comes after that?');
    await app.page.click('revision-mark');
    await says('comparison', /one small next step/);
    const added = await app.page.run('return [...document.querySelectorAll(\'[data-testid="comparison"] ins\')].map((e) => e.textContent).join("")');
    assert.equal(added.trim(), ADDED.trim());
    assert.equal((await app.page.texts('revision')).length, 2);
    await picture('comparison');
    await app.page.keys(Key.Escape);
    await gone('comparison');
    said = await messages(app.page);
    assert.equal(said.length, 6);
  });

  step('deleted by mistake, is back after one click', async () => {
    await menu('delete');
    await says('notices', /Calm Counselor is in the trash/);
    await gone('context-item');
    await picture('deleted');
    await app.page.click('notice-action');
    await says('context-title', /Calm Counselor/);
    assert.deepEqual(await reopened(app), said);
    await picture('undone');
  });

  step('warns a day before its end, without its name on the desktop, and is extended by one click', async () => {
    await time.pass(app.page, LIFETIME - 12 * HOUR);
    await runJob('expiry');
    await says('notices', /Calm Counselor expires within a day/);
    await until(() => notified.length > 0, 'the notification of the desktop');
    assert.deepEqual(notified.map(({ title }) => title), ['Evenkeel']);
    assert.ok(!notified[0].text.includes(NAME), notified[0].text);
    await picture('warning-activity');
    await toChat();
    await says('badge-expiring', /expires in 1[12] hours/);
    await app.page.testid('expiring');
    await picture('warning');
    await app.page.click('notice-action');
    await gone('badge-expiring');
    await gone('expiring');
    await picture('extended');
  });

  step('rests when its time is over, and can be read', async () => {
    await time.pass(app.page, LIFETIME + HOUR);
    await runJob('expiry');
    await toChat();
    await app.page.testid('expired');
    await app.page.testid('badge-expired');
    assert.equal(await app.page.has('composer-input'), false);
    assert.deepEqual(await messages(app.page), said);
    for (const change of ['edit', 'regenerate', 'delete', 'vote-up']) assert.equal(await app.page.has(change), false, change);
    await (await app.page.all('[data-testid="conversation-menu"]'))[0].click();
    await app.page.testid('conversation-export');
    for (const change of ['rename', 'pin', 'unpin', 'tags', 'archive'])
      assert.equal(await app.page.has(`conversation-${change}`), false, change);
    await app.page.keys(Key.Escape);
    await gone('conversation-export');
    await picture('expired');
  });

  step('goes to the trash a month later', async () => {
    await time.pass(app.page, 31 * DAY);
    await runJob('expiry');
    await toChat();
    await gone('context-item');
    await gone('conversation-item');
    assert.equal(await text('context-title'), 'No companion chosen');
    await picture('empty');
    await app.page.click('open-trash');
    await says('trash-item', /Calm Counselor/);
    await picture('trash');
    await app.page.click('trash-back');
  });

  step('is purged after a week and a second look, behind a backup that opens', async () => {
    await time.pass(app.page, 8 * DAY);
    await runJob('cleanup');
    await toChat();
    await time.pass(app.page, 25 * HOUR);
    await runJob('cleanup');
    await picture('activity');
    await toChat();
    await app.page.click('open-trash');
    await says('trash', /The trash is empty/);
    await picture('purged');
    await app.page.click('trash-back');
    await settings('backups');
    const backup = await beforeCleanUp();
    await within(backup, 'backup-verify');
    await says('notices', /everything in it is whole/);
    await picture('backups');
  });

  /** The backup from before the clean-up, as a selector. */
  function beforeCleanUp() {
    return until(async () => {
      const place = (await app.page.texts('backup')).findIndex((row) => row.includes('Before a clean-up'));
      return place >= 0 && `li[data-testid="backup"]:nth-of-type(${place + 1})`;
    }, 'the backup from before the clean-up');
  }

  step('comes back out of that backup with every message', async () => {
    await within(await beforeCleanUp(), 'backup-restore');
    await app.page.testid('restore-counts');
    await picture('restore');
    await app.page.click('restore-go');
    await app.page.testid('confirm-yes');
    await picture('restore-confirm');
    await app.page.click('confirm-yes');
    await says('notices', /came back lies in the trash/);
    await picture('restored');
    await app.page.click('notice-action');
    await app.page.testid('trash-restore');
    await app.page.click('trash-back');
    // What was about to be purged when the backup was made is not purged by the next clean-up.
    await runJob('cleanup');
    await toChat();
    await app.page.click('open-trash');
    await app.page.click('trash-restore');
    await says('notices', /Calm Counselor is back/);
    await app.page.click('trash-back');
    await app.page.click('context-item');
    assert.deepEqual(await reopened(app), said);
    const [first] = await rows();
    assert.deepEqual([first.title, first.pinned], [TITLE, true]);
    await picture('back');
    await ask(app.page, 'Good to see you.');
  });
});
