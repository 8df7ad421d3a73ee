import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const SMALL = { width: 560, height: 380 };
const QUICK = 'quick-chat.html?seed=demo&pace=4';

const focused = (page, name) =>
  page.waitForFunction((id) => document.activeElement?.dataset?.testid === id, name);
const value = (page) => page.id('quick-context').getAttribute('data-value');

journey('the companion of quick chat is chosen by keyboard', QUICK, SMALL, async (page) => {
  await focused(page, 'quick-input');
  await page.keyboard.press('Shift+Tab');
  while (!(await page.id('quick-context').evaluate((node) => node === document.activeElement)))
    await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Rational Advisor' }).waitFor();
  assert.equal(
    await page.getByRole('option', { selected: true }).innerText(),
    'CC\nCalm Counselor',
  );
  await page.shot('quick-context');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await focused(page, 'quick-input');
  assert.equal(await value(page), 'context-preset-rational-advisor');
  await page.id('quick-input').and(page.getByPlaceholder('Rational Advisor')).waitFor();
});

journey('Escape closes the list before it hides quick chat', QUICK, SMALL, async (page) => {
  await page.id('quick-context').click();
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
  await focused(page, 'quick-input');
  assert.ok(!(await page.evaluate(() => document.body.hasAttribute('data-hidden-by'))));
  assert.equal(await value(page), 'context-preset-calm-counselor');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.body.hasAttribute('data-hidden-by'));
});

for (const [locale, label] of [
  ['en-US', 'Companion'],
  ['de-DE', 'Begleiter'],
  ['ar', 'الرفيق'],
]) {
  journey(`the list of companions in ${locale}`, QUICK, { ...SMALL, locale }, async (page) => {
    const button = page.getByRole('combobox', { name: label });
    await button.click();
    const list = page.getByRole('listbox');
    await list.getByRole('option', { name: 'Rational Advisor' }).waitFor();
    await page.shot(`quick-context-${locale}`);
    // The list begins where its button begins: on the right in a right-to-left language.
    const [above, below] = [await button.boundingBox(), await list.boundingBox()];
    const start = (box) => (locale === 'ar' ? box.x + box.width : box.x);
    assert.ok(Math.abs(start(above) - start(below)) <= 2, `${JSON.stringify([above, below])}`);
    assert.ok(below.x >= 0 && below.x + below.width <= SMALL.width, JSON.stringify(below));
    await list.getByRole('option', { name: 'Rational Advisor' }).click();
    await focused(page, 'quick-input');
    assert.equal(await value(page), 'context-preset-rational-advisor');
  });
}

journey('after a lock quick chat begins anew, with an empty field', QUICK, SMALL, async (page) => {
  await page.id('quick-input').fill('half a thought');
  await page.evaluate(() => window.dispatchEvent(new CustomEvent('fake-lock')));
  await page.id('quick-locked').waitFor();
  await page.evaluate(() => window.dispatchEvent(new CustomEvent('fake-unlock')));
  await focused(page, 'quick-input');
  assert.equal(await page.id('quick-input').inputValue(), '');
  assert.equal(await page.id('quick-answer').count(), 0, 'no older conversation is shown');
});
