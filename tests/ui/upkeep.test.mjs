import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const DEMO = 'index.html?seed=demo&pace=4';
const SMALL = { width: 720, height: 560 };

async function settings(page, tab) {
  await page.id('open-settings').click();
  await page.id(`tab-${tab}`).click();
}

/** Nothing sticks out sideways, neither of the page nor of the settings. */
async function fits(page) {
  const over = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main *')]
      .filter((node) => node.scrollWidth > node.clientWidth + 1)
      .filter((node) => getComputedStyle(node).overflowX === 'auto' && node.role !== 'tablist')
      .map((node) => node.className),
  );
  assert.deepEqual(over, []);
}

journey('activity: what ran, why it failed, run now', DEMO, {}, async (page) => {
  await settings(page, 'activity');
  const job = (name) => page.locator(`[data-job=${name}]`);
  await job('cleanup').getByText('The disk is full.').waitFor();
  await job('cleanup').getByText('Details').click();
  await job('cleanup').getByText('No space left on the device').waitFor();
  await job('vacuum').getByText('Not run yet').waitFor();
  await page.shot('activity');
  await page.getByRole('button', { name: 'Run now: Clean-up' }).click();
  await job('cleanup').getByText('Running …').waitFor();
  await job('cleanup').getByText('Done').waitFor();
  assert.equal(await job('cleanup').getByTestId('job-failure').count(), 0);
});

journey(
  'backups: the newest verified stands out; made, verified, saved',
  DEMO,
  {},
  async (page) => {
    await settings(page, 'backups');
    const newest = page.locator('[data-newest=true]');
    await newest.getByText('5 hours ago').first().waitFor();
    await page.id('backup-problem').getByText('not what was written').waitFor();
    await page.shot('backups');
    assert.ok(await page.id('backup').first().getByTestId('backup-restore').isDisabled());
    const manual = page.id('backup').nth(2);
    await manual.getByText('Not verified yet').waitFor();
    await manual.getByTestId('backup-verify').click();
    await manual.getByText('Verified now').waitFor();
    await page.id('backup-make').click();
    await page.id('notices').getByText('made and verified').waitFor();
    await page.id('backup-state').getByText('now').waitFor();
    assert.equal(await newest.count(), 1);
    assert.equal(await page.id('backup').count(), 6);
    await page.id('backup-save').click();
    await page.id('notices').getByText('/media/stick/evenkeel.ekbackup').waitFor();
  },
);

journey('a restore shows what would change, asks, and brings it', DEMO, {}, async (page) => {
  await settings(page, 'backups');
  await page.id('backup').nth(3).getByTestId('backup-restore').click();
  const loss = page.id('restore-loss');
  await loss.getByText(/\d+ newer messages would be lost/).waitFor();
  await page.getByText('Disappears').waitFor();
  await page.shot('restore');
  await page.id('restore-go').click();
  await page.id('confirm-yes').waitFor();
  await page.shot('restore-confirm');
  await page.id('confirm-no').click();
  await loss.waitFor();
  await page.id('restore-go').click();
  await page.id('confirm-yes').click();
  await page.id('notices').getByText('The vault is back at').waitFor();
  await page.id('chat-view').waitFor();
  assert.equal(await page.id('context-item').count(), 1);
  await settings(page, 'backups');
  await page.getByText('Before a restore').waitFor();
});

journey('a restore from a file elsewhere', DEMO, SMALL, async (page) => {
  await page.id('open-nav').click();
  await settings(page, 'backups');
  await fits(page);
  await page.shot('backups-small');
  await page.id('backup-choose').click();
  await page.id('restore-counts').waitFor();
  await page.getByText('Comes back').waitFor();
  await page.id('restore-loss').getByText('No message would be lost').waitFor();
  await page.shot('restore-small');
  await page.keyboard.press('Escape');
  await page.id('restore-counts').waitFor({ state: 'detached' });
  await page.id('settings').waitFor();
});

journey('no backups yet', `${DEMO}&backups=none`, {}, async (page) => {
  await settings(page, 'backups');
  await page.getByText('No backups yet').waitFor();
  await page.shot('backups-none');
  await page.id('backup-make').click();
  await page.locator('[data-newest=true]').waitFor();
});

journey('backups that cannot be listed', `${DEMO}&backups=unreadable`, {}, async (page) => {
  await settings(page, 'backups');
  await page.locator('[data-code=storage]').waitFor();
  await page.shot('backups-error');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});

journey('your data: where, how large, moved', DEMO, {}, async (page) => {
  await settings(page, 'data');
  await page.id('data-dir').getByText('~/.local/share/evenkeel').waitFor();
  await page.id('size').getByText('Search index').waitFor();
  await page.shot('data');
  await page.getByRole('button', { name: 'Copy: Data folder' }).click();
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    '~/.local/share/evenkeel',
  );
  await page.id('data-move').click();
  await page.id('data-moved').getByText('/media/data/evenkeel').waitFor();
});

journey('everything is erased only after the word', DEMO, {}, async (page) => {
  await settings(page, 'data');
  await page.id('data-erase').click();
  assert.ok(await page.id('erase-go').isDisabled());
  await page.id('erase-word').fill('erase');
  assert.ok(await page.id('erase-go').isDisabled());
  await page.shot('erase');
  await page.id('erase-word').fill('ERASE');
  await page.keyboard.press('Enter');
  await page.id('welcome-start').waitFor();
  await page.id('notices').getByText('Everything is erased').waitFor();
  assert.equal(await page.id('chat-view').count(), 0);
});

journey('features and limits', DEMO, {}, async (page) => {
  await settings(page, 'advanced');
  const card = page.locator('[data-feature=care-card]');
  assert.equal(await card.getByTestId('feature-reset').count(), 0);
  await card.getByRole('switch').click();
  await card.getByTestId('feature-reset').waitFor();
  assert.equal(await card.getByRole('switch').getAttribute('aria-checked'), 'false');
  await page.shot('advanced');
  await card.getByTestId('feature-reset').click();
  await card.getByTestId('feature-reset').waitFor({ state: 'detached' });
  assert.equal(await card.getByRole('switch').getAttribute('aria-checked'), 'true');

  await page.id('limit-vaultBytes').fill('0.01');
  await page.id('limits-save').click();
  await page.getByText('Allowed: 0.063 to 1,024.').waitFor();
  assert.equal(await page.id('limit-vaultBytes').getAttribute('aria-invalid'), 'true');
  await page.shot('limits');
  await page.id('limit-vaultBytes').fill('20');
  await page.id('limit-contexts').fill('');
  await page.id('limits-save').click();
  await page.getByText('Enter a number above zero.').waitFor();
  await page.id('limit-contexts').fill('50');
  await page.id('limits-save').click();
  await page.id('notices').getByText('The limits are stored').waitFor();
  assert.ok(await page.id('limits-save').isDisabled());
});

journey(
  'notifications say nothing unless allowed; a region for helplines',
  DEMO,
  {},
  async (page) => {
    await page.id('open-settings').click();
    const [on, content] = await page.id('notification-settings').getByRole('switch').all();
    assert.equal(await on.getAttribute('aria-checked'), 'true');
    assert.equal(await content.getAttribute('aria-checked'), 'false');
    await on.click();
    assert.ok(await content.isDisabled());
    await page.id('helpline-region').selectOption('DE');
    await page.getByText('Show these helplines').click();
    await page.id('helplines').getByText('TelefonSeelsorge').waitFor();
    await page.id('helpline-region').scrollIntoViewIfNeeded();
    await page.shot('helplines-setting');
    await page.id('helpline-region').selectOption('ZZ');
    await page.id('helplines').getByText('findahelpline.com').click();
    await page.id('link-address').getByText('https://findahelpline.com').waitFor();
  },
);

for (const [name, options] of Object.entries({
  wide: {},
  small: SMALL,
  dark: { colorScheme: 'dark' },
  arabic: { locale: 'ar' },
  tiny: { width: 400, height: 520 },
})) {
  journey(`care beside the chat: ${name}`, DEMO, options, async (page) => {
    const said = 'Some days I want to end my life.';
    await page.id('composer-input').fill(said);
    await page.keyboard.press('Enter');
    await page.id('care').waitFor();
    await page.id('composer-send').waitFor();
    await page.shot(`care-${name}`);
    // The message went out as it was, the reply came, and the field takes the next one.
    // In the smallest window the reply has pushed it out of sight.
    if (name !== 'tiny') await page.id('message-user').getByText(said).waitFor();
    await page.id('composer-input').fill('And now?');
    const box = await page.id('care').boundingBox();
    const field = await page.id('composer-input').boundingBox();
    const apart =
      box.y + box.height <= field.y ||
      box.x >= field.x + field.width ||
      box.x + box.width <= field.x;
    assert.ok(apart, JSON.stringify([box, field]));
    await page.id('care').getByTestId('helpline-region').selectOption('DE');
    await page.id('care').getByText('TelefonSeelsorge').waitFor();
    assert.equal(await page.id('care').getAttribute('data-sign'), 'selfHarm');
    await page.id('care-close').click();
    await page.id('care').waitFor({ state: 'detached' });
    await page.id('conversation-new').waitFor({ state: 'attached' });
  });
}

journey(
  'care in quick chat',
  'quick-chat.html?seed=demo&pace=4',
  { width: 480, height: 420 },
  async (page) => {
    await page.id('quick-input').fill('He hits me.');
    await page.id('quick-input').press('Enter');
    await page.id('care').waitFor();
    await page.locator('[data-testid=quick-answer][data-status=complete]').waitFor();
    await page.shot('care-quick');
    assert.equal(await page.id('care').getAttribute('data-sign'), 'danger');
    assert.ok((await page.id('care').boundingBox()).y >= 0);
    await page.id('quick-input').fill('what now');
    await page.id('care-close').click();
    await page.id('care').waitFor({ state: 'detached' });
  },
);

journey('words without danger bring no card', DEMO, {}, async (page) => {
  await page.id('composer-input').fill('This deadline kills me');
  await page.keyboard.press('Enter');
  await page.getByText('This deadline kills me').first().waitFor();
  await page.id('composer-send').waitFor();
  assert.equal(await page.id('care').count(), 0);
});

/** The shell tells that a companion expires within a day. */
function tellExpiring(page) {
  return page.evaluate(() =>
    window.dispatchEvent(
      new CustomEvent('fake-expiring', {
        detail: {
          contextId: 'context-preset-rational-advisor',
          name: 'Rational Advisor',
          expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
        },
      }),
    ),
  );
}

journey('a companion about to expire is extended from the notice', DEMO, {}, async (page) => {
  await page.id('chat-view').waitFor();
  await tellExpiring(page);
  await tellExpiring(page);
  await page.getByText('Rational Advisor expires within a day.').waitFor();
  await page.shot('expiring-notice');
  assert.equal(await page.id('notice-action').count(), 1);
  const [notice, field] = await Promise.all(
    ['notice-action', 'composer-input'].map((name) => page.id(name).boundingBox()),
  );
  assert.ok(notice.y + notice.height <= field.y, 'the notice leaves the field free');
  await page.id('notice-action').click();
  await page.getByText('Rational Advisor has its whole time again.').waitFor();
  assert.equal(await page.id('notice-action').count(), 0);
});

for (const [name, options] of Object.entries({
  wide: {},
  arabic: { locale: 'ar' },
  small: SMALL,
})) {
  journey(`a notice leaves the helplines free: ${name}`, DEMO, options, async (page) => {
    await page.id('composer-input').fill('Some days I want to end my life.');
    await page.keyboard.press('Enter');
    await page.id('care').waitFor();
    await tellExpiring(page);
    await page.id('notice-action').waitFor();
    await page.shot(`care-notice-${name}`);
    const care = await page.id('care').boundingBox();
    const notice = await page.id('notices').locator('> div').boundingBox();
    const apart =
      notice.y + notice.height <= care.y ||
      notice.x + notice.width <= care.x ||
      notice.x >= care.x + care.width;
    assert.ok(apart, JSON.stringify([care, notice]));
  });
}

for (const [name, options] of Object.entries({
  dark: { colorScheme: 'dark' },
  arabic: { locale: 'ar' },
  german: { locale: 'de-DE', ...SMALL },
  small: SMALL,
})) {
  journey(`the pages of upkeep: ${name}`, DEMO, options, async (page) => {
    await page.id('composer-input').waitFor();
    if (options.width) await page.id('open-nav').click();
    await page.id('open-settings').click();
    for (const tab of ['general', 'activity', 'backups', 'data', 'advanced']) {
      await page.id(`tab-${tab}`).click();
      await page.locator(`[data-testid=tab-${tab}][data-state=active]`).waitFor();
      await page.waitForFunction(
        () =>
          (document.querySelector('[role=tabpanel]:not([hidden])')?.textContent ?? '').length > 200,
      );
      await page.shot(`upkeep-${name}-${tab}`);
      await fits(page);
    }
  });
}

journey(
  'what was deleted is forgotten everywhere after a question',
  'index.html?seed=life',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.id('open-settings').click();
    await page.id('tab-backups').click();
    await page.id('backup-state').waitFor();
    const before = await page.id('backup').count();
    assert.ok(before > 1);
    await page.id('backup-forget').scrollIntoViewIfNeeded();
    await page.shot('forget');
    await page.id('backup-forget').click();
    await page.id('confirm-yes').waitFor();
    await page.shot('forget-ask');
    await page.id('confirm-no').click();
    assert.equal(await page.id('backup').count(), before);
    await page.id('backup-forget').click();
    await page.id('confirm-yes').click();
    await page.id('notices').getByText('older copies are gone').waitFor();
    assert.equal(await page.id('backup').count(), 1);
    await page.shot('forget-done');
  },
);
