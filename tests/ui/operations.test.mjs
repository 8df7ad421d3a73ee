/** What tools did: the timeline of a conversation, and how long it is kept. */
import assert from 'node:assert/strict';
import { journey, speak } from './journey.mjs';

const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  arabic: { arabic: true },
  small: { width: 480, height: 780 },
};

async function menu(page, which) {
  await page.id('composer-input').waitFor();
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.locator(`[data-testid=conversation-menu]${which}`).first().click();
  await page.id('conversation-operations').click();
}

/** Opens the timeline of the conversation that tools were used in. */
async function timeline(page) {
  await page.id('composer-input').waitFor();
  const title = await page.evaluate(() => {
    const { world } = globalThis.fake;
    const [operation] = world.operations.list;
    return world.conversation(operation.conversationId).title;
  });
  await menu(page, `[aria-label*="${title}"]`);
  await page.id('operation').first().waitFor();
}

async function settings(page) {
  await page.id('composer-input').waitFor();
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('open-settings').click();
  await page.id('tab-operations').click();
  await page.id('rule-name').waitFor();
}

async function assertWithinWindow(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(wide, false, 'nothing stands beyond the edge of the window');
}

for (const [look, { arabic, ...options }] of Object.entries(LOOKS)) {
  journey(`operations look right (${look})`, 'index.html?seed=life', options, async (page) => {
    await page.id('composer-input').waitFor();
    if (arabic) await speak(page, 'ar');
    await timeline(page);
    await page.locator('[data-tool=update_survey_answers] summary').last().click();
    await page.shot(`operations-${look}`);
    await assertWithinWindow(page);
  });
  journey(`their settings look right (${look})`, 'index.html?seed=life', options, async (page) => {
    await page.id('composer-input').waitFor();
    if (arabic) await speak(page, 'ar');
    await settings(page);
    await page.shot(`operation-settings-${look}`);
    await assertWithinWindow(page);
  });
}

journey(
  'what tools did is narrowed down, shown whole, exported and forgotten',
  'index.html?seed=life',
  {},
  async (page) => {
    await timeline(page);
    assert.equal(await page.id('operation').count(), 4);
    assert.match(await page.id('operation-error').innerText(), /ENOENT/);
    const survey = page.locator('[data-tool=update_survey_answers]');
    assert.match(await survey.getByTestId('operation-finds').innerText(), /Rain \(a-2\)/);

    await page.id('operations-tool').selectOption('read_file');
    await survey.waitFor({ state: 'detached' });
    assert.equal(await page.id('operation').count(), 2);
    await page.id('operation-whole').click();
    await page.id('operation-whole').waitFor({ state: 'detached' });

    await page.id('operations-save').click();
    await page.getByText('/home/ada/operations.jsonl').first().waitFor();
    await page.id('operations-clear').click();
    await page.id('confirm-yes').click();
    await page.id('operation').first().waitFor({ state: 'detached' });
    assert.match(await page.id('operations').innerText(), /No tool was used here/);
    await page.keyboard.press('Escape');
    await page.id('operations').waitFor({ state: 'detached' });
  },
);

journey(
  'the menu of a conversation ends within a low window',
  'index.html?seed=life',
  { height: 420 },
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.id('conversation-menu').first().click();
    await page.id('conversation-operations').waitFor();
    await page.waitForFunction(() => {
      const { top, bottom } = globalThis.document.querySelector('.menu').getBoundingClientRect();
      return top >= 0 && bottom <= globalThis.innerHeight;
    });
  },
);

journey('a conversation without tools says so', 'index.html?seed=life', {}, async (page) => {
  await page.id('composer-input').waitFor();
  await page.evaluate(() => (globalThis.fake.world.operations.list = []));
  await menu(page, '');
  await page.getByText('No tool was used here').waitFor();
});

journey('what a tool does now appears at once', 'index.html?seed=life', {}, async (page) => {
  await timeline(page);
  await page.evaluate(() => {
    const { world } = globalThis.fake;
    const [{ conversationId }] = world.operations.list;
    const part = { toolName: 'look_now', arguments: {}, result: {} };
    world.operations.add(world, conversationId, part);
  });
  await page.locator('[data-tool=look_now]').waitFor();
});

journey(
  'who is told of long operations is set, and a note that did not arrive is shown',
  'index.html?seed=life',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.evaluate(() => {
      globalThis.fake.world.operations.long.failure = { at: '2026-11-01T10:00:00Z', status: 503 };
    });
    await settings(page);
    await page.id('long-unheard').waitFor();
    assert.match(await page.id('long-unheard').innerText(), /503/);
    assert.equal(await page.id('long-save').isDisabled(), true);
    await page.id('long-seconds').fill('0');
    assert.equal(await page.id('long-save').isDisabled(), true);
    await page.id('long-seconds').fill('90');
    await page.id('long-webhook').fill('http://example.com/done');
    await page.id('long-save').click();
    await page.getByRole('alert').first().waitFor();
    await page.id('long-webhook').fill('http://127.0.0.1:8080/done');
    await page.id('long-save').click();
    await page.id('long-unheard').waitFor({ state: 'detached' });
    const kept = await page.evaluate(() => globalThis.fake.world.operations.long.settings);
    assert.deepEqual(kept, { seconds: 90, notifies: false, webhook: 'http://127.0.0.1:8080/done' });
  },
);

journey('rules are tried, kept and removed', 'index.html?seed=life', {}, async (page) => {
  await settings(page);
  await page.id('rule-name').fill('price');
  await page.id('rule-tool').fill('shop_*');
  await page.id('rule-path').fill('price');
  await page.id('rule-sample').fill('{"price": 3}');
  await page.id('rule-try').click();
  await page.getByText('JSONPath').first().waitFor();
  assert.equal(await page.id('rule-path').getAttribute('aria-invalid'), 'true');
  await page.id('rule-path').fill('$.price');
  await page.id('rule-try').click();
  assert.match(await page.id('rule-found').innerText(), /3/);
  await page.id('rule-add').click();
  await page.locator('[data-testid=rule][data-name=price]').waitFor();
  const kept = () => page.evaluate(() => globalThis.fake.world.settings.operations);
  assert.deepEqual((await kept()).rules, [
    { name: 'price', toolPattern: 'shop_*', path: '$.price' },
  ]);

  await page.id('operations-kept').fill('0');
  assert.equal(await page.id('operations-retention-save').isDisabled(), true);
  await page.id('operations-kept').fill('200');
  await page.id('operations-retention-save').click();
  await page.waitForFunction(() => globalThis.fake.world.settings.operations.kept === 200);
  assert.equal((await kept()).rules.length, 1);

  await page.id('operations-kept').fill('20');
  await page.id('operations-retention-save').click();
  await page.id('confirm-no').click();
  await page.id('confirm-no').waitFor({ state: 'detached' });
  assert.equal((await kept()).kept, 200, 'nothing is deleted before the user was asked');
  await page.id('operations-retention-save').click();
  await page.id('confirm-yes').click();
  await page.waitForFunction(() => globalThis.fake.world.settings.operations.kept === 20);
  await page.id('rule-remove').click();
  await page.id('rule').waitFor({ state: 'detached' });
});
