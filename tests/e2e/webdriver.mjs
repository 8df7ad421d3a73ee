// A client for the part of the W3C WebDriver protocol that the journeys use. The protocol is JSON over HTTP and
// stable, so a hundred lines replace a dependency with its own driver management and Node requirements.

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Private-use code points that WebDriver reads as keys. */
export const Key = { Enter: '\uE007', Escape: '\uE00C', Tab: '\uE004', Control: '\uE009', Shift: '\uE008', Backspace: '\uE003' };

/** What the driver answered instead of a result; `code` is the protocol's error string, such as `no such element`. */
export class WebDriverError extends Error {
  constructor(code, message) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/**
 * Asks `probe` until it gives something truthy, and returns that.
 * A throwing probe counts as "not yet"; its last error becomes part of the message.
 */
export async function until(probe, what, { timeout = 20_000, interval = 100 } = {}) {
  const end = Date.now() + timeout;
  let last;
  for (;;) {
    try {
      const value = await probe();
      if (value) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() >= end) {
      throw new Error(`Waited ${timeout / 1000} s for ${what}${last ? `; last error: ${last.message}` : ''}.`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

/** One WebDriver session. */
export class Session {
  #base;

  constructor(server, id) {
    this.#base = `${server}/session/${id}`;
  }

  /** Opens the program `application` with `args`; `server` is the driver's address. */
  static async open(server, application, args = []) {
    const value = await call('POST', `${server}/session`, {
      capabilities: { alwaysMatch: { 'tauri:options': { application, args } } },
    });
    const session = new Session(server, value.sessionId);
    // Page scripts here are short; a hang must not cost the driver's default half minute.
    await session.#post('timeouts', { script: 20_000, pageLoad: 30_000, implicit: 0 });
    return session;
  }

  /** Ends the session. The driver then kills the program, so whoever tests an orderly end quits it first. */
  close() {
    return call('DELETE', this.#base);
  }

  windows() {
    return this.#get('window/handles');
  }

  switchTo(handle) {
    return this.#post('window', { handle });
  }

  goTo(url) {
    return this.#post('url', { url });
  }

  /** Runs the body of a function in the page; further arguments arrive as `arguments`. */
  run(body, ...args) {
    return this.#post('execute/sync', { script: body, args });
  }

  /** Runs the body of a function whose last argument takes the result. */
  runAsync(body, ...args) {
    return this.#post('execute/async', { script: body, args });
  }

  /** Sends keys to whatever has the focus. */
  async keys(...keys) {
    const actions = keys.map((value) => ({ type: 'keyDown', value }));
    const ups = keys.toReversed().map((value) => ({ type: 'keyUp', value }));
    await this.#post('actions', { actions: [{ type: 'key', id: 'keyboard', actions: [...actions, ...ups] }] });
  }

  async all(css) {
    const found = await this.#post('elements', { using: 'css selector', value: css });
    return found.map((entry) => new Element(this, entry[ELEMENT]));
  }

  /** The first element that matches, waited for. */
  async find(css, options) {
    try {
      return await until(async () => (await this.all(css))[0], `an element ${css}`, options);
    } catch (error) {
      if (options?.timeout !== 0) error.message += ` The page: ${await this.#describe()}`;
      throw error;
    }
  }

  /** Where the page is and what of it can be found, for an error that has to be understood later. */
  async #describe() {
    const seen = 'return location.href + " " + [...document.querySelectorAll("[data-testid]")].map((e) => e.dataset.testid).join(" ")';
    return this.run(seen).catch((error) => error.message);
  }

  /** Finds by `data-testid`. */
  testid(id, options) {
    return this.find(`[data-testid="${id}"]`, options);
  }

  /** Whether an element with this `data-testid` is in the page now. */
  async has(id) {
    return (await this.all(`[data-testid="${id}"]`)).length > 0;
  }

  /** Texts of all elements with this `data-testid`, in document order, read in one go. */
  texts(id) {
    return this.run('return [...document.querySelectorAll(`[data-testid="${arguments[0]}"]`)].map((e) => e.innerText.trim())', id);
  }

  /** Waits until the element can be clicked, and clicks it. */
  async click(id, options) {
    return until(
      async () => {
        await (await this.testid(id, { timeout: 0 })).click();
        return true;
      },
      `a click on ${id}`,
      options,
    );
  }

  /** Types into a field after emptying it. */
  async fill(id, text) {
    const field = await this.testid(id);
    if (await field.property('value')) await field.clear();
    await field.type(text);
  }

  elementGet(id, path) {
    return this.#get(`element/${id}/${path}`);
  }

  elementPost(id, path, body = {}) {
    return this.#post(`element/${id}/${path}`, body);
  }

  #get(path) {
    return call('GET', `${this.#base}/${path}`);
  }

  #post(path, body) {
    return call('POST', `${this.#base}/${path}`, body);
  }
}

/** An element of the page. */
class Element {
  #session;
  #id;

  constructor(session, id) {
    this.#session = session;
    this.#id = id;
  }

  click() {
    return this.#session.elementPost(this.#id, 'click');
  }

  clear() {
    return this.#session.elementPost(this.#id, 'clear');
  }

  type(text) {
    return this.#session.elementPost(this.#id, 'value', { text });
  }

  text() {
    return this.#session.elementGet(this.#id, 'text');
  }

  attribute(name) {
    return this.#session.elementGet(this.#id, `attribute/${name}`);
  }

  property(name) {
    return this.#session.elementGet(this.#id, `property/${name}`);
  }

  enabled() {
    return this.#session.elementGet(this.#id, 'enabled');
  }
}

async function call(method, url, body) {
  const response = await fetch(url, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  const { value } = await response.json();
  if (value?.error) throw new WebDriverError(value.error, value.message);
  return value;
}
