/** Journeys about what the window says of the trash. */
import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const LIFE = 'index.html?seed=life&pace=4';
const SMALL = { width: 720, height: 560 };
const DAY = 86_400_000;

const entry = (page) => page.id('open-trash');
const counted = (page) => page.evaluate(() => globalThis.fake.world.shownInTrash.size);

journey('the list says how much lies in the trash', LIFE, {}, async (page) => {
  await page.id('trash-count').waitFor();
  const before = Number(await page.id('trash-count').innerText());
  assert.equal(await entry(page).getAttribute('aria-label'), `Trash, ${before} items`);
  assert.equal(await counted(page), before);
  await page.getByRole('button', { name: 'More for “A disagreement with my sister”' }).click();
  await page.id('conversation-delete').click();
  await page
    .id('trash-count')
    .getByText(`${before + 1}`)
    .waitFor();
  await page.shot('trash-count');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.id('trash-count').getByText(`${before}`, { exact: true }).waitFor();
  await entry(page).click();
  await page.id('trash-empty').click();
  await page.id('trash-word').fill('delete');
  await page.id('confirm-yes').click();
  await page.getByText('The trash is empty').waitFor();
  await page.id('trash-back').click();
  await entry(page).waitFor();
  assert.equal(await entry(page).getAttribute('aria-label'), 'Trash');
  assert.equal(await page.id('trash-count').count(), 0);
});

journey('nothing counts as shown in a drawer that is closed', LIFE, SMALL, async (page) => {
  await page.id('composer-input').waitFor();
  await page.waitForTimeout(300);
  assert.equal(await counted(page), 0);
  await page.id('open-nav').click();
  await page.id('trash-count').waitFor();
  assert.ok((await counted(page)) > 0);
  await page.shot('trash-count-small');
});

journey('each item says when it goes, and what waits for a word', LIFE, {}, async (page) => {
  await page.id('trash-count').waitFor();
  await page.evaluate(() => {
    const { world } = globalThis.fake;
    world.waiting.add(world.contexts.find((one) => one.deletedAt !== null).id);
  });
  await entry(page).click();
  const fates = page.id('trash-fate');
  await fates.first().waitFor();
  const form = new Intl.DateTimeFormat('en', { dateStyle: 'long' });
  const when = form.format(new Date(Date.now() + 7 * DAY));
  await fates.getByText(`Goes for good after ${when} at the earliest`).first().waitFor();
  await fates.getByText('Too much to go by itself').waitFor();
  await page.shot('trash-fates');
  await page.setViewportSize(SMALL);
  await page.shot('trash-fates-small');
});
