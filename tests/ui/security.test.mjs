import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const DEMO = 'index.html?seed=demo&pace=4';
const CODE = 'K7QM-X2PD-9RTA-WH4C-B6NE-V3JS-T8YF-G5LU';
const PASSPHRASE = 'correct horse battery';

async function security(page) {
  await page.id('open-settings').click();
  await page.id('tab-security').click();
  await page.id('slot-recoveryCode').waitFor();
}

async function onlyKeychain(page) {
  await page.id('open-settings').waitFor();
  await page.evaluate(() => globalThis.fake.vault.setWays(true, false));
}

journey('a privacy screen says so and becomes a real lock', DEMO, {}, async (page) => {
  await onlyKeychain(page);
  await security(page);
  await page.locator('[data-testid=lock-kind][data-kind=privacyScreen]').waitFor();
  await page.shot('security');
  assert.equal(await page.id('slot-remove-keychain').count(), 0, 'the last way in stays');
  await page.id('lock-make').click();
  await page.id('new-passphrase').fill('short');
  await page.getByText('At least 8 characters').waitFor();
  await page.id('new-passphrase').fill(PASSPHRASE);
  await page.id('new-passphrase-again').fill(PASSPHRASE);
  await page.id('passphrase-save').click();
  await page.id('proof-code').fill('AAAA');
  await page.id('proof-go').click();
  await page.locator('[data-testid=error][data-code=wrong_key]').waitFor();
  await page.shot('security-proof');
  await page.id('proof-code').fill(CODE);
  await page.id('proof-go').click();
  await page.locator('[data-testid=lock-kind][data-kind=real]').waitFor();
  await page
    .locator('[data-testid=key-change][data-backup=true]')
    .getByText('still open')
    .waitFor();
  await page.shot('security-real');
  assert.equal(await page.id('slot-remove-passphrase').count(), 0);
});

journey('a new recovery code is typed back before it counts', DEMO, {}, async (page) => {
  await security(page);
  await page.id('code-renew').click();
  await page.id('recovery-groups').waitFor();
  await page.shot('security-code');
  await page.id('recovery-next').click();
  const groups = CODE.split('-');
  const inputs = await page.locator('[data-testid^=recovery-input]').all();
  await inputs[0].fill('AAAA');
  for (const input of inputs.slice(1))
    await input.fill(groups[Number(await input.getAttribute('data-group'))]);
  await page.id('recovery-confirm').click();
  await page.getByText('is not').first().waitFor();
  await inputs[0].fill(groups[Number(await inputs[0].getAttribute('data-group'))]);
  await page.id('recovery-confirm').click();
  await page.locator('[data-testid=key-change]').waitFor();
  assert.equal(await page.id('recovery-groups').count(), 0);
});

journey('the vault gets a new key, and that can be stopped', DEMO, {}, async (page) => {
  await security(page);
  const begin = async () => {
    await page.id('root-renew').click();
    await page.id('proof-code').fill(CODE);
    await page.id('proof-passphrase').fill('correct horse');
    await page.id('proof-go').click();
    await page.id('rekeying').waitFor();
  };
  await begin();
  await page.shot('security-rekeying');
  await page.id('root-stop').click();
  await page.getByText('Stopped. Nothing was changed.').waitFor();
  await page.id('slot-keychain').waitFor();
  await begin();
  await page.getByText('The vault has a new key.').waitFor();
  await page.locator('[data-testid=key-change][data-backup=true]').waitFor();
});

journey('the lock is set, and a locked window shows nothing', DEMO, {}, async (page) => {
  await security(page);
  await page.id('choice-15').check({ force: true });
  await page.getByRole('switch', { name: 'Lock before the machine sleeps' }).click();
  await page.getByRole('switch', { name: 'Lock when the window is hidden' }).click();
  const kept = await page.evaluate(() => {
    const { lockAfterMinutes, lockOnSleep, lockWhenHidden } = globalThis.fake.world.settings;
    return [lockAfterMinutes, lockOnSleep, lockWhenHidden];
  });
  assert.deepEqual(kept, [15, true, true]);
  await page.mouse.move(200, 200);
  await page.waitForFunction(() => globalThis.fake.keys.touches > 0);
  await page.id('settings-back').click();
  await page.getByText('The team meeting yesterday').first().waitFor();
  await page.evaluate(() => window.dispatchEvent(new Event('fake-lock')));
  await page.locator('[data-testid=unlock-state][data-state=lockedByUser]').waitFor();
  const left = await page.evaluate(() => document.documentElement.innerHTML);
  for (const told of ['team meeting', 'Calm Counselor', 'landlord'])
    assert.ok(!left.includes(told), `${told} is still there`);
  await page.getByText('privacy screen', { exact: false }).waitFor();
});

for (const [name, options] of [
  ['dark', { colorScheme: 'dark' }],
  ['arabic', { locale: 'ar' }],
  ['narrow', { width: 900, height: 560 }],
]) {
  journey(`the page of security, ${name}`, DEMO, options, async (page) => {
    await security(page);
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.equal(over, 0);
    await page.shot(`security-${name}`);
    await page.id('root-renew').scrollIntoViewIfNeeded();
    await page.shot(`security-${name}-below`);
  });
}
