// A whole desktop of its own for one test: X server, session bus, keyring, window manager, home folder.
// Real daemons throughout, because the states that matter (a locked keyring, no bus) are theirs, not ours.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from './webdriver.mjs';

const run = promisify(execFile);
const here = path.dirname(fileURLToPath(import.meta.url));

// The system's own Python, because the D-Bus modules are system packages.
const PYTHON = '/usr/bin/python3';

/** Password of the login keyring of every test desktop. */
export const KEYRING_PASSWORD = 'calm water';

/** Where pictures and logs go; kept after the run. */
export const ARTIFACTS = process.env.EVENKEEL_ARTIFACTS ?? path.join(tmpdir(), 'evenkeel-e2e');

/** What the bus may start by itself to draw the password question of a locked keyring. */
const PROMPTERS = ['org.gnome.keyring.SystemPrompter', 'org.gnome.keyring.PrivatePrompter'];

export class Desktop {
  /** Environment of every program on this desktop. */
  env = {};
  #children = [];
  #home;

  /**
   * Starts a desktop.
   * - `keyring`: `unlocked` (default), `locked`, or `none` (a bus without a secret service)
   * - `bus`: false leaves out the session bus
   * - `prompter`: true lets the bus start the dialog that asks for the keyring's password
   */
  static async start({ keyring = 'unlocked', bus = true, prompter = false, size = '1280x860' } = {}) {
    const desktop = new Desktop();
    try {
      await desktop.#folders();
      await desktop.#display(size);
      if (bus) {
        await desktop.#bus(prompter);
        if (keyring !== 'none') await desktop.startKeyring();
        if (keyring === 'locked') await desktop.lockKeyring();
      } else {
        // An unset address would make libraries launch a bus of their own.
        desktop.env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${desktop.home}/run/no-bus`;
      }
      desktop.spawn('openbox', ['--sm-disable']);
      return desktop;
    } catch (error) {
      await desktop.stop();
      throw error;
    }
  }

  /** The desktop's home folder. */
  get home() {
    return this.#home;
  }

  /** Ends every program of this desktop, last started first, and removes its home. */
  async stop() {
    for (const child of this.#children.toReversed()) await end(child);
    this.#children = [];
    if (this.#home) await rm(this.#home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Starts a program that lives as long as the desktop, or until {@link end}. Its output goes to a log file. */
  spawn(program, args = [], options = {}) {
    const child = spawn(program, args, {
      env: { ...this.env, ...options.env },
      cwd: this.#home,
      stdio: options.stdio ?? ['ignore', 'ignore', 'ignore'],
    });
    child.on('error', (error) => {
      child.failure = new Error(`${program} could not be started: ${error.message}. Run scripts/setup.`);
    });
    this.#children.push(child);
    return child;
  }

  /** Runs a program to its end and gives its standard output. */
  async output(program, args = [], { input, timeout = 20_000 } = {}) {
    const promise = run(program, args, { env: this.env, cwd: this.#home, timeout, maxBuffer: 64 << 20 });
    if (input !== undefined) promise.child.stdin.end(input);
    return (await promise).stdout;
  }

  /** Takes a picture of the whole screen. */
  async screenshot(name) {
    await mkdir(ARTIFACTS, { recursive: true });
    const file = path.join(ARTIFACTS, `${name}.png`);
    await this.output('import', ['-window', 'root', file]);
    return file;
  }

  /** Presses keys as a person at the keyboard does, for example `ctrl+shift+space`. */
  press(...keys) {
    return this.output('xdotool', ['key', '--clearmodifiers', ...keys]);
  }

  /** Types text into whatever window has the focus. */
  write(text) {
    return this.output('xdotool', ['type', '--delay', '15', text]);
  }

  /** Ids of the visible windows whose title matches. */
  async windows(title) {
    try {
      return (await this.output('xdotool', ['search', '--onlyvisible', '--name', title])).trim().split('\n').filter(Boolean);
    } catch {
      return []; // xdotool exits with 1 when it finds nothing
    }
  }

  /** Title of the window that has the focus; empty when none has. */
  async focused() {
    try {
      return (await this.output('xdotool', ['getactivewindow', 'getwindowname'])).trim();
    } catch {
      return '';
    }
  }

  /** Starts the secret service with the login keyring unlocked. */
  async startKeyring() {
    const keyring = this.spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    keyring.stdin.end(KEYRING_PASSWORD);
    await until(() => this.#ownsName('org.freedesktop.secrets'), 'the secret service');
    // The daemon answers on the bus before it has opened the login collection.
    await until(async () => (await this.#collection('Locked')).includes('false'), 'an unlocked keyring');
    return keyring;
  }

  /** Locks the login keyring; the next access needs its password. */
  async lockKeyring() {
    await this.#secretService('Lock', "['/org/freedesktop/secrets/collection/login']");
    await until(async () => (await this.#collection('Locked')).includes('true'), 'a locked keyring');
  }

  /** Unlocks the login keyring with its password, as signing in does. */
  async unlockKeyring() {
    await this.output(PYTHON, [path.join(here, 'unlock_keyring.py')], { input: KEYRING_PASSWORD });
    await until(async () => (await this.#collection('Locked')).includes('false'), 'an unlocked keyring');
  }

  /** Whether the dialog that asks for the keyring's password can come up. */
  async setPrompter(wanted) {
    await this.#placePrompter(wanted);
    await this.#gdbus('org.freedesktop.DBus', '/', 'org.freedesktop.DBus.ReloadConfig');
    const [prompter] = PROMPTERS;
    await until(async () => {
      const names = await this.#gdbus('org.freedesktop.DBus', '/', 'org.freedesktop.DBus.ListActivatableNames');
      return names.includes(prompter) === wanted;
    }, `the prompter to be ${wanted ? 'there' : 'gone'}`);
    // A dialog program that was started before stays on the bus until it is idle for a while.
    if (!wanted && (await this.#ownsName(prompter))) await this.#endOwner(prompter);
  }

  /** What `secret-tool` finds for an attribute, secrets included. */
  async searchSecrets(attribute, value) {
    // secret-tool prints attributes on standard error and the rest on standard output.
    const result = await run('secret-tool', ['search', '--all', '--unlock', attribute, value], { env: this.env, timeout: 20_000 });
    return `${result.stdout}\n${result.stderr}`;
  }

  /** Plays the panel that shows tray icons. */
  async trayHost() {
    const child = this.spawn(PYTHON, [path.join(here, 'tray_host.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    return TrayHost.over(child);
  }

  /** Plays the service that shows notifications; gives the list that they are added to, as title and text. */
  async notifications() {
    const child = this.spawn(PYTHON, [path.join(here, 'notification_host.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    if ((await lines.next()).done) throw new Error('The notification host ended (scripts/setup installs what it needs).');
    const heard = [];
    (async () => {
      for await (const line of lines) heard.push(JSON.parse(line));
    })();
    return heard;
  }

  async #folders() {
    this.#home = await mkdtemp(path.join(tmpdir(), 'evenkeel-desktop-'));
    const at = (name) => path.join(this.#home, name);
    for (const name of ['data', 'config', 'cache', 'state', 'run']) await mkdir(at(name));
    await chmod(at('run'), 0o700);
    this.env = {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: this.#home,
      XDG_RUNTIME_DIR: at('run'),
      XDG_DATA_HOME: at('data'),
      XDG_CONFIG_HOME: at('config'),
      XDG_CACHE_HOME: at('cache'),
      XDG_STATE_HOME: at('state'),
      XDG_SESSION_TYPE: 'x11',
      GDK_BACKEND: 'x11',
      NO_AT_BRIDGE: '1',
      // There is no GPU here; WebKit's buffer sharing would fail and leave the window white.
      LIBGL_ALWAYS_SOFTWARE: '1',
      WEBKIT_DISABLE_DMABUF_RENDERER: '1',
    };
    for (const [name, value] of Object.entries(process.env)) {
      if (name.startsWith('EVENKEEL_') || name.startsWith('RUST_')) this.env[name] = value;
    }
  }

  async #display(size) {
    // The server itself picks a free number and writes it to descriptor 3.
    const server = this.spawn('Xvfb', ['-displayfd', '3', '-screen', '0', `${size}x24`, '-nolisten', 'tcp', '-noreset'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    this.env.DISPLAY = `:${await firstLine(server, server.stdio[3], 'Xvfb')}`;
  }

  async #bus(prompter) {
    await mkdir(this.#services(), { recursive: true });
    await this.#placePrompter(prompter);
    // The system's configuration would start a locked gnome-keyring by itself and hide the state "no service".
    const config = path.join(this.#home, 'bus', 'session.conf');
    await writeFile(
      config,
      `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${this.#home}/run/bus</listen><servicedir>${this.#services()}</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
    );
    const daemon = this.spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--nopidfile', '--print-address=1'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.env.DBUS_SESSION_BUS_ADDRESS = await firstLine(daemon, daemon.stdout, 'dbus-daemon');
  }

  #services() {
    return path.join(this.#home, 'bus', 'services');
  }

  async #placePrompter(wanted) {
    for (const name of PROMPTERS) {
      const here = path.join(this.#services(), `${name}.service`);
      if (wanted) await copyFile(`/usr/share/dbus-1/services/${name}.service`, here);
      else await rm(here, { force: true });
    }
  }

  async #ownsName(name) {
    const answer = await this.#gdbus('org.freedesktop.DBus', '/', 'org.freedesktop.DBus.NameHasOwner', name);
    return answer.includes('true');
  }

  async #endOwner(name) {
    const answer = await this.#gdbus('org.freedesktop.DBus', '/', 'org.freedesktop.DBus.GetConnectionUnixProcessID', name);
    process.kill(Number(answer.match(/uint32 (\d+)/)[1]), 'SIGTERM');
    await until(async () => !(await this.#ownsName(name)), `${name} to leave the bus`);
  }

  #collection(property) {
    return this.#gdbus(
      'org.freedesktop.secrets',
      '/org/freedesktop/secrets/collection/login',
      'org.freedesktop.DBus.Properties.Get',
      'org.freedesktop.Secret.Collection',
      property,
    );
  }

  #secretService(method, ...args) {
    return this.#gdbus('org.freedesktop.secrets', '/org/freedesktop/secrets', `org.freedesktop.Secret.Service.${method}`, ...args);
  }

  #gdbus(name, object, method, ...args) {
    return this.output('gdbus', ['call', '--session', '--dest', name, '--object-path', object, '--method', method, ...args]);
  }
}

/** The panel's side of a tray icon, spoken to line by line with {@link file://./tray_host.py}. */
class TrayHost {
  #lines;
  #child;

  static async over(child) {
    const host = new TrayHost();
    host.#child = child;
    host.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await host.#answer();
    return host;
  }

  /** Labels of the menu of the tray icon, waited for. */
  menu() {
    return until(async () => {
      const { labels } = await this.#ask({ do: 'menu' });
      return labels.length > 0 && labels;
    }, 'a tray icon with a menu');
  }

  /** Chooses the entry whose label contains `label`. */
  async choose(label) {
    const { error } = await this.#ask({ do: 'choose', label });
    if (error) throw new Error(error);
  }

  /** Title, status and icon facts of the tray icon. */
  item() {
    return this.#ask({ do: 'item' });
  }

  async #ask(question) {
    this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    return this.#answer();
  }

  async #answer() {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('The tray host ended: /usr/bin/python3 needs python3-dbus and python3-gi (scripts/setup installs them).');
    return JSON.parse(value);
  }
}

/** Ends one child: asks, waits, then kills. */
export async function end(child, patience = 3000) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), patience);
  await gone;
  clearTimeout(timer);
}

/** A TCP port on loopback that was free a moment ago. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function firstLine(child, stream, name) {
  let text = '';
  stream.setEncoding('utf8');
  const reading = (async () => {
    for await (const chunk of stream) {
      text += chunk;
      if (text.includes('\n')) return text.split('\n')[0].trim();
    }
    throw child.failure ?? new Error(`${name} ended before it was ready.`);
  })();
  return reading;
}
