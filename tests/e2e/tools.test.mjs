// Tools of a program that nobody here wrote, on the real application: its whole command is shown before it is added, a
// companion gets it, each call is asked about, what it did is remembered, and a program that is gone is told. The model
// is scripted, because what is tested here is what becomes of its calls.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { App } from './app.mjs';
import { ask, firstRun, last, ownServer, send, settled } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { MODEL, scriptedModel } from './scripted_model.mjs';
import { Key, until } from './webdriver.mjs';

const FILES = fileURLToPath(new URL('../tools/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url));
/** Whatever a program needs to start on a slow machine, in milliseconds. */
const SLOW = { timeout: 60_000 };

/** Calls a tool for what the user says, and says what came of it. */
function play(folder, messages, tools) {
  const { role, content } = messages.at(-1);
  if (role === 'tool') return `The tool says: ${content}`;
  const named = (end) => tools.find((name) => name.endsWith(end));
  const said = messages.findLast((message) => message.role === 'user').content;
  const [, file] = /write (\S+)/i.exec(said) ?? [];
  if (file && named('write_file')) return { tool: named('write_file'), args: { path: path.join(folder, file), content: 'Sleep on it.\n' } };
  if (/just/.test(said) && named('get_recent_context')) return { tool: named('get_recent_context'), args: {} };
  return 'No tool is at hand.';
}

describe('tools of another program', { concurrency: 1 }, () => {
  let desktop, model, app, page, folder, broken;

  before(async () => {
    desktop = await Desktop.start();
    folder = path.join(desktop.home, 'My notes');
    await mkdir(folder);
    model = await scriptedModel((messages, tools) => play(folder, messages, tools));
    app = await App.open(desktop);
    page = app.page;
  });

  after(async () => {
    await desktop?.screenshot('tools-last').catch(() => {});
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
  });

  /** One stretch of the way; those behind a broken one would only wait in vain. */
  function step(name, body) {
    test(name, async (context) => {
      if (broken) return context.skip('an earlier step failed');
      broken = true;
      await body();
      broken = false;
    });
  }

  const says = (id, wanted, options) =>
    until(async () => wanted.test((await page.texts(id)).join('\n')), `${wanted} in ${id}`, options);
  /** A question takes no answer in its first moment. */
  const allow = async () => {
    await page.find('[data-testid="tool-once"]:enabled', SLOW);
    await page.click('tool-once');
  };
  const gone = (id) => until(async () => !(await page.has(id)), `${id} gone`);

  /** Fills in a server's dialog up to where its command is shown. */
  async function describeServer(name, program, args) {
    await page.click('server-new');
    await page.fill('server-name', name);
    await page.fill('server-program', program);
    if (args.length > 0) await page.fill('server-args', args.join(Key.Enter));
    await page.click('server-next');
    return (await page.testid('server-command')).text();
  }

  step('a program that is not there is told when it is tried', async () => {
    await firstRun(app, { chooseModel: ownServer(model.address, MODEL) });
    await page.click('open-settings');
    await page.click('tab-tools');
    await describeServer('Nobody', 'no-such-program-anywhere', []);
    await page.click('server-add');
    await says('error', /“no-such-program-anywhere” could not be started/, SLOW);
    await desktop.screenshot('tools-missing');
    await page.click('server-remove');
    await page.click('confirm-yes');
    await gone('tool-server');
  });

  step('the whole command is shown, and the tools are there once it is added', async () => {
    const command = await describeServer('Notes', process.execPath, [FILES, folder]);
    assert.equal(command, `${process.execPath} ${FILES} "${folder}"`);
    await desktop.screenshot('tools-command');
    await page.click('server-add');
    await until(async () => (await page.all('[data-testid="tool-rule"]')).length > 5, 'the tools', SLOW);
    await desktop.screenshot('tools-listed');
    await page.click('settings-back');
  });

  step('without being chosen for a companion a tool does not reach its model', async () => {
    assert.equal((await ask(page, 'Please write plan.md')).text, 'No tool is at hand.');
    await page.run('document.querySelector("[data-testid=context-menu]").click()');
    await page.click('context-edit');
    await (await page.find('[data-testid="context-tools"] summary')).click();
    await page.click('server-all');
    await desktop.screenshot('tools-chosen');
    await page.click('context-save');
    await gone('context-save');
  });

  step('a call waits for the user, who sees what would run; leaving the question denies it', async () => {
    const before = await send(page, 'Please write plan.md');
    await page.testid('tool-question', SLOW);
    assert.ok((await (await page.testid('tool-place')).text()).includes(FILES));
    assert.match(await (await page.testid('tool-arguments')).text(), /plan\.md[^]*Sleep on it\./);
    await desktop.screenshot('tools-question');
    assert.ok(!existsSync(path.join(folder, 'plan.md')));
    await page.keys(Key.Escape);
    const { text } = await settled(page, before);
    assert.match(text, /The tool says: .*(denied|not allow|refused|declined)/i);
    assert.ok(!existsSync(path.join(folder, 'plan.md')));
    await page.find('[data-end="refused"]');
  });

  step('an allowed call runs, and is shown with its result', async () => {
    const before = await send(page, 'Please write plan.md after all');
    await allow();
    const { text } = await settled(page, before);
    assert.match(text, /The tool says: .*Successfully wrote/);
    assert.equal(await readFile(path.join(folder, 'plan.md'), 'utf8'), 'Sleep on it.\n');
    await page.run('[...document.querySelectorAll("[data-testid=tool-use]")].at(-1).click()');
    await says('tool-result', /Successfully wrote/);
    await desktop.screenshot('tools-result');
  });

  step('what it just wrote is answered out of the record', async () => {
    const { text } = await ask(page, 'What did you just write?');
    assert.ok(text.includes('plan.md') && text.includes('write_file'), text);
    await page.run('document.querySelector("[data-testid=conversation-menu]").click()');
    await page.click('conversation-operations');
    await page.testid('operation');
    await says('operation-finds', /plan\.md/);
    await desktop.screenshot('tools-timeline');
  });

  step('a program that has died is started anew for the next call', async () => {
    await page.keys(Key.Escape);
    const before = (await last(page)).id;
    process.kill(await app.started(FILES), 'SIGKILL');
    await page.fill('composer-input', 'Please write again.md');
    await page.click('composer-send');
    await allow();
    await settled(page, before);
    assert.ok(existsSync(path.join(folder, 'again.md')));
  });
});
