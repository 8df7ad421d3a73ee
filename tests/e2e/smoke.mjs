// Two different messages to the built-in model through the real window, a restart, and both replies read from the page.
// Prints the replies; exits 0 only if both are there, not empty and not the same. Used by `scripts/run --smoke`.

import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { App } from './app.mjs';
import { ask, firstRun, reopened } from './companion.mjs';
import { Desktop } from './desktop.mjs';

const QUESTIONS = ['My brother broke my bicycle and laughed. I am furious!', 'Name three calm things to do on a rainy Sunday.'];

/** Plays the journey on a desktop of its own; gives question and reply pairs as read after the restart. */
export async function smoke() {
  const desktop = await Desktop.start();
  let app;
  try {
    const tray = await desktop.trayHost();
    app = await App.open(desktop);
    await firstRun(app);
    const written = [];
    for (const question of QUESTIONS) written.push((await ask(app.page, question)).text);
    await app.quit(tray);
    app = await App.open(desktop);
    const read = (await reopened(app)).filter((message) => message.role === 'assistant').map((message) => message.text);
    await desktop.screenshot('smoke');
    assert.equal(read.length, 2, 'two replies after the restart');
    assert.deepEqual(read, written, 'the replies after the restart are those that were written');
    for (const text of read) assert.notEqual(text, '', 'no reply is empty');
    assert.notEqual(read[0], read[1], 'the replies differ');
    return QUESTIONS.map((question, index) => ({ question, reply: read[index] }));
  } catch (error) {
    await desktop.screenshot('smoke-failed').catch(() => {});
    throw error;
  } finally {
    await app?.dispose();
    await desktop.stop();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { question, reply } of await smoke()) console.log(`You: ${question}\nCompanion: ${reply}\n`);
}
