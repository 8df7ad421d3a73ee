import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const CODE = 'k7qm-x2pd-9rta-wh4c-b6ne-v3js-t8yf-g5lu';

/** Whether all of it is on the screen, and not scrolled away in its dialog. */
function inView(locator) {
  return locator.evaluate((node) => {
    const own = node.getBoundingClientRect();
    const seen = node.ownerDocument.elementFromPoint(own.left + 20, own.bottom - 6);
    return node.contains(seen);
  });
}

journey(
  'a damaged vault is restored with the recovery code from where it does not open',
  'index.html?vault=damaged&seed=demo&pace=4',
  {},
  async (page) => {
    await page.id('unlock-state').and(page.locator('[data-state=damaged]')).waitFor();
    await page.shot('restore-damaged');
    await page.id('unlock-restore').click();
    const backups = page.id('restore-backup');
    await backups.nth(4).waitFor();
    assert.ok(await backups.nth(0).locator('input').isDisabled(), 'a damaged one is not offered');
    assert.ok(await backups.nth(1).locator('input').isChecked(), 'the newest verified is');
    assert.ok(await page.id('restore-closed-go').isDisabled());
    await page.id('restore-secret').fill('K7QM-X2PD');
    await page.keyboard.press('Enter');
    const error = page.locator('[data-testid=error][data-code=wrong_key]');
    await error.getByText('That does not open this backup').waitFor();
    assert.ok(await inView(error), 'the error stands where it can be read');
    await page.shot('restore-closed-wrong');
    await page.id('restore-secret').fill(CODE);
    await page.id('restore-closed-go').click();
    await page.id('restore-progress').getByText('Checking every page').waitFor();
    await page.shot('restore-closed-progress');
    assert.equal(await error.count(), 0);
    await page.keyboard.press('Escape');
    await page.id('notices').getByText('What was here before was set aside').waitFor();
    await page.id('chat-view').waitFor();
    assert.equal(await page.id('context-item').count(), 2);
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.shot('restore-closed-done');
  },
);

journey(
  'on a new machine the welcome leads to a backup on a stick',
  'index.html?pace=4',
  { width: 720, height: 640 },
  async (page) => {
    await page.id('welcome-restore').click();
    await page.id('restore-none').waitFor();
    await page.id('restore-choose').click();
    await page.id('restore-backup').getByText('By you').waitFor();
    await page.id('choice-passphrase').check({ force: true });
    await page.id('restore-secret').fill('correct horse');
    await page.shot('restore-new-machine');
    await page.keyboard.press('Enter');
    await page.id('notices').getByText('The vault is back.').waitFor();
    await page.id('chat-view').waitFor();
    assert.equal(await page.id('welcome').count(), 0);
  },
);

journey(
  'a lost key: the vault is whole, opens, and nothing is replaced',
  'index.html?vault=missing&seed=demo&pace=4',
  { locale: 'ar' },
  async (page) => {
    await page.id('unlock-restore').click();
    await page.id('restore-secret').fill(CODE);
    await page.shot('restore-closed-ar');
    await page.keyboard.press('Enter');
    await page.id('notices').getByText('ولم يُستبدل شيء').waitFor();
    await page.id('chat-view').waitFor();
  },
);

journey(
  'the settings say that a damaged vault cannot be compared, and restore it all the same',
  'index.html?seed=demo&pace=4',
  {},
  async (page) => {
    await page.id('chat-view').waitFor();
    await page.evaluate(() => (globalThis.fake.upkeep.damaged = true));
    await page.id('open-settings').click();
    await page.id('tab-backups').click();
    await page.id('backup').nth(3).getByTestId('backup-restore').click();
    await page.id('restore-loss').getByText('The vault is damaged').waitFor();
    await page.shot('restore-open-damaged');
    await page.id('restore-go').click();
    await page.getByText('The damaged database is set aside').waitFor();
    await page.id('confirm-yes').click();
    await page.id('notices').getByText('It was too damaged for a backup before').waitFor();
  },
);

for (const [name, path] of [
  ['that the user has locked', 'index.html?vault=lockedByUser&seed=demo'],
  ['that waits for its keychain', 'index.html?vault=waiting&seed=demo'],
  ['on a drive that is not connected', 'index.html?seed=demo&away=/media/data/evenkeel'],
]) {
  journey(`a vault ${name} offers no restore`, path, {}, async (page) => {
    await page.id('unlock-retry').waitFor();
    assert.equal(await page.id('unlock-restore').count(), 0);
  });
}
