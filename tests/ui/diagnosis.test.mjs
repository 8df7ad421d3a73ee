/** The network journal, the log and crash reports. */
import assert from 'node:assert/strict';
import { journey, speak } from './journey.mjs';

const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  arabic: { arabic: true },
  small: { width: 640, height: 780 },
};

async function open(page, tab) {
  await page.id('composer-input').waitFor();
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('open-settings').click();
  await page.id(`tab-${tab}`).click();
}

for (const [look, { arabic, ...options }] of Object.entries(LOOKS))
  journey(
    `the journal and the log look right (${look})`,
    'index.html?seed=life',
    options,
    async (page) => {
      await page.id('composer-input').waitFor();
      if (arabic) await speak(page, 'ar');
      await page.evaluate(() => globalThis.fake.world.diagnosis.crash());
      await open(page, 'privacy');
      await page.id('network-verdict').scrollIntoViewIfNeeded();
      await page.shot(`network-${look}`);
      await page.id('tab-diagnosis').click();
      await page.id('crash').waitFor();
      await page.shot(`diagnosis-${look}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(wide, false, 'nothing stands beyond the edge of the window');
    },
  );

journey('requests are shown by companion', 'index.html?seed=life', {}, async (page) => {
  await open(page, 'privacy');
  assert.match(await page.id('network-verdict').innerText(), /One request has left this computer/);
  assert.equal(await page.id('network-request').count(), 6);
  const first = await page.evaluate(() => globalThis.fake.world.contexts[0].id);
  await page.id('network-context').selectOption(first);
  await page.locator('[data-testid=network-verdict]', { hasText: 'nothing of' }).waitFor();
  assert.equal(await page.id('network-request').count(), 4);
});

journey('a crash report is shown whole and deleted', 'index.html?seed=life', {}, async (page) => {
  await page.id('composer-input').waitFor();
  await page.evaluate(() => globalThis.fake.world.diagnosis.crash());
  await open(page, 'diagnosis');
  assert.match(await page.id('crash-text').innerText(), /"signal"/);
  await page.id('crash-delete').click();
  await page.id('crash').waitFor({ state: 'detached' });
  await page.id('choice-error').check({ force: true });
  await page.locator('[data-testid=log-line]', { hasText: 'shortcut' }).waitFor();
  assert.equal(await page.id('log-line').count(), 1);
  await page.id('log-delete').click();
  await page.id('log-lines').waitFor({ state: 'detached' });
});
