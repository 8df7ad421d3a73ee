import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const CODE = 'k7qm-x2pd-9rta-wh4c-b6ne-v3js-t8yf-g5lu';
const CLOSED = 'index.html?vault=damaged&seed=demo&pace=4';

journey(
  'a damaged vault: what can be had is shown, chosen and brought',
  CLOSED,
  {},
  async (page) => {
    await page.id('unlock-rescue').click();
    await page.id('rescue').and(page.locator('[data-of=closed]')).waitFor();
    await page.shot('rescue-begin');
    await page.id('rescue-recovery').click();
    await page.id('unlock-secret').fill('K7QM-X2PD');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=error][data-code=wrong_key]').waitFor();
    await page.id('unlock-secret').fill(CODE);
    await page.keyboard.press('Enter');
    await page.id('restore-progress').getByText('Reading what can be read').waitFor();
    await page.shot('rescue-looking');
    const offer = page.id('rescue-offer');
    await offer.getByText('Brings the most').waitFor();
    await page.id('rescue-backup').getByText('You would lose 12 messages').waitFor();
    await page.id('rescue-backup').getByText('5 hours').waitFor();
    await page.shot('rescue-offer');
    await page.id('rescue-go').click();
    await page.getByText('Rescuing the vault').waitFor();
    await page.id('rescue-aside').getByText('vault.db.pre-restore').waitFor();
    await page.shot('rescue-done');
    await page.id('rescue-open').click();
    await page.id('chat-view').waitFor();
    assert.equal(await page.id('context-item').count(), 2);
  },
);

journey(
  'damaged key slots leave a backup, and no way that leads nowhere',
  CLOSED,
  {},
  async (page) => {
    await page.id('unlock-rescue').waitFor();
    await page.evaluate(() => {
      globalThis.fake.vault.hasKeySlots = false;
    });
    await page.id('unlock-retry').click();
    await page.id('unlock-rescue').waitFor({ state: 'detached' });
    await page.shot('rescue-slotless');
    await page.id('unlock-restore').click();
    await page.id('restore-secret').waitFor();
  },
);

journey('it can be left as it is, or restored from a backup alone', CLOSED, {}, async (page) => {
  await page.id('unlock-rescue').click();
  await page.id('rescue-keychain').click();
  await page.id('rescue-leave').click();
  await page.id('unlock-state').and(page.locator('[data-state=damaged]')).waitFor();
  await page.id('unlock-rescue').click();
  await page.id('rescue-keychain').click();
  await page.id('rescue-restore').click();
  await page.id('restore-secret').fill(CODE);
  await page.id('restore-closed-go').click();
  await page.id('chat-view').waitFor();
  assert.equal(await page.id('rescue').count(), 0);
});

journey(
  'damage in the open vault is told, and the vault rescued',
  'index.html?seed=demo&pace=4&health=damaged',
  {},
  async (page) => {
    await page.id('chat-view').waitFor();
    await page.id('notices').getByText('Damage was found in 2 places').waitFor();
    await page.shot('rescue-notice');
    await page.id('open-settings').click();
    await page.id('tab-backups').click();
    await page.id('health').and(page.locator('[data-damage="2"]')).waitFor();
    await page.shot('health-damaged');
    await page.id('health-rescue').click();
    await page.id('rescue').and(page.locator('[data-of=open]')).waitFor();
    await page.id('rescue-go').click();
    await page.id('rescue-open').click();
    await page.id('chat-view').waitFor();
    await page.id('open-settings').click();
    await page.id('tab-backups').click();
    await page.id('health').and(page.locator('[data-damage="0"]')).waitFor();
  },
);

journey(
  'the settings say when the vault was checked, and check it now',
  'index.html?seed=demo&pace=4',
  { dark: true },
  async (page) => {
    await page.id('open-settings').click();
    await page.id('tab-backups').click();
    await page.id('health-check').getByText('The vault is whole, checked 5 hours ago').waitFor();
    await page.id('health-drill').getByText('It is whole').waitFor();
    await page.shot('health');
    await page.id('health-go').click();
    await page.id('health-check').getByText('Every page of the vault is being read').waitFor();
    await page.id('health-check').getByText('checked now').waitFor();
  },
);

journey(
  'in Arabic, where nothing of the vault can be read',
  `${CLOSED}&health=spoilt`,
  { locale: 'ar', dark: true },
  async (page) => {
    await page.id('unlock-rescue').click();
    await page.id('rescue-keychain').click();
    await page.id('rescue-offer').getByText('يأتي من النسخة').waitFor();
    await page.shot('rescue-offer-ar');
  },
);

journey(
  'a folder that allows no writing has a screen of its own',
  'index.html?vault=unavailable&trouble=not_writable&seed=demo',
  {},
  async (page) => {
    await page.getByText('Your data folder allows no writing').waitFor();
    await page.getByText('~/.local/share/evenkeel').waitFor();
    await page.shot('unlock-not-writable');
    await page.id('unlock-retry').waitFor();
    assert.equal(await page.id('unlock-recovery').count(), 0, 'no key helps against that');
  },
);

journey(
  'messages that the disk has lost are told, and stay told until they were seen',
  'index.html?seed=demo&pace=4&health=lost',
  {},
  async (page) => {
    await page.id('notice').getByText('The last 3 messages').waitFor();
    await page.shot('lost-notice');
    await page.id('notice-action').click();
    await page.id('health-lost').getByText('vault.db.pre-restore').waitFor();
    await page.shot('lost');
    await page.id('health-seen').click();
    await page.id('health-lost').waitFor({ state: 'detached' });
  },
);

journey(
  'a clock that jumped: the trash says why nothing goes',
  'index.html?seed=life&pace=4&health=jumped',
  {},
  async (page) => {
    await page.id('chat-view').waitFor();
    await page.id('open-trash').click();
    await page.getByText('The clock of this computer jumped').waitFor();
    await page.shot('trash-rests');
  },
);
