// What the page itself would never send, sent from the real page: refused with a reason, and nothing is stored.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { firstRun } from './companion.mjs';
import { Desktop } from './desktop.mjs';

describe('bad input at the border', { concurrency: 1 }, () => {
  let desktop, app;

  before(async () => {
    desktop = await Desktop.start();
    app = await App.open(desktop);
    await firstRun(app);
  });

  after(async () => {
    await app?.dispose();
    await desktop?.stop();
  });

  /** Calls a command with arguments written in JavaScript; gives `[true, value]` or `[false, error]`. */
  const call = (command, args) =>
    app.page.runAsync(
      `const done = arguments[arguments.length - 1];
       window.__TAURI_INTERNALS__.invoke(${JSON.stringify(command)}, ${args}).then((value) => done([true, value]), (error) => done([false, error]));`,
    );

  test('half a surrogate pair is refused before a command runs', async () => {
    const [contextId] = await app.page.run('return [...document.querySelectorAll("[data-context-id]")].map((e) => e.dataset.contextId)');
    const text = String.raw`"before \ud800 after"`;
    const [worked, error] = await call(
      'chat_send',
      `{ request: { kind: 'new', contextId: '${contextId}', conversationId: null, text: ${text} }, channel: '__CHANNEL__:7' }`,
    );
    assert.equal(worked, false);
    assert.match(JSON.stringify(error), /surrogate|hex escape/);
    const [listed, page] = await call('conversation_list', `{ query: { contextId: '${contextId}' } }`);
    assert.deepEqual([listed, page.totalCount], [true, 0]);
  });

  test('a folder and half a model file are refused in words', async () => {
    const folder = path.join(desktop.home, 'folder.gguf');
    const half = path.join(desktop.home, 'half.gguf');
    await mkdir(folder);
    await writeFile(half, 'GGUF');
    for (const file of [folder, half]) {
      const [worked, error] = await call('model_file_add', JSON.stringify({ path: file }));
      assert.deepEqual([worked, error.code], [false, 'model_file_invalid']);
      assert.ok(error.message.includes(file), error.message);
    }
  });
});
