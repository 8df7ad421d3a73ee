import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const DEMO = 'index.html?seed=demo&pace=4';
const SMALL = { width: 720, height: 560 };
const PASSPHRASE = 'correct horse battery';

async function data(page) {
  await page.id('open-settings').click();
  await page.id('tab-data').click();
  await page.id('archive').scrollIntoViewIfNeeded();
}

/** Nothing of a dialog sticks out sideways. */
async function fits(page) {
  const over = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('[role=dialog], [role=dialog] *')]
      .filter((node) => node.scrollWidth > node.clientWidth + 1)
      .filter((node) => ['auto', 'scroll'].includes(getComputedStyle(node).overflowX))
      .map((node) => node.className),
  );
  assert.deepEqual(over, []);
}

journey('everything is exported to a passphrase, typed twice', DEMO, {}, async (page) => {
  await data(page);
  await page.shot('archive-section');
  await page.id('archive-export').click();
  const go = page.id('archive-export-go');
  await page.id('archive-passphrase').fill('short');
  await page.getByText('At least 8 characters.').waitFor();
  await page.id('archive-passphrase').fill(PASSPHRASE);
  await page.id('archive-again').fill('correct horse batterx');
  await page.getByText('The two are not the same.').waitFor();
  await page.id('archive-place').click();
  await page.getByText(/\/media\/stick\/evenkeel-[\d-]+\.age/).waitFor();
  assert.ok(await go.isDisabled());
  await page.id('archive-again').fill(PASSPHRASE);
  await page.shot('archive-export');
  await go.click();
  await page.id('archive-progress').waitFor();
  await page.id('archive-made').getByText('Written and read back whole: 2,418 messages').waitFor();
  await page.shot('archive-made');
  await page.id('archive-done').click();
  await page.id('archive-made').waitFor({ state: 'detached' });
});

journey('a key file keeps the key, and an export can be stopped', DEMO, {}, async (page) => {
  await data(page);
  await page.id('archive-export').click();
  await page.id('choice-newKey').check({ force: true });
  await page.id('archive-key').click();
  await page.getByText(/evenkeel-key-[\d-]+\.txt/).waitFor();
  await page.id('archive-place').click();
  await page.id('archive-export-go').click();
  await page.id('archive-stop').click();
  await page.id('archive-progress').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('alert').count(), 0, 'stopping is no failure');
  await page.id('archive-export-go').click();
  await page.id('archive-made').getByText('Only this key opens the archive.').waitFor();
});

journey('an import shows first what it would do', DEMO, {}, async (page) => {
  await data(page);
  await page.id('archive-import').click();
  await page.id('archive-passphrase').fill('wrong');
  await page.id('archive-look').click();
  await page.getByText('does not open the file').waitFor();
  await page.id('archive-passphrase').fill(PASSPHRASE);
  await page.id('archive-look').click();
  const report = page.id('archive-report');
  await report.getByText('2,188').waitFor();
  await page.id('archive-kept').getByText('It is here with other content, which stays.').waitFor();
  await page.getByText('newest-and-first').waitFor();
  await page.shot('archive-preview');
  await page.id('archive-import-go').click();
  await page.getByText('All of it was read and taken in.').waitFor();
  await page.shot('archive-imported');
  await page.id('archive-done').click();
  assert.equal(await page.id('archive-pending').count(), 0);
});

journey('an import that was stopped waits for a word', DEMO, {}, async (page) => {
  await data(page);
  await page.id('archive-import').click();
  await page.id('archive-passphrase').fill(PASSPHRASE);
  await page.id('archive-look').click();
  await page.id('archive-import-go').click();
  await page.getByText('Taking it in …').waitFor();
  await page.id('archive-stop').click();
  await page.id('archive-pending').getByText('An import was interrupted').waitFor();
  await page.shot('archive-pending');
  await page.id('archive-undo').click();
  await page.id('notices').getByText('The import is undone.').waitFor();
  assert.equal(await page.id('archive-pending').count(), 0);
});

journey('conversations go out and in as encrypted files', DEMO, {}, async (page) => {
  await page.id('conversation-item').first().hover();
  await page.id('conversation-menu').first().click();
  await page.id('conversation-envelopes').click();
  await page
    .id('notices')
    .getByText(/encrypted files? (?:is|are) in \/media\/stick/)
    .waitFor();
  await data(page);
  await page.id('envelopes-import').click();
  await page.id('choice-text').check({ force: true });
  await page.id('envelopes-text').fill('wrong');
  await page.id('envelopes-go').click();
  await page.getByText('does not open the file').waitFor();
  await page.shot('envelopes');
  await page.id('envelopes-text').fill(PASSPHRASE);
  await page.id('envelopes-go').click();
  await page.id('notices').getByText('A new conversation with 12 messages is here.').waitFor();
});

for (const [name, options] of [
  ['dark', { colorScheme: 'dark' }],
  ['arabic', { locale: 'ar' }],
  ['small', { ...SMALL, locale: 'de' }],
]) {
  journey(`the archive's pages, ${name}`, DEMO, options, async (page) => {
    if (name === 'small') await page.id('open-nav').click();
    await data(page);
    await page.shot(`archive-section-${name}`);
    await page.id('archive-export').click();
    await fits(page);
    await page.shot(`archive-export-${name}`);
    await page.keyboard.press('Escape');
    await page.id('archive-import').click();
    await page.id('archive-passphrase').fill(PASSPHRASE);
    await page.keyboard.press('Enter');
    await page.id('archive-report').waitFor();
    await fits(page);
    await page.shot(`archive-preview-${name}`);
  });
}
