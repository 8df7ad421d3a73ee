/** Journeys through the fake build: each has a page of its own, in which nothing may fail. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, openWindow } from './window.mjs';

let window;
before(async () => (window = await openWindow()));
after(async () => window.close());

/** Opens a page for one test; afterwards nothing may have failed in it. */
export function journey(name, path, options, body) {
  test(name, { timeout: 60_000 }, async () => {
    const page = await openPage(window, path, options);
    try {
      await body(page);
      assert.deepEqual(page.faults, []);
    } catch (error) {
      await page.shot(`failed-${name.replaceAll(/\W+/g, '-')}`);
      throw error;
    } finally {
      await page.context().close();
    }
  });
}

/** Lets the app speak a language, as the settings do. */
export async function speak(page, language) {
  await page.evaluate(async (tag) => {
    const { fake } = globalThis;
    await fake.settingsSave({ ...(await fake.settingsGet()), language: tag });
    fake.emit('change', { noun: 'settings', id: 'settings' });
  }, language);
  await page.locator(`html[lang=${language}]`).waitFor();
}
