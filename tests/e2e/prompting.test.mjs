// How a prompt is put together, on the real application: a strategy is chosen, a message is looked at before it is sent, its
// reply has a receipt that is the request byte for byte, and what is to be taken out is taken out. The model is scripted,
// because what is tested here is what it is sent.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, messages, ownServer } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { MODEL, scriptedModel } from './scripted_model.mjs';
import { Key, until } from './webdriver.mjs';

const ADDRESS = 'anna.keel@example.org';

describe('how a prompt is put together', { concurrency: 1 }, () => {
  let desktop, model, app, page;

  before(async () => {
    model = await scriptedModel(() => 'A **boat** needs a fair wind and a chart.');
    desktop = await Desktop.start();
    app = await App.open(desktop);
    page = app.page;
    await firstRun(app, { chooseModel: ownServer(model.address, MODEL) });
    await ask(page, 'My sister Ida lends me her boat.');
  });

  after(async () => {
    await desktop?.screenshot('prompting-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
  });

  /** The tokens, kinds and reasons of the blocks that are shown. */
  const blocks = () =>
    page.run(
      'return [...document.querySelectorAll("[data-testid=receipt-block]")].map((e) => ({ ...e.dataset, text: e.innerText.trim() }))',
    );

  /** Opens the receipt of the last reply and waits for its blocks. */
  async function receipt() {
    await page.run(
      'const all = [...document.querySelectorAll("[data-testid=receipt-open]")]; all.at(-1).scrollIntoView(); all.at(-1).click()',
    );
    return until(async () => {
      const found = await blocks();
      return found.length > 0 && found;
    }, 'the blocks of a receipt');
  }

  async function closed(id) {
    await page.keys(Key.Escape);
    await until(async () => !(await page.has(id)), `${id} closed`);
  }

  test('a strategy is chosen for a companion and composes from the next message on', async () => {
    await page.run('document.querySelector("[data-testid=context-menu]").click()');
    await page.click('context-edit');
    await page.click('context-memory');
    await page.click('strategy-std-summarization-strategy');
    await desktop.screenshot('prompting-strategy');
    await page.click('context-save');
    await until(async () => !(await page.has('context-save')), 'the form closed');
    await ask(page, 'Where could I sail on Sunday?');
    await receipt();
    const strategy = await page.run('return document.querySelector("[data-testid=receipt]").innerText');
    assert.match(strategy, /summar/i);
    await desktop.screenshot('prompting-receipt');
    await closed('receipt');
  });

  test('a receipt is the request that left, and is compared with the one before', async () => {
    const shown = await receipt();
    const kinds = new Set(shown.map((block) => block.kind));
    for (const kind of ['system', 'history', 'user', 'trailing']) assert.ok(kinds.has(kind), `${kind} in ${[...kinds]}`);
    await page.click('receipt-tab-exact');
    await until(async () => /byte for byte/.test(await (await page.testid('request-state')).text()), 'the request is proven');
    const body = await (await page.testid('request-body')).text();
    assert.ok(body.includes('My sister Ida lends me her boat.') && body.includes('Where could I sail on Sunday?'), body);
    await desktop.screenshot('prompting-exact');
    await page.click('receipt-tab-compare');
    await page.testid('diff-row');
    await desktop.screenshot('prompting-diff');
    await closed('receipt');
  });

  test('a message is looked at and strategies are compared before anything is sent', async () => {
    const before = (await messages(page)).length;
    await page.fill('composer-input', 'And with which wind?');
    await page.click('composer-menu');
    await page.click('composer-preview');
    assert.ok((await until(async () => (await blocks()).length > 0 && blocks(), 'a preview')).length >= 4);
    await closed('receipt');
    await page.click('composer-menu');
    await page.click('composer-compare');
    await until(async () => (await page.all('[data-testid=strategy-row]')).length >= 3, 'the strategies side by side');
    await desktop.screenshot('prompting-compare');
    await page.keys(Key.Escape);
    await until(async () => !(await page.has('strategy-row')), 'the comparison closed');
    assert.equal((await messages(page)).length, before, 'nothing was sent');
    assert.equal(await (await page.testid('composer-input')).property('value'), 'And with which wind?');
  });

  test('what is to be taken out does not leave, and the receipt shows where it stood', async () => {
    await page.click('open-settings');
    await page.click('tab-privacy');
    for (const name of ['Mail addresses', 'Before sending']) {
      await until(
        () =>
          page.run(
            'const label = [...document.querySelectorAll("label")].find((e) => e.innerText === arguments[0]); label?.click(); return Boolean(label)',
            name,
          ),
        `the switch ${name}`,
      );
    }
    await until(async () => (await page.all('[role=switch][aria-checked=true]')).length === 2, 'two switches on');
    await desktop.screenshot('prompting-privacy');
    await page.click('settings-back');
    await ask(page, `Write to ${ADDRESS} that I sail.`);
    await receipt();
    await page.click('receipt-tab-exact');
    await until(async () => /byte for byte/.test(await (await page.testid('request-state')).text()), 'the request is proven');
    const body = await (await page.testid('request-body')).text();
    assert.ok(body.includes('Write to [email] that I sail.') && !body.includes(ADDRESS), body);
    await closed('receipt');
    assert.ok((await messages(page)).some((message) => message.text.includes(ADDRESS)), 'what was typed stays as it was');
  });

  test('the memory of a conversation says what is kept, also where that is nothing yet', async () => {
    await page.run('document.querySelector("[data-testid=conversation-menu]").click()');
    await page.click('conversation-memory');
    await page.testid('memory');
    await desktop.screenshot('prompting-memory');
    await closed('memory');
  });
});
