import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const DEMO = 'index.html?seed=demo&pace=4';
const SMALL = { width: 720, height: 560 };

const tell = (page, name, detail) =>
  page.evaluate(
    ([event, value]) => window.dispatchEvent(new CustomEvent(event, { detail: value })),
    [name, detail],
  );

for (const [name, options] of [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['small-ar', { ...SMALL, locale: 'ar' }],
]) {
  journey(
    `a reply begun in quick chat goes on in the main window (${name})`,
    DEMO,
    options,
    async (page) => {
      await page.id('composer-input').waitFor();
      await tell(page, 'fake-asked', 'a long one please');
      await page.id('elsewhere').waitFor();
      assert.equal(await page.id('unanswered').count(), 0);
      await page.shot(`elsewhere-${name}`);
      await page.id('composer-stop').click();
      await page.id('elsewhere').waitFor({ state: 'detached' });
      await page.locator('[data-testid=message-assistant][data-status=stopped]').last().waitFor();
      await page.id('composer-send').waitFor();
      assert.equal(await page.id('unanswered').count(), 0);
    },
  );

  journey(`the facts of the meter by keyboard (${name})`, DEMO, options, async (page) => {
    await page.id('meter-details').focus();
    await page.keyboard.press('Enter');
    await page.id('meter-facts').waitFor();
    await page.shot(`meter-${name}`);
    assert.equal(await page.id('meter-facts').locator('dd').count(), 3);
    assert.match(await page.id('meter-facts').innerText(), /8[,.]192|٨٬١٩٢/);
    await page.keyboard.press('Escape');
    await page.id('meter-facts').waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.dataset?.testid === 'meter-details');
  });

  journey(
    `an edited message that cannot be sent keeps its wording (${name})`,
    DEMO,
    options,
    async (page) => {
      const own = page.locator('[data-testid=message-user]').last();
      await own.hover();
      await own.getByTestId('edit').click();
      await page.id('edit-input').fill('another wording');
      await tell(page, 'fake-fail', 'chatSend');
      await page.id('edit-save').click();
      await page.id('edit-error').waitFor();
      await page.shot(`edit-error-${name}`);
      assert.equal(await page.id('edit-input').inputValue(), 'another wording');
      // The list draws only what is near: the form goes, and comes back as it was.
      await page.id('messages').hover({ position: { x: 20, y: 20 } });
      for (let turn = 0; turn < 40 && (await page.id('edit-input').count()) > 0; turn += 1) {
        await page.mouse.wheel(0, -1_500);
        await page.waitForTimeout(40);
      }
      assert.equal(await page.id('edit-input').count(), 0);
      await page.id('to-end').click();
      await page.id('edit-input').waitFor();
      assert.equal(await page.id('edit-input').inputValue(), 'another wording');
      await tell(page, 'fake-fail', 'chatSend');
      await page.id('edit-save').click();
      await page.id('edit-input').waitFor({ state: 'detached' });
      await page.getByText('another wording').waitFor();
    },
  );
}

journey('a conversation that could not be read is read again', DEMO, {}, async (page) => {
  await page.id('composer-input').waitFor();
  await tell(page, 'fake-fail', 'conversationOpen');
  await page.id('conversation-item').getByText('A letter to my landlord').click();
  await page.id('retry-load').waitFor();
  await page.id('composer-input').fill('hello');
  assert.ok(await page.id('composer-send').isDisabled());
  await page.shot('retry-load');
  await tell(page, 'fake-fail', 'conversationOpen');
  await page.id('retry-load').click();
  await page.getByText('A letter to my landlord: I keep').waitFor();
  assert.equal(await page.id('composer-input').inputValue(), 'hello');
  assert.ok(await page.id('composer-send').isEnabled());
});

journey('another companion that has expired is named, and extended', DEMO, {}, async (page) => {
  await page.id('agent-menu').click();
  await page.id('agent-item').getByText('Rational Advisor').click();
  await tell(page, 'fake-expire-unheard', 'context-preset-rational-advisor');
  await page.id('composer-input').fill('hello');
  await page.keyboard.press('Enter');
  await page.locator('[data-testid=error][data-code=context_expired]').waitFor();
  await page.getByText('Rational Advisor has expired.', { exact: true }).waitFor();
  await page.shot('agent-expired');
  await page.id('extend').click();
  await page.id('error').waitFor({ state: 'detached' });
  assert.equal(await page.id('composer-input').inputValue(), 'hello');
});

journey('the lock screen names nobody', DEMO, {}, async (page) => {
  await page.id('composer-input').waitFor();
  const expiring = { contextId: 'context-preset-calm-counselor', name: 'Calm Counselor' };
  await tell(page, 'fake-expiring', { ...expiring, expiresAt: '2030-01-01T00:00:00Z' });
  await page.id('notice-action').waitFor();
  await tell(page, 'fake-lock');
  await page.id('unlock-state').waitFor();
  assert.equal(await page.getByText('Calm Counselor').count(), 0);
});
