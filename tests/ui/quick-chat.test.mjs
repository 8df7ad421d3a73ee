import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { journey } from './journey.mjs';

const SMALL = { width: 480, height: 420 };
const QUICK = 'quick-chat.html?seed=demo&pace=4';

const tell = (page, name, detail) =>
  page.evaluate(
    ([event, value]) => window.dispatchEvent(new CustomEvent(event, { detail: value })),
    [name, detail],
  );
const answered = (page) =>
  page.locator('[data-testid=quick-answer][data-status=complete]').waitFor();
const typed = (page) => page.id('quick-input').inputValue();

/** The calls that quick chat is written to make. */
const CALLS = [
  ...readFileSync(new URL('../../ui/src/lib/ipc/quick.ts', import.meta.url), 'utf8')
    .split('QUICK_CALLS')[1]
    .matchAll(/'(\w+)'/g),
].map(([, name]) => name);

journey(
  'what quick chat can do makes every call it may, and no other',
  QUICK,
  SMALL,
  async (page) => {
    await page.addInitScript(() => {
      window.calls = new Set();
      window.addEventListener('fake-call', ({ detail }) => window.calls.add(detail));
    });
    await page.reload();
    await page.id('quick-input').fill('He hits me. A markdown question');
    await page.id('quick-send').click();
    await answered(page);
    await page.id('helpline-region').selectOption('DE');
    await page.id('helpline').getByText('110').first().waitFor();
    await page.id('care-close').click();
    await page.id('quick-answer').getByRole('link').first().click();
    await page.id('confirm-yes').click();
    await page.id('quick-input').fill('a long one');
    await page.keyboard.press('Enter');
    await page.id('quick-stop').click();
    await page.id('quick-send').waitFor();
    await page.id('quick-input').fill('and then');
    await page.keyboard.press('Control+Enter');
    await page.waitForFunction(() => document.body.hasAttribute('data-moved'));
    await tell(page, 'fake-expire', 'context-preset-calm-counselor');
    await page.id('quick-visit').click();
    // Whether somebody is there counts only where the vault locks itself.
    await page.evaluate(() => (globalThis.fake.world.settings.lockAfterMinutes = 5));
    await tell(page, 'fake-lock');
    await page.id('quick-locked').waitFor();
    await tell(page, 'fake-unlock');
    await page.id('quick-visit').waitFor();
    await page.mouse.move(200, 200);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.body.hasAttribute('data-hidden-by'));
    const made = await page.evaluate(() => [...window.calls].sort());
    assert.deepEqual(made, [...CALLS].sort());
  },
);

journey('what is typed in quick chat stays', QUICK, SMALL, async (page) => {
  await page.id('quick-input').fill('half a thought');
  await page.keyboard.press('Control+Enter');
  await page.id('notices').getByText('Send your question first').waitFor();
  await page.shot('quick-send-first');
  assert.equal(await typed(page), 'half a thought');
  await page.id('quick-context').click();
  await page.getByRole('option', { name: 'Rational Advisor' }).click();
  await page.id('quick-input').and(page.getByPlaceholder('Rational Advisor')).waitFor();
  assert.equal(await typed(page), 'half a thought');
  await tell(page, 'fake-gone', 'context-preset-rational-advisor');
  await page.id('quick-input').and(page.getByPlaceholder('Calm Counselor')).waitFor();
  assert.equal(await typed(page), 'half a thought');
});

for (const [name, options] of [
  ['en', {}],
  ['dark', { colorScheme: 'dark' }],
  ['ar', { locale: 'ar' }],
]) {
  journey(
    `a reply in quick chat is stopped there (${name})`,
    QUICK,
    { ...SMALL, ...options },
    async (page) => {
      await page.id('quick-input').fill('a long one please');
      await page.keyboard.press('Enter');
      await page.id('quick-answer').getByText('Step 2').waitFor();
      await page.shot(`quick-stop-${name}`);
      await page.id('quick-stop').click();
      await page.locator('[data-testid=quick-answer][data-status=stopped]').waitFor();
      await page.waitForFunction(() => document.activeElement?.dataset?.testid === 'quick-input');
    },
  );

  journey(
    `an expired companion in quick chat (${name})`,
    QUICK,
    { ...SMALL, ...options },
    async (page) => {
      await page.id('quick-input').fill('half a thought');
      await tell(page, 'fake-expire', 'context-preset-calm-counselor');
      await page.id('quick-expired').waitFor();
      await page.shot(`quick-expired-${name}`);
      await page.id('quick-visit').click();
      await page.waitForFunction(() => document.body.hasAttribute('data-moved'));
      await page.id('quick-context').click();
      await page.getByRole('option').nth(1).click();
      await page.id('quick-input').waitFor();
      assert.equal(await typed(page), 'half a thought');
    },
  );
}

journey('quick chat says what it could not read, and tries again', QUICK, SMALL, async (page) => {
  await page.id('quick-input').waitFor();
  await tell(page, 'fake-lock');
  await page.id('quick-locked').waitFor();
  await tell(page, 'fake-fail', 'contextList');
  await tell(page, 'fake-unlock');
  await page.id('read-trouble').waitFor();
  await page.shot('quick-trouble');
  await tell(page, 'fake-fail', 'contextList');
  await page.id('read-retry').click();
  await page.id('quick-input').waitFor();
  await tell(page, 'fake-fail', 'quickChatHide');
  await page.keyboard.press('Escape');
  await page.id('notices').getByRole('button').waitFor();
});

journey(
  'the main window says what it could not read, and tries again',
  'index.html?seed=demo',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await tell(page, 'fake-lock');
    await page.id('unlock-state').waitFor();
    await tell(page, 'fake-fail', 'contextList');
    await tell(page, 'fake-unlock');
    await page.id('read-trouble').waitFor();
    await page.shot('read-trouble');
    await tell(page, 'fake-fail', 'contextList');
    await page.id('read-retry').click();
    await page.id('composer-input').waitFor();
  },
);
