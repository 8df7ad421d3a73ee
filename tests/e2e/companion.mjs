// What a person does in the windows, in the words of the app: first run, contexts, messages, branches.

import { until } from './webdriver.mjs';

/** A reply of the built-in model may take this long on a slow machine, in milliseconds. */
const REPLY = 180_000;
/** The first window of a debug build may take this long, in milliseconds. */
const START = 60_000;

/**
 * Starts the app's first run up to the composer of a Calm Counselor; gives the recovery code's groups.
 * `chooseModel` chooses another model than the built-in one.
 */
export async function firstRun(app, { screenshot = async () => {}, passphrase, chooseModel } = {}) {
  const { page } = app;
  await page.testid('welcome-start', { timeout: START });
  await screenshot('welcome');
  await page.click('welcome-start');
  await page.click('notice-accept');
  await page.testid('vault-create');
  if (passphrase) {
    await page.click('vault-way-passphrase');
    await page.fill('vault-passphrase', passphrase);
    await page.fill('vault-passphrase-again', passphrase);
  }
  await screenshot('vault');
  await page.click('vault-create');
  const groups = await recoveryGroups(page);
  await screenshot('recovery-code');
  await page.click('recovery-next');
  await typeRecoveryBack(page, groups);
  await screenshot('recovery-check');
  await page.click('recovery-confirm');
  await page.testid('offer-builtIn');
  await screenshot('model-choice');
  await (chooseModel ? chooseModel(page) : page.click('offer-builtIn'));
  await createContext(app, 'preset-calm-counselor', { screenshot });
  return groups;
}

/** The groups as they stand on the page; each begins with its number. */
async function recoveryGroups(page) {
  return until(async () => {
    const shown = await page.run('return [...document.querySelectorAll(\'[data-testid="recovery-groups"] > *\')].map((e) => e.innerText)');
    return shown.length > 0 && shown.map((text) => text.trim().split(/\s+/).at(-1));
  }, 'the recovery code');
}

async function typeRecoveryBack(page, groups) {
  const asked = await until(async () => {
    const fields = await page.run(
      'return [...document.querySelectorAll(\'[data-testid^="recovery-input-"]\')].map((e) => [e.dataset.testid, Number(e.dataset.group)])',
    );
    return fields.length > 0 && fields;
  }, 'the question for parts of the recovery code');
  for (const [id, group] of asked) await page.fill(id, groups[group]);
}

/** Chooses a server of one's own by its address, and one of its models. */
export function ownServer(address, model) {
  return async (page) => {
    await page.click('offer-cloud');
    await page.click('template-openai');
    await page.fill('provider-name', 'My own server');
    await page.fill('provider-url', address);
    await page.click('provider-save');
    await page.testid('cloud-model');
    await page.run(
      `const list = document.querySelector('[data-testid="cloud-model"]');
       list.selectedIndex = [...list.options].findIndex((option) => option.text === arguments[0]);
       list.dispatchEvent(new Event('change', { bubbles: true }));`,
      model,
    );
  };
}

/** Makes a context from a preset and waits for its composer. */
export async function createContext(app, preset, { screenshot = async () => {} } = {}) {
  const { page } = app;
  await page.testid(preset);
  await screenshot('presets');
  await page.click(preset);
  await page.testid('composer-input');
}

// The list keeps a new message hidden until it is measured, and a hidden element has no inner text: it is not there yet.
const READ_MESSAGES = `
  const seen = (e) => getComputedStyle(e).visibility !== 'hidden';
  const read = () => [...document.querySelectorAll('[data-testid="message-user"], [data-testid="message-assistant"]')].filter(seen).map((e) => ({
    role: e.dataset.testid.slice('message-'.length),
    id: e.dataset.messageId,
    status: e.dataset.status,
    text: (e.querySelector('[data-testid="message-text"]')?.innerText ?? '').trim(),
  }));`;

/** The messages that are drawn at this moment: the list draws only what is near the visible part. */
export function drawn(page) {
  return page.run(`${READ_MESSAGES} return read();`);
}

/** The last message, which is in view unless somebody scrolled away. */
export async function last(page) {
  return (await drawn(page)).at(-1);
}

/** All messages of the branch that is shown, read by scrolling through them as a person would. */
export function messages(page) {
  return page.runAsync(`${READ_MESSAGES}
    const done = arguments[arguments.length - 1];
    const box = document.querySelector('[data-testid="messages"]');
    const frames = async () => { for (let i = 0; i < 3; i += 1) await new Promise((next) => setTimeout(next, 16)); };
    (async () => {
      const found = new Map();
      const take = () => { for (const message of read()) found.set(message.id, message); };
      if (box) {
        box.scrollTop = 0;
        for (;;) {
          await frames();
          take();
          if (box.scrollTop + box.clientHeight >= box.scrollHeight - 2) break;
          box.scrollTop += box.clientHeight / 2;
        }
      }
      take();
      done([...found.values()]);
    })();`);
}

/** Types a message and sends it; gives the id of the message that was last before. */
export async function send(page, text) {
  const before = (await last(page))?.id;
  await page.fill('composer-input', text);
  await page.click('composer-send');
  return before;
}

/** Waits until the last reply is being written and has some text. */
export async function streaming(page, characters = 20) {
  return until(
    async () => {
      const now = await last(page);
      return now?.status === 'streaming' && now.text.length >= characters && now;
    },
    'a reply that is being written',
    { timeout: REPLY, interval: 40 },
  );
}

/** Waits until a reply other than `before` is last and no longer being written; gives it. */
export async function settled(page, before) {
  return until(
    async () => {
      const now = await last(page);
      const ended = now?.role === 'assistant' && now.id !== before && now.status !== 'streaming';
      return ended && !(await page.has('composer-stop')) && now;
    },
    'a finished reply',
    { timeout: REPLY },
  );
}

/** Sends a message and gives the finished reply. */
export async function ask(page, text) {
  const before = await send(page, text);
  return settled(page, before);
}

/** After a start: opens the newest conversation where the app did not do so by itself; gives its messages. */
export async function reopened(app) {
  const { page } = app;
  await page.testid('composer-input', { timeout: START });
  await until(
    async () => {
      if (await last(page)) return true;
      await page.click('conversation-item', { timeout: 500 });
      return undefined;
    },
    'the messages of the earlier conversation',
    { timeout: 30_000 },
  );
  // The list jumps to its end once it has measured its rows: two equal readings mean that it has.
  let earlier = [];
  return until(
    async () => {
      const now = await messages(page);
      const steady = now.length > 0 && now.length === earlier.length;
      earlier = now;
      return steady && now;
    },
    'the whole conversation',
    { timeout: 30_000, interval: 500 },
  );
}
