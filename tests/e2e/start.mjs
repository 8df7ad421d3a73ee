// Starts the real app by turns on a full and on an empty vault and looks when its window can be used.
// Prints the milliseconds of each run as a line of JSON. `./scripts/bench start` runs it.
//
//   node start.mjs RUNS MESSAGES FOLDER

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { App } from './app.mjs';
import { Desktop } from './desktop.mjs';
import { until } from './webdriver.mjs';

/** Clock ticks of the kernel in a second, as /proc counts them (proc(5); the same on every Linux of today). */
const TICKS = 100;
/** What the app does in its first moments is left alone: looking at its page takes time from it. */
const QUIET_MILLIS = 2_500;
/** What the app before has left to the system is over by then. */
const REST_MILLIS = 1_500;

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** When a process was started, in milliseconds since 1970. */
async function startOf(pid) {
  const [stat, uptime] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile('/proc/uptime', 'utf8')]);
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  return Date.now() - (Number(uptime.split(' ')[0]) - ticks / TICKS) * 1_000;
}

/** When the page could be used and when it showed its messages, by its own marks, and what there is to be used. */
function readiness(page) {
  return page.run(
    `const at = (name) => performance.getEntriesByName(name)[0]?.startTime;
     return at('shown') && { usable: performance.timeOrigin + at('usable'), shown: performance.timeOrigin + at('shown'),
       composer: document.querySelector('[data-testid="composer-input"]') !== null,
       messages: document.querySelectorAll('[data-testid="message-text"]').length };`,
  );
}

/** Milliseconds from the start of the process to a window that can be used, and to one that shows its messages. */
async function start(desktop, tray, profile, isFull) {
  await pause(REST_MILLIS);
  const app = await App.open(desktop, { profile });
  try {
    await pause(QUIET_MILLIS);
    const ready = await until(() => readiness(app.page), 'a window that can be used', { timeout: 60_000 });
    assert.ok(ready.composer, 'there is a field to write in');
    assert.equal(ready.messages > 0, isFull, 'the messages of a full vault are shown');
    const began = await startOf(app.pid);
    await app.quit(tray);
    return { usable: ready.usable - began, shown: ready.shown - began };
  } catch (error) {
    await desktop.screenshot('start-failed').catch(() => {});
    throw error;
  } finally {
    await app.dispose();
  }
}

const [runs, messages, folder] = process.argv.slice(2);
const desktop = await Desktop.start();
try {
  const tray = await desktop.trayHost();
  const profiles = { full: path.join(folder, 'full'), empty: path.join(folder, 'empty') };
  for (const kind of ['full', 'empty'])
    await desktop.output(process.env.EVENKEEL_BENCH, ['profile-child', profiles[kind], kind === 'full' ? messages : '0'], { timeout: 600_000 });
  // The first run is thrown away: it fills the caches of the disk.
  for (let run = 0; run <= Number(runs); run += 1) {
    const took = { full: [], empty: [], fullShown: [], emptyShown: [] };
    for (const kind of ['full', 'empty', 'empty', 'full']) {
      const { usable, shown } = await start(desktop, tray, profiles[kind], kind === 'full');
      took[kind].push(usable);
      took[`${kind}Shown`].push(shown);
    }
    if (run > 0) console.log(JSON.stringify(took));
  }
} finally {
  await desktop.stop();
}
