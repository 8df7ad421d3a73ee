// The real application on a test desktop, driven through tauri-driver and WebKitWebDriver.

import { createWriteStream } from 'node:fs';
import { access, mkdir, readFile, readdir, readlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { ARTIFACTS, end, freePort } from './desktop.mjs';
import { Session, until } from './webdriver.mjs';

const CACHE = process.env.EVENKEEL_CACHE ?? path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'evenkeel');
const TOOLS = process.env.EVENKEEL_TOOLS ?? path.join(CACHE, 'tools');

/** The program under test. */
export const BINARY =
  process.env.EVENKEEL_BINARY ?? path.join(process.env.CARGO_TARGET_DIR ?? path.join(CACHE, 'target'), 'debug', 'evenkeel');

let starts = 0;

export class App {
  /** The WebDriver session of the window. */
  page;
  /** Process id of the application. */
  pid;
  #desktop;
  #profile;
  #driver;

  /**
   * Opens the application with the profile folder `profile` and waits for its window.
   * `binary` and `args` replace the program, which lets the harness be tested without it.
   */
  static async open(desktop, { profile, binary = BINARY, args, env = {} } = {}) {
    await access(binary).catch(() => {
      throw new Error(`${binary} does not exist: build the application first (scripts/test does).`);
    });
    const app = new App();
    app.#desktop = desktop;
    app.#profile = profile ?? path.join(desktop.home, 'profile');
    const port = await freePort();
    app.#driver = await startDriver(desktop, port, env);
    const words = args ?? ['--profile', app.#profile];
    try {
      app.page = await openSession(`http://127.0.0.1:${port}`, binary, words);
      app.pid = await until(() => newestProcess(binary, app.#driver.pid), 'the application process');
      if (binary === BINARY && !words.includes('quick')) await app.#mainWindow();
    } catch (error) {
      await desktop.screenshot(`failed-start-${starts}`).catch(() => {});
      await end(app.#driver);
      throw error;
    }
    return app;
  }

  /** Both windows are made at the start, and the driver may attach to either of them first. */
  async #mainWindow() {
    await until(
      async () => {
        for (const handle of await this.page.windows()) {
          await this.page.switchTo(handle);
          const address = await this.page.run('return location.href');
          if (address.startsWith('tauri:') && !address.includes('quick-chat.html')) return true;
        }
        return undefined;
      },
      'the main window',
      { timeout: 60_000 },
    );
  }

  /** The profile folder. */
  get profile() {
    return this.#profile;
  }

  /** Whether the process is still there. */
  async running() {
    const state = await processState(this.pid);
    return state !== undefined && state !== 'Z';
  }

  /** Process id of the engine child, waited for. */
  engine(options) {
    return until(() => this.engineNow(), 'the engine process', options);
  }

  /** Process id of the engine child at this moment. */
  async engineNow() {
    for (const { pid, parent, words } of await processes()) {
      if (parent === this.pid && words[1] === 'engine' && (await processState(pid)) !== 'Z') return pid;
    }
    return undefined;
  }

  /** Process id of the program that the application started with this word, waited for. */
  started(word) {
    return until(async () => (await processes()).find(({ parent, words }) => parent === this.pid && words.includes(word))?.pid, word);
  }

  /** Kills the application as a power cut would. */
  async kill() {
    process.kill(this.pid, 'SIGKILL');
    await this.gone();
  }

  /** Waits until the process has ended, then ends the driver. */
  async gone(timeout = 20_000) {
    await until(async () => !(await this.running()), 'the application to end', { timeout });
    await end(this.#driver);
  }

  /** Quits in an orderly way, by the entry of the tray menu. */
  async quit(tray) {
    await tray.choose('Quit');
    await this.gone();
  }

  /** For clean-up after a test, in whatever state the application is. */
  async dispose() {
    if (this.pid && (await this.running())) {
      process.kill(this.pid, 'SIGKILL');
      await this.gone().catch(() => {});
    }
    await end(this.#driver);
  }

  /** Runs the application's program once more beside the open one, as a shortcut of the desktop does. */
  second(...args) {
    return this.#desktop.output(BINARY, ['--profile', this.#profile, ...args]);
  }

  /** Switches the session to the window whose page has the element; windows are listed also while hidden. */
  async focusWindowWith(testid) {
    return until(async () => {
      for (const handle of await this.page.windows()) {
        await this.page.switchTo(handle);
        if (await this.page.has(testid)) return handle;
      }
      return undefined;
    }, `a window with ${testid}`);
  }
}

async function startDriver(desktop, port, env) {
  await mkdir(ARTIFACTS, { recursive: true });
  starts += 1;
  const driver = desktop.spawn(
    path.join(TOOLS, 'bin', 'tauri-driver'),
    ['--port', String(port), '--native-port', String(await freePort()), '--native-driver', '/usr/bin/WebKitWebDriver'],
    { stdio: ['ignore', 'pipe', 'pipe'], env },
  );
  // The application inherits these descriptors, so its log ends up here too.
  const log = createWriteStream(path.join(ARTIFACTS, `app-${process.pid}-${starts}.log`));
  driver.stdout.pipe(log, { end: false });
  driver.stderr.pipe(log, { end: false });
  return driver;
}

async function openSession(server, binary, args) {
  // The driver needs a moment until it listens; a refused connection is the only thing worth another try.
  await until(() => fetch(`${server}/status`).then(() => true), 'tauri-driver to listen (scripts/setup installs it)');
  return Session.open(server, binary, args);
}

async function processState(pid) {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0];
  } catch {
    return undefined;
  }
}

async function processes() {
  const found = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = await readFile(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
      const words = (await readFile(`/proc/${name}/cmdline`, 'utf8')).split('\0');
      found.push({ pid: Number(name), parent, words });
    } catch {
      // ended while we looked
    }
  }
  return found;
}

/** The process of `binary` below the driver: the driver starts WebKitWebDriver, which starts the application. */
async function newestProcess(binary, driver) {
  const all = await processes();
  const below = new Set([driver]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, parent } of all) {
      if (below.has(parent) && !below.has(pid)) {
        below.add(pid);
        grew = true;
      }
    }
  }
  for (const { pid, words } of all) {
    if (!below.has(pid) || words[1] === 'engine') continue;
    if ((await readlink(`/proc/${pid}/exe`).catch(() => '')) === binary) return pid;
  }
  return undefined;
}
