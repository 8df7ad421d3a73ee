// The protocol's own inspector as a client of the real application: what it sees, and what it may do once the user says so.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { App, BINARY } from '../e2e/app.mjs';
import { firstRun, ownServer } from '../e2e/companion.mjs';
import { Desktop } from '../e2e/desktop.mjs';
import { MODEL, scriptedModel } from '../e2e/scripted_model.mjs';
import { until } from '../e2e/webdriver.mjs';
import { newerNode, script } from './newer_node.mjs';

const NODE = newerNode();
const INSPECTOR = script('inspector', 'clients', 'launcher', 'build', 'index.js');
const REPLY = 'One breath, then the next step.';
/** The protocol with `initialize`, and the one without sessions. */
const ERAS = ['legacy', 'modern'];
/** What the server's process needs of the desktop's environment; the inspector passes on nothing else. */
const PASSED = ['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'];

describe('the inspector', { concurrency: 1, skip: NODE === null && 'it needs a newer Node' }, () => {
  let desktop, model, app;

  before(async () => {
    model = await scriptedModel(() => REPLY);
    desktop = await Desktop.start();
    app = await App.open(desktop);
    await firstRun(app, { chooseModel: ownServer(model.address, MODEL) });
  });

  after(async () => {
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
  });

  /** Runs one method; a result that says it is an error is one here too, and ends the inspector with a code. */
  async function inspect(era, method, ...rest) {
    const passed = PASSED.flatMap((name) => ['-e', `${name}=${desktop.env[name]}`]);
    const words = [INSPECTOR, '--cli', ...passed, BINARY, 'mcp', '--profile', app.profile, '--protocol-era', era, '--method', method, ...rest];
    let said;
    try {
      said = await desktop.output(NODE, words, { timeout: 60_000 });
    } catch (error) {
      said = error.stdout;
      if (!said) throw new Error(`the inspector said nothing: ${error.stderr}`, { cause: error });
    }
    return JSON.parse(said);
  }

  const call = (era, tool, args) =>
    inspect(
      era,
      'tools/call',
      '--tool-name',
      tool,
      ...Object.entries(args).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]),
    );

  for (const era of ERAS) {
    test(`lists the tools, whose schemas it can read (${era})`, async () => {
      const { tools } = await inspect(era, 'tools/list', '--strict');
      const names = tools.map((tool) => tool.name);
      for (const name of ['context-manage', 'personality-preset-manage', 'context-chat', 'conversation-manage'])
        assert.ok(names.includes(name), `${names}`);
      assert.ok(tools.every((tool) => tool.description && tool.inputSchema.type === 'object' && tool.outputSchema));
    });

    test(`reads resources and prompts (${era})`, async () => {
      const { resources } = await inspect(era, 'resources/list');
      assert.ok(resources.some((one) => one.uri === 'mcp-llm-generator://contexts'));
      const { resourceTemplates } = await inspect(era, 'resources/templates/list');
      assert.ok(resourceTemplates.some((one) => one.uriTemplate.endsWith('context/{contextId}')));
      const { contents } = await inspect(era, 'resources/read', '--uri', 'mcp-llm-generator://personality-presets');
      assert.ok(contents[0].text.includes('preset-calm-counselor'));
      const { prompts } = await inspect(era, 'prompts/list');
      assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), ['context-summary', 'personality-creator']);
      const words = ['--prompt-args', 'role=a gardener', 'traits=patient', 'scenario=a dry summer'];
      const { messages } = await inspect(era, 'prompts/get', '--prompt-name', 'personality-creator', ...words);
      assert.ok(messages[0].content.text.includes('gardener'));
    });
  }

  test('may read, and talks only once the user allows it', async () => {
    const { structuredContent: listed } = await call('legacy', 'context-manage', { action: 'list' });
    assert.equal(listed.totalCount, 1);
    const { id, name } = listed.contexts[0];
    const words = { contextId: id, message: 'Everything is too much today.' };
    for (const era of ERAS) {
      const refused = await call(era, 'context-chat', words);
      assert.equal(refused.isError, true);
      assert.equal(refused.structuredContent.error.code, 'not_permitted');
    }

    await app.page.click('open-settings');
    await app.page.click('tab-connections');
    await app.page.testid('connection');
    await app.page.run('document.querySelector(\'[data-testid="connection"] [role="switch"]\').click()');
    for (const era of ERAS)
      await until(async () => {
        const { structuredContent: said } = await call(era, 'context-chat', words);
        return said.success && said.response === REPLY && said.contextName === name;
      }, 'a reply of the companion');
    await app.page.testid('access');
  });

  test('a wrong argument is named, with what there is', async () => {
    const unknown = await call('modern', 'context-manage', { action: 'get', contextId: '00000000-0000-7000-8000-000000000000' });
    assert.equal(unknown.structuredContent.error.code, 'not_found');
    const wrong = await call('modern', 'context-manage', { action: 'list', pageSize: 'many' });
    assert.equal(wrong.structuredContent.error.details.field, 'pageSize');
  });
});
