// The protocol's own conformance suite against the running application, by HTTP.
//
// Most of its scenarios ask for tools, prompts and resources of an example server that it describes itself. What no
// application has is expected to fail, each for the reason that stands beside it; a scenario that is expected to fail and
// does not is a failure here too.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { App } from '../e2e/app.mjs';
import { firstRun, ownServer } from '../e2e/companion.mjs';
import { Desktop } from '../e2e/desktop.mjs';
import { MODEL, scriptedModel } from '../e2e/scripted_model.mjs';
import { Key, until } from '../e2e/webdriver.mjs';
import { newerNode, script } from './newer_node.mjs';

const NODE = newerNode();
const SUITE = script('conformance', 'dist', 'index.js');

const EXAMPLE = 'it asks for something of the example server alone';
/** The scenarios that fail, and why. */
const EXPECTED = {
  'completion-complete': `${EXAMPLE}: a prompt test_prompt_with_arguments`,
  'elicitation-sep1034-defaults': `${EXAMPLE}: a tool; Evenkeel asks nothing of the user by way of a program`,
  'elicitation-sep1330-enums': `${EXAMPLE}: a tool; Evenkeel asks nothing of the user by way of a program`,
  'json-schema-2020-12': `${EXAMPLE}: a tool with a schema that refers to its own parts`,
  'logging-set-level': 'Evenkeel sends no log to programs, and does not say that it does',
  'prompts-get-embedded-resource': `${EXAMPLE}: a prompt`,
  'prompts-get-simple': `${EXAMPLE}: a prompt`,
  'prompts-get-with-args': `${EXAMPLE}: a prompt`,
  'prompts-get-with-image': `${EXAMPLE}: a prompt`,
  'resources-read-binary': `${EXAMPLE}: a resource test://static-binary`,
  'resources-read-text': `${EXAMPLE}: a resource test://static-text`,
  'resources-subscribe': 'Evenkeel tells of changes of the list, not of single resources, and says so',
  'resources-templates-read': `${EXAMPLE}: a resource test://template`,
  'resources-unsubscribe': 'Evenkeel tells of changes of the list, not of single resources, and says so',
  'server-sse-polling': `${EXAMPLE}: a tool that breaks its answer off`,
  'tools-call-audio': `${EXAMPLE}: a tool`,
  'tools-call-elicitation': `${EXAMPLE}: a tool`,
  'tools-call-embedded-resource': `${EXAMPLE}: a tool`,
  'tools-call-error': `${EXAMPLE}: a tool that fails`,
  'tools-call-image': `${EXAMPLE}: a tool`,
  'tools-call-mixed-content': `${EXAMPLE}: a tool`,
  'tools-call-sampling': `${EXAMPLE}: a tool`,
  'tools-call-simple-text': `${EXAMPLE}: a tool`,
  'tools-call-with-logging': `${EXAMPLE}: a tool`,
  'tools-call-with-progress': `${EXAMPLE}: a tool`,
};

/** Passes on what the suite asks and shows the token, which the suite cannot. Local names become the application's own. */
async function shower(address, token) {
  const app = new URL('/mcp', address);
  const proxy = createServer((asked, answer) => {
    const own = (text) => text?.replace(/^(http:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]):\d+$/, `$1${app.host}`);
    const headers = { ...asked.headers, host: own(asked.headers.host), authorization: `Bearer ${token}` };
    if (headers.origin) headers.origin = own(headers.origin);
    const passed = request(app, { method: asked.method, headers, setHost: false }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { address: `http://127.0.0.1:${proxy.address().port}${app.pathname}`, stop: () => proxy.close().closeAllConnections() };
}

describe('the conformance suite', { concurrency: 1, skip: NODE === null && 'it needs a newer Node' }, () => {
  let desktop, model, app, proxy;

  before(async () => {
    model = await scriptedModel(() => 'Good.');
    desktop = await Desktop.start();
    app = await App.open(desktop);
    await firstRun(app, { chooseModel: ownServer(model.address, MODEL) });
    await app.page.click('open-settings');
    await app.page.click('tab-connections');
    await app.page.testid('server');
    await app.page.run('document.querySelector(\'[data-testid="server"] [role="switch"]\').click()');
    // The usual port may be another Evenkeel's; 0 is any that is free.
    const usual = await (await app.page.testid('server-port')).property('value');
    await app.page.fill('server-port', `0${Key.Tab}`);
    const address = await until(async () => {
      const said = await app.page.run('return document.querySelector(\'[data-testid="server-address"] bdi\')?.innerText');
      return said?.startsWith('http') && new URL(said).port !== usual && said;
    }, 'an address');
    await app.page.click('server-show');
    const token = await until(async () => {
      const said = await app.page.run('return document.querySelector(\'[data-testid="server-token"]\').innerText.trim()');
      return /^[\w-]{20,}$/.test(said) && said;
    }, 'the token');
    proxy = await shower(address, token);
  });

  after(async () => {
    proxy?.stop();
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
  });

  test('passes but for what is expected', async (context) => {
    const baseline = path.join(desktop.home, 'expected.yml');
    await writeFile(baseline, `server:\n${Object.keys(EXPECTED).map((name) => `  - ${name}\n`).join('')}`);
    const words = [SUITE, 'server', '--url', proxy.address, '--suite', 'all', '--expected-failures', baseline, '-o', path.join(desktop.home, 'results')];
    let said;
    try {
      said = await desktop.output(NODE, words, { timeout: 180_000 });
    } catch (error) {
      assert.fail(`${error.stdout}\n${error.stderr}`);
    }
    context.diagnostic(said.trim().split('\n').slice(-12).join('\n'));
  });
});
