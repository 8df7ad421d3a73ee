/** What somebody meets who has never seen the app, or gives it longer words than anybody expects. */
import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const LIFE = 'index.html?seed=life&pace=4';
const NAME = 'Longname'.repeat(15);

async function toTheModels(page) {
  await page.id('welcome-start').click();
  await page.id('notice-accept').click();
  await page.id('vault-create').click();
  const code = await page.id('recovery-groups').getAttribute('data-groups');
  const groups = code.split(' ');
  await page.id('recovery-next').click();
  for (const index of [0, 1, 2]) {
    const field = page.id(`recovery-input-${index}`);
    await field.fill(groups[Number(await field.getAttribute('data-group'))]);
  }
  await page.id('recovery-confirm').click();
  await page.id('offer-cloud').waitFor();
}

/** Nothing stands out of the element: it has nothing to scroll to the side. */
async function fits(locator) {
  const [whole, seen] = await locator.evaluate((node) => [node.scrollWidth, node.clientWidth]);
  assert.ok(whole <= seen + 1, `${whole} px wide in ${seen}`);
}

async function menuOf(page, name, act) {
  await page.id('context-item').filter({ hasText: name }).hover();
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.id(`context-${act}`).click();
}

journey('names without a space stay within their place', LIFE, {}, async (page) => {
  await page.id('context-new').click();
  await page.id('preset-blank').click();
  await page.getByText('A name and instructions are enough').waitFor();
  await page.id('context-name').fill(NAME);
  await page.id('context-prompt').fill('Longname is calm and keeps a view of its own.');
  await page.id('context-save').click();
  await page.getByText('is here').waitFor();
  await fits(page.locator('main').last());
  await fits(page.locator('main > div').last());
  // The words in an empty field take one line.
  assert.ok((await page.id('composer-input').boundingBox()).height < 50);
  await page.shot('newcomer-empty');
  await menuOf(page, NAME, 'revisions');
  const dialog = page.getByRole('dialog');
  await fits(dialog);
  const close = await dialog.getByRole('button', { name: 'Close' }).boundingBox();
  const whole = await dialog.boundingBox();
  assert.ok(close.x + close.width <= whole.x + whole.width);
  await page.shot('newcomer-dialog');
  await page.keyboard.press('Escape');
  await menuOf(page, NAME, 'preset');
  await page.id('name-save').click();
  await fits(page.id('notice'));
  await fits(page.id('notices'));
  await page.id('context-new').click();
  for (const button of await dialog.locator('li > button').all()) await fits(button);
  await page.shot('newcomer-picker');
  await page.keyboard.press('Escape');
  await menuOf(page, NAME, 'delete');
  await page.id('open-trash').click();
  await page.getByRole('button', { name: NAME }).last().click();
  await fits(page.getByRole('alertdialog'));
  await page.shot('newcomer-purge');
});

journey('what was settled in the trash is no longer offered', LIFE, {}, async (page) => {
  await menuOf(page, 'Calm Counselor', 'delete');
  await page.id('notice-action').waitFor();
  await page.id('open-trash').click();
  const item = page.id('trash-item').filter({ hasText: 'Calm Counselor' }).first();
  await item.locator('[data-testid=trash-restore]').click();
  await page.getByText('Calm Counselor is back').waitFor();
  assert.equal(await page.id('notice-action').count(), 0);
});

journey('only models that can answer are offered', LIFE, {}, async (page) => {
  await page.id('model-chip').click();
  await page.id('model-item').filter({ hasText: 'qwen3:8b' }).waitFor();
  assert.equal(await page.id('model-item').filter({ hasText: 'embed' }).count(), 0);
});

journey('a model whose provider was removed is none', LIFE, {}, async (page) => {
  await page.id('model-chip').click();
  await page.id('model-item').filter({ hasText: 'qwen3:8b' }).click();
  await page.id('model-chip').getByText('qwen3:8b').waitFor();
  await page.id('open-settings').click();
  await page.id('tab-providers').click();
  const server = page.id('provider-item').filter({ hasText: 'Ollama' });
  await server.getByRole('button', { name: /Remove|Delete/ }).click();
  await page.id('confirm-yes').click();
  await page.id('settings-back').click();
  await page.locator('[data-testid=model-chip][data-locality=none]').waitFor();
  await page.shot('newcomer-no-model');
});

journey(
  'the first companions offered are no experiments',
  'index.html?pace=4',
  {},
  async (page) => {
    await toTheModels(page);
    await page.id('offer-builtIn').click();
    await page.id('preset-calm-counselor').waitFor();
    const names = await page.locator('li > button').allInnerTexts();
    assert.match(names[0], /Calm Counselor/);
    assert.match(names.at(-2), /experimental/);
    // Whoever wants none of them begins with an empty page.
    await page.id('preset-blank').click();
    await page.id('context-name').fill('Harbour');
    await page.id('context-prompt').fill('Harbour is calm and keeps a view of its own.');
    await page.id('context-save').click();
    await page.getByText('Harbour is here').waitFor();
  },
);

journey(
  'a provider without a model that answers says so, and there is a way back',
  'index.html?pace=4',
  {},
  async (page) => {
    await toTheModels(page);
    await page.evaluate(() => {
      const real = globalThis.fake.providerModels;
      globalThis.fake.providerModels = async (id) =>
        (await real(id)).map((model) => ({ ...model, embedding: !globalThis.answering }));
    });
    await page.id('offer-cloud').click();
    await page.id('template-mistral').click();
    await page.id('provider-key').fill('secret-key-9f3b');
    await page.id('provider-save').click();
    await page.id('cloud-none').getByText('“Advanced”').waitFor();
    await page.shot('newcomer-cloud-none');
    await page.evaluate(() => (globalThis.answering = true));
    await page.id('template-mistral').click();
    await page.id('provider-save').click();
    await page.id('cloud-model').waitFor();
    await page.id('cloud-back').click();
    await page.id('template-openai').waitFor();
    assert.equal(await page.id('cloud-none').count(), 0);
  },
);

journey('a shortcut is written with the keys of this machine', LIFE, {}, async (page) => {
  await page.id('open-settings').click();
  await page.id('shortcut').waitFor();
  assert.equal(await page.id('shortcut').inputValue(), 'Ctrl+Shift+Space');
});

journey('the activity says what the last run has done', LIFE, {}, async (page) => {
  await page.id('open-settings').click();
  await page.id('tab-activity').click();
  await page.id('job-deeds').getByText('2 conversations got titles.').waitFor();
  await page.shot('newcomer-activity');
});
