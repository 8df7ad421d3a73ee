/** Journeys through what decides over requests: receipts, previews, memory, strategies, redaction. */
import assert from 'node:assert/strict';
import { journey, speak } from './journey.mjs';

const LIFE = 'index.html?seed=life&pace=4';
const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  arabic: { arabic: true },
  german: { german: true },
  small: { width: 640, height: 780 },
};
const LONG = `Dr. ${'Hildegard-'.repeat(9)}Winterhalter und ihre Freundinnen am Montagabend`;

/** Waits until everything of the vault has been read. */
const entered = (page) => page.id('composer-input').waitFor();

/** Opens a page in each look. */
function looks(name, body, path = LIFE) {
  for (const [look, { arabic, german, ...options }] of Object.entries(LOOKS))
    journey(`${name} (${look})`, path, options, async (page) => {
      await entered(page);
      if (arabic) await entered(page);
      if (arabic) await speak(page, 'ar');
      if (german) await entered(page);
      if (german) await speak(page, 'de');
      await body(page, look);
    });
}

/** Opens a conversation, from the drawer where the window is small. */
async function talk(page, title) {
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('conversation-item').getByText(title).click();
  await page.id('message-assistant').last().waitFor();
}

async function menuOf(page, title, act) {
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  const item = page.id('conversation-item').filter({ hasText: title });
  await item.locator('..').getByTestId('conversation-menu').click();
  await page.id(`conversation-${act}`).click();
}

async function editCompanion(page) {
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('context-item').first().hover();
  await page.id('context-menu').first().click();
  await page.id('context-edit').click();
  await page.id('context-memory').click();
}

async function tab(page, name) {
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('open-settings').click();
  await page.id(`tab-${name}`).click();
}

/** Opens the receipt of the last reply. */
async function receipt(page) {
  await page.id('message-assistant').last().hover();
  await page.id('receipt-open').last().click();
}

/** What is stored of the first companion. */
const stored = (page) =>
  page.evaluate(() => {
    const { strategy, memory } = globalThis.fake.world.contexts[0];
    return structuredClone({ strategy, memory });
  });

async function saved(page) {
  await page.id('context-save').click();
  await page.id('context-name').waitFor({ state: 'detached' });
}

/** Lets a call of the core fail. */
const fail = (page, name) =>
  page.evaluate(
    (call) => window.dispatchEvent(new CustomEvent('fake-fail', { detail: call })),
    name,
  );

journey('a strategy is chosen, with numbers in their range', LIFE, {}, async (page) => {
  await entered(page);
  await editCompanion(page);
  await page.waitForFunction(() => {
    const section = document.querySelector('[data-testid=context-memory]');
    return section.getBoundingClientRect().top < innerHeight / 3;
  });
  await page.shot('prompting-form-window');
  await page.id('strategy-std-summarization-strategy').check();
  await page.id('strategy-numbers').click();
  assert.equal(await page.id('strategy-threshold').inputValue(), '10');
  await page.id('strategy-threshold').fill('4');
  await page.id('strategy-turns').fill('5');
  await page.id('strategy-maxTokens').fill('99');
  await page.id('strategy-numbers').click();
  await page.id('context-memory').click();
  await page.id('context-save').click();
  await page.getByText('A whole number from 1 to 4.').waitFor();
  await page.getByText('A whole number from 100 to 4,000.').waitFor();
  await page.shot('prompting-form-summary-wrong');
  await page.id('strategy-turns').fill('4');
  await page.id('strategy-maxTokens').fill('1200');
  await page.id('strategy-model').selectOption({ label: 'qwen3:8b' });
  await saved(page);
  assert.deepEqual((await stored(page)).strategy, {
    type: 'plugin',
    pluginId: 'std-summarization-strategy',
    config: {
      threshold: 4,
      turns: 4,
      maxTokens: 1_200,
      compressionModel: { providerId: 'provider-ollama', model: 'qwen3:8b' },
    },
  });
});

journey('a model elsewhere is not chosen for work silently', LIFE, {}, async (page) => {
  await entered(page);
  await editCompanion(page);
  await page.id('strategy-std-summarization-strategy').check();
  await page.id('strategy-model').selectOption({ label: 'gpt-5-mini (elsewhere)' });
  await page.getByRole('alertdialog').getByText('api.openai.com').waitFor();
  await page.shot('prompting-form-remote');
  await page.id('confirm-no').click();
  assert.equal(await page.id('strategy-model').inputValue(), 'null');
  await page.id('strategy-model').selectOption({ label: 'gpt-5-mini (elsewhere)' });
  await page.id('confirm-yes').click();
  await saved(page);
  const { config } = (await stored(page)).strategy;
  assert.deepEqual(config, {
    compressionModel: { providerId: 'provider-cloud', model: 'gpt-5-mini' },
  });
});

journey('a schema is made in the form and in JSON', LIFE, {}, async (page) => {
  await entered(page);
  await editCompanion(page);
  await page.id('strategy-std-extraction-strategy').check();
  await page.getByText('No fields yet.').waitFor();
  await page.id('schema-add').click();
  await page.id('schema-name').fill('destination');
  await page.id('schema-add').click();
  await page.id('schema-name').last().fill('destination');
  assert.equal(await page.getByText('Another field has this name.').count(), 2);
  await page.id('context-save').click();
  assert.ok(await page.id('context-name').isVisible());
  await page.id('schema-name').last().fill('class');
  await page.id('schema-type').last().selectOption('choice');
  await page.getByText('At least two to choose from.').first().waitFor();
  await page.shot('prompting-schema-form');
  const options = page.id('schema-field').last().getByTestId('tag-input');
  await options.fill('first, second');
  await options.press('Enter');
  await page.getByText('At least two to choose from.').waitFor({ state: 'detached' });
  await page.id('choice-json').check({ force: true });
  const text = await page.id('schema-json').inputValue();
  assert.deepEqual(JSON.parse(text).properties.class, {
    type: 'string',
    enum: ['first', 'second'],
  });
  await page.id('schema-json').fill('{"properties": {"a": {"type": "words"}}');
  await page.getByText('This is no JSON.').waitFor();
  await page.id('schema-json').fill('{"properties": {"a": {"type": "words"}}}');
  await page.getByText('“a” has the unknown type “words”.').waitFor();
  await page.shot('prompting-schema-json');
  await page.id('context-save').click();
  assert.ok(await page.id('context-name').isVisible());
  const schema = { type: 'object', properties: { a: { type: 'string', minLength: 2 } } };
  await page.id('schema-json').fill(JSON.stringify(schema));
  await page.id('choice-form').check({ force: true });
  assert.equal(await page.id('schema-name').inputValue(), 'a');
  await saved(page);
  assert.deepEqual((await stored(page)).strategy.config, { schema });
});

journey('recall, goals and the reminder are set', LIFE, {}, async (page) => {
  await entered(page);
  await editCompanion(page);
  await page.getByRole('switch', { name: 'Recall older messages' }).click();
  await page.id('recall-embedder').selectOption({ label: 'nomic-embed-text' });
  await page.id('recall-link').selectOption({ label: 'Rational Advisor' });
  await page.id('recall-linked').getByText('Rational Advisor').waitFor();
  await page.id('goal-add').click();
  await page.id('goal').fill('Sleep before midnight');
  await page.id('goal-add').click();
  await page.id('goal').last().fill('x'.repeat(501));
  await page.id('anchor-from').fill('0');
  await page.id('context-save').click();
  await page.getByText('A whole number from 1 to 1,000.').waitFor();
  await page.getByText('501 characters; at most 500 are allowed.').waitFor();
  await page.shot('prompting-recall');
  await page.getByRole('button', { name: 'Remove goal 2' }).click();
  await page.id('goal-add').click();
  await page.id('anchor-from').fill('5');
  await saved(page);
  const { memory } = await stored(page);
  assert.deepEqual(memory.goals, ['Sleep before midnight']);
  assert.equal(memory.anchorFromTurn, 5);
  assert.deepEqual(memory.recall, {
    on: true,
    count: 5,
    sharePercent: 15,
    embedder: { providerId: 'provider-ollama', model: 'nomic-embed-text' },
    linked: ['context-preset-rational-advisor'],
  });
});

journey('an installed strategy has settings of its own', LIFE, {}, async (page) => {
  await entered(page);
  await editCompanion(page);
  await page.id('strategy-newest-and-first').waitFor();
  assert.equal(await page.id('strategy-topic-clusters').count(), 0);
  await page.id('strategy-newest-and-first').check();
  await page.id('strategy-config').fill('[1]');
  await page.getByText('This has to be a JSON object').waitFor();
  await page.id('strategy-config').fill('{"first": 2}');
  await page.id('strategy-std-full-strategy').check();
  await page.id('strategy-newest-and-first').check();
  assert.deepEqual(JSON.parse(await page.id('strategy-config').inputValue()), { first: 2 });
  await saved(page);
  const { pluginId, config } = (await stored(page)).strategy;
  assert.deepEqual([pluginId, config], ['newest-and-first', { first: 2 }]);
});

looks('the form', async (page, look) => {
  await page.evaluate((name) => {
    const { world } = globalThis.fake;
    Object.assign(world.contexts[0].memory, { goals: ['Sleep before midnight', name] });
    Object.assign(world.contexts[0].memory.recall, { on: true, linked: [world.contexts[1].id] });
    world.contexts[1].name = name;
    world.onChange({ noun: 'context', id: '' });
  }, LONG);
  await editCompanion(page);
  await page.id('context-memory').scrollIntoViewIfNeeded();
  await page.shot(`prompting-form-${look}-1`);
  await page.id('strategy-std-extraction-strategy').check();
  await page.id('schema-add').click();
  await page.id('schema-add').scrollIntoViewIfNeeded();
  await page.shot(`prompting-form-${look}-2`);
  await page.id('anchor-from').scrollIntoViewIfNeeded();
  await page.shot(`prompting-form-${look}-3`);
});

looks('a receipt', async (page, look) => {
  await page.evaluate(() => {
    const [first] = globalThis.fake.world.contexts;
    first.strategy.pluginId = 'std-summarization-strategy';
    first.memory.goals = ['Sleep before midnight'];
    first.memory.recall.on = true;
  });
  await talk(page, 'Ninety small steps');
  await receipt(page);
  await page.id('receipt-block').first().waitFor();
  await page.shot(`prompting-receipt-${look}`);
  await page.id('receipt-run').click();
  await page.id('receipt-block').first().click();
  await page.id('receipt-text').waitFor();
  await page.id('receipt').evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await page.shot(`prompting-receipt-${look}-blocks`);
  await page.id('receipt-tab-exact').click();
  await page.id('request-body').waitFor();
  await page.shot(`prompting-receipt-${look}-exact`);
  await page.id('receipt-tab-compare').click();
  await page.id('diff-row').first().waitFor();
  await page.shot(`prompting-receipt-${look}-compare`);
});

journey('a receipt says what was sent, left out, and why', LIFE, {}, async (page) => {
  await entered(page);
  await talk(page, 'Ninety small steps');
  await receipt(page);
  const left = page.locator('[data-testid=receipt-block][data-included=false]');
  await left.getByText('154 older messages').waitFor();
  assert.match(await left.getByTestId('receipt-reason').innerText(), /older than the window/);
  await page.id('receipt-run').getByText('History: 24 messages').waitFor();
  const total = Number((await page.id('receipt-total').innerText()).replace(/\D/g, ''));
  const kinds = await page.id('receipt-share').evaluateAll((rows) => {
    const figures = rows.map((row) => row.querySelectorAll('.tabular-nums')[0].textContent);
    return figures.reduce((sum, text) => sum + Number(text.replace(/\D/g, '')), 0);
  });
  assert.equal(kinds, total);
  const bar = await page.getByRole('img', { name: /^The request: Persona: \d+ tokens/ });
  assert.equal(await bar.count(), 1);
  await page.id('receipt-tab-exact').click();
  await page.id('request-state').getByText('byte for byte').waitFor();
  await page.id('request-curl').click();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(curl, /^curl http.*\$API_KEY/s);
  await page.id('receipt-tab-compare').click();
  await page.id('diff-same').waitFor();
  assert.match(await page.id('diff-total').innerText(), /^From [\d,]+ to [\d,]+ tokens/);
  await page.keyboard.press('Escape');
  await page.id('receipt').waitFor({ state: 'detached' });
});

journey('what was forgotten since is named in the receipt', LIFE, {}, async (page) => {
  await entered(page);
  await talk(page, 'A letter to my landlord');
  await page.evaluate(() => {
    const { world } = globalThis.fake;
    const talk = world.conversations.find((one) => one.title.startsWith('A letter'));
    world.memory.forgotten.add(world.branch(talk)[0].id);
  });
  await receipt(page);
  await page.id('receipt-tab-exact').click();
  await page.id('request-state').getByText('One block has been forgotten').waitFor();
  await page.shot('prompting-receipt-missing');
  await page.id('receipt-tab-overview').click();
  await page.locator('[data-testid=receipt-block][data-kind=history]').first().click();
  await page.getByText('This text has been forgotten since.').waitFor();
});

journey('a reply without a receipt, and one that cannot be read', LIFE, {}, async (page) => {
  await entered(page);
  await talk(page, 'A letter to my landlord');
  await page.evaluate(() => {
    const { world } = globalThis.fake;
    for (const one of world.messages) world.memory.unrecorded.add(one.id);
  });
  await receipt(page);
  await page.getByText('There is no receipt for this reply').waitFor();
  await page.shot('prompting-receipt-absent');
  await page.id('sheet-close').click();
  await fail(page, 'receiptGet');
  await receipt(page);
  await page.id('error').waitFor();
  await page.shot('prompting-receipt-error');
  await fail(page, 'receiptGet');
  await page.evaluate(() => globalThis.fake.world.memory.unrecorded.clear());
  await page.id('receipt-retry').click();
  await page.id('receipt-block').first().waitFor();
});

journey('a receipt leads to the message and to the wording', LIFE, {}, async (page) => {
  await entered(page);
  await talk(page, 'A disagreement with my sister');
  await page.id('message-assistant').first().hover();
  await page.id('receipt-open').first().click();
  await page.id('receipt-revision').click();
  await page.id('comparison').waitFor();
  await page.shot('prompting-receipt-revision');
  await page.keyboard.press('Escape');
  await page.id('receipt').waitFor();
  await page.keyboard.press('Escape');
  await page.id('message-assistant').nth(1).hover();
  await page.id('receipt-open').nth(1).click();
  await page.locator('[data-testid=receipt-block][data-kind=history]').first().click();
  await page.id('receipt-jump').click();
  await page.locator('[data-lit=true]').getByText('A disagreement with my sister').waitFor();
});

journey('a dry run shows what would be sent, and sends nothing', LIFE, {}, async (page) => {
  await entered(page);
  await talk(page, 'A letter to my landlord');
  const before = await page.evaluate(() => globalThis.fake.world.messages.length);
  await page.id('composer-menu').click();
  await page.getByText('Write a message first.').waitFor();
  await page.shot('prompting-composer-empty');
  await page.keyboard.press('Escape');
  await page.id('composer-input').fill('May I put off the rent by a week?');
  await page.id('composer-menu').click();
  await page.shot('prompting-composer-menu');
  await page.id('composer-preview').click();
  await page.getByRole('heading', { name: 'What would be sent' }).waitFor();
  await page.locator('[data-kind=user]').getByText('May I put off the rent').first().waitFor();
  await page.shot('prompting-preview');
  await page.id('receipt-tab-exact').click();
  await page.id('request-body').getByText('May I put off the rent').waitFor();
  assert.equal(await page.id('request-curl').count(), 0);
  await page.id('receipt-tab-compare').click();
  await page.id('diff-row').first().waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.id('composer-input').inputValue(), 'May I put off the rent by a week?');
  assert.equal(await page.evaluate(() => globalThis.fake.world.messages.length), before);
});

looks('strategies are compared', async (page, look) => {
  await talk(page, 'Ninety small steps');
  await page.id('composer-input').fill('Where did we begin?');
  await page.id('composer-menu').click();
  await page.id('composer-compare').click();
  await page.id('strategy-row').first().waitFor();
  assert.equal(await page.id('strategy-row').count(), 5);
  assert.equal(await page.id('strategy-error').count(), 1);
  await page.shot(`prompting-compare-${look}`);
  const full = page.locator('[data-strategy=std-full-strategy]');
  await full.getByTestId('strategy-open').click();
  await page.id('receipt-block').first().waitFor();
  await page.shot(`prompting-compare-${look}-open`);
  await page.id('sheet-close').click();
  await page.id('receipt').waitFor({ state: 'detached' });
  assert.equal(await page.id('strategy-row').count(), 5);
});

looks('the memory of a conversation', async (page, look) => {
  await menuOf(page, 'Ninety small steps', 'memory');
  await page.id('summary').first().waitFor();
  await page.id('values-past').check();
  await page.locator('[data-past=true]').waitFor();
  await page.shot(`prompting-memory-${look}`);
  await page.id('memory').evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await page.shot(`prompting-memory-${look}-end`);
});

journey('summaries are edited and removed', LIFE, {}, async (page) => {
  await entered(page);
  await menuOf(page, 'Ninety small steps', 'memory');
  await page.locator('[data-testid=summary][data-stale=true]').waitFor();
  await page.id('summary-edit').first().click();
  await page.id('summary-input').fill('The user is called Ada [3].');
  await page.shot('prompting-summary-edit');
  await page.id('summary-save').click();
  await page.id('summary-text').getByText('The user is called Ada [3].').waitFor();
  await page.getByText('edited by you').waitFor();
  await page.id('summary-remove').last().click();
  await page.shot('prompting-summary-remove');
  await page.id('confirm-yes').click();
  await page.locator('[data-testid=summary][data-stale=true]').waitFor({ state: 'detached' });
  await page.id('summary-last').click();
  await page.locator('[data-lit=true]').getByText('(60)').waitFor();
});

journey(
  'values are edited, pinned, forgotten, and lead to where they come from',
  LIFE,
  {},
  async (page) => {
    await entered(page);
    await menuOf(page, 'Ninety small steps', 'memory');
    const row = (name) => page.locator(`[data-testid=value][data-name=${name}][data-past=false]`);
    await row('deadline').getByText('June 1, 2026').waitFor();
    await row('deadline').getByTestId('value-edit').click();
    await page.id('value-input').fill('2026-06-15');
    await page.id('value-save').click();
    await row('deadline').getByText('June 15, 2026').waitFor();
    await page.id('values-past').check();
    assert.equal(await page.locator('[data-name=deadline][data-past=true]').count(), 2);
    await row('sleepsWell').getByTestId('value-pin').click();
    await row('sleepsWell').getByText('pinned').waitFor();
    await row('sleepsWell').getByTestId('value-forget').click();
    await page.id('confirm-yes').click();
    await row('sleepsWell').waitFor({ state: 'detached' });
    await fail(page, 'statePin');
    await row('deadline').getByTestId('value-pin').click();
    await page.id('memory').getByTestId('error').waitFor();
    await page.shot('prompting-memory-failed');
    await row('preferredName').getByTestId('value-evidence').click();
    await page.locator('[data-lit=true]').getByText('number 3').waitFor();
  },
);

journey('a memory that is empty, and one that cannot be read', LIFE, {}, async (page) => {
  await entered(page);
  await menuOf(page, 'A letter to my landlord', 'memory');
  await page.getByText('Nothing is remembered yet').waitFor();
  await page.shot('prompting-memory-empty');
  await page.id('sheet-close').click();
  await fail(page, 'summaryList');
  await menuOf(page, 'A letter to my landlord', 'memory');
  await page.id('error').waitFor();
  await page.shot('prompting-memory-error');
  await fail(page, 'summaryList');
  await page.id('memory-retry').click();
  await page.getByText('Nothing is remembered yet').waitFor();
});

looks('recalled messages are cited', async (page, look) => {
  await talk(page, 'A letter to my landlord');
  await page.id('citations').locator('summary').click();
  assert.equal(await page.id('citation').count(), 2);
  await page.shot(`prompting-citations-${look}`);
  await page.id('citation').first().click();
  await page.locator('[data-lit=true]').getByText('The team meeting yesterday').waitFor();
});

looks('installed strategies', async (page, look) => {
  await tab(page, 'strategies');
  await page.id('plugin').first().waitFor();
  await page.shot(`prompting-plugins-${look}`);
  await page.id('plugin-add').scrollIntoViewIfNeeded();
  await page.id('plugin').last().scrollIntoViewIfNeeded();
  await page.shot(`prompting-plugins-${look}-end`);
});

journey('strategies are installed, replaced and removed', LIFE, {}, async (page) => {
  await entered(page);
  await tab(page, 'strategies');
  await page.id('plugin-error').getByText('made for version 2').waitFor();
  await page.id('plugin-add').click();
  await page
    .getByRole('alertdialog')
    .getByText('Version 1.2.0 is installed. Version 1.3.0')
    .waitFor();
  await page.shot('prompting-plugin-replace');
  await page.id('confirm-yes').click();
  await page.locator('[data-plugin=newest-and-first]').getByText('1.3.0').waitFor();
  await page.id('notices').getByText('The strategy is installed.').waitFor();
  await page.evaluate(() => (globalThis.fake.world.memory.folder = '/home/ada/Not a plug-in'));
  await page.id('plugin-add').click();
  await page.id('error').getByText('This folder holds no strategy that can be used.').waitFor();
  await page.id('error').locator('summary').click();
  await page.id('error').getByText('has no usable id').waitFor();
  await page.shot('prompting-plugin-refused');
  await page.evaluate(() => (globalThis.fake.world.memory.folder = null));
  await page.id('plugin-add').click();
  await page.id('error').waitFor({ state: 'detached' });
  for (const id of ['topic-clusters', 'newest-and-first']) {
    await page.locator(`[data-plugin=${id}]`).getByTestId('plugin-remove').click();
    await page.getByText('No companion uses it.').waitFor();
    await page.id('confirm-yes').click();
    await page.locator(`[data-plugin=${id}]`).waitFor({ state: 'detached' });
  }
  await page.getByText('None installed').waitFor();
  await page.shot('prompting-plugins-empty');
});

looks('what is taken out of messages', async (page, look) => {
  await tab(page, 'privacy');
  await page.id('redaction-own').fill('Ada\nx');
  await page.shot(`prompting-privacy-${look}`);
});

journey('redaction is off until something and a time are chosen', LIFE, {}, async (page) => {
  await entered(page);
  await tab(page, 'privacy');
  const on = () => page.evaluate(() => globalThis.fake.world.settings.redaction);
  const { own, ...switches } = await on();
  assert.deepEqual([own, Object.values(switches).some(Boolean)], [[], false]);
  assert.equal(await page.locator('[role=switch][aria-checked=true]').count(), 0);
  await page.getByRole('switch', { name: 'Mail addresses' }).click();
  await page.id('redaction-idle').getByText('Nothing is taken out yet').waitFor();
  await page.getByRole('switch', { name: 'Before sending' }).click();
  await page.id('redaction-idle').waitFor({ state: 'detached' });
  await page.id('redaction-own').fill('Ada Lovelace\nx');
  await page.getByText('“x”: each word needs 2 to 200 characters.').waitFor();
  assert.ok(await page.id('redaction-save').isDisabled());
  await page.id('redaction-own').fill('Ada Lovelace\nLondon');
  await page.id('redaction-save').click();
  await page.locator('[data-testid=redaction-save]:disabled').waitFor();
  assert.deepEqual(await on(), {
    emails: true,
    phones: false,
    cards: false,
    keys: false,
    own: ['Ada Lovelace', 'London'],
    beforeStoring: false,
    beforeSending: true,
  });
});
