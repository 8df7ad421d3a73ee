import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const FIRST = 'index.html?pace=4';
const CODE = 'K7QM-X2PD-9RTA-WH4C-B6NE-V3JS-T8YF-G5LU';

async function toTheCode(page) {
  await page.id('welcome-start').click();
  await page.id('notice-accept').click();
  await page.id('vault-create').click();
  await page.id('recovery-groups').waitFor();
}

journey(
  'the recovery code is saved to a file, and the page says where',
  FIRST,
  {},
  async (page) => {
    await toTheCode(page);
    await page.id('recovery-save').click();
    await page.getByText('Saved to /home/ada/evenkeel-recovery-code.txt').waitFor();
    await page.shot('recovery-saved');
  },
);

journey('a closed dialog changes nothing', `${FIRST}&place=`, {}, async (page) => {
  await toTheCode(page);
  await page.id('recovery-save').click();
  await page.locator('[data-testid=recovery-save][aria-busy=false]').waitFor();
  assert.equal(await page.getByText('Saved to').count(), 0);
  assert.equal(await page.id('error').count(), 0);
});

journey(
  'a place beside the vault is refused in words',
  `${FIRST}&place=${encodeURIComponent('~/.local/share/evenkeel/code.txt')}`,
  {},
  async (page) => {
    await toTheCode(page);
    await page.id('recovery-save').click();
    const error = page.locator('[data-testid=error][data-code=place_refused]');
    await error.getByText('Nothing can be saved in this place').waitFor();
    await page.shot('recovery-refused');
    await page.id('recovery-next').click();
    assert.equal(await page.id('error').count(), 0);
  },
);

for (const [locale, title] of [
  ['en-US', 'Evenkeel recovery code · vault of May 12, 2026'],
  ['de-DE', 'Evenkeel-Wiederherstellungscode · Tresor vom 12. Mai 2026'],
  ['ar', 'رمز استرداد Evenkeel · خزنة بتاريخ'],
]) {
  journey(`paper shows the code alone, in ${locale}`, FIRST, { locale }, async (page) => {
    await page.evaluate(
      () => (window.print = () => document.body.setAttribute('data-printed', '')),
    );
    await toTheCode(page);
    assert.ok(!(await page.id('recovery-paper').isVisible()));
    await page.id('recovery-print').click();
    await page.waitForFunction(() => document.body.hasAttribute('data-printed'));
    await page.emulateMedia({ media: 'print' });
    const [heading, code, ...notes] = await page
      .id('recovery-paper')
      .locator('> *')
      .allInnerTexts();
    assert.ok(heading.startsWith(title), heading);
    assert.equal(code, CODE);
    assert.equal(notes.length, 2);
    // Whatever has a size on the paper belongs to the sheet.
    const others = await page.evaluate(() => {
      const sheet = document.querySelector('.print-only');
      const drawn = [...document.querySelectorAll('body *')].filter(
        (node) => node.getClientRects().length > 0,
      );
      return drawn
        .filter((node) => !sheet.contains(node))
        .map((node) => node.outerHTML.slice(0, 80));
    });
    assert.deepEqual(others, []);
    await page.shot(`recovery-paper-${locale}`);
    const pages = (await page.pdf()).toString('latin1').match(/\/Type\s*\/Page\b/g);
    assert.equal(pages.length, 1);
    await page.emulateMedia({ media: null });
    await page.id('recovery-next').click();
    assert.equal(await page.id('recovery-paper').count(), 0, 'the code is gone from the page');
  });
}
