// What a model writes cannot make the real window load anything or go anywhere: a listener counts who connects.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun, ownServer } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { vectors } from './hostile_vectors.mjs';
import { MODEL, scriptedModel } from './scripted_model.mjs';
import { Key, until } from './webdriver.mjs';

/** Vectors in one reply. */
const TOGETHER = 20;
/** Time in which whatever would be loaded would have been, in milliseconds. */
const PATIENCE = 3_000;

/** Time between two attempts, so that a connection can be told from the next one's, in milliseconds. */
const SETTLING = 300;
/** A connection over which nothing was sent, such as a web view makes ahead of asking whether it may go there. */
const SILENT = 'a connection';

/** What a page does that tries to get out by script; `url` is an address on the listener. */
const ATTEMPTS = [
  'location.href = url',
  'location.assign(url)',
  'location.replace(url)',
  'window.open(url)',
  'window.open(url, "_self")',
  'Object.assign(document.createElement("a"), { href: url }).click()',
  'Object.assign(document.createElement("a"), { href: url, target: "_blank" }).click()',
  '{ const form = document.body.appendChild(Object.assign(document.createElement("form"), { action: url })); form.submit(); form.remove(); }',
  'document.head.append(Object.assign(document.createElement("meta"), { httpEquiv: "refresh", content: `0;url=${url}` }))',
  'document.body.append(Object.assign(document.createElement("iframe"), { src: url }))',
  'document.body.append(Object.assign(document.createElement("object"), { data: url }))',
  'document.body.append(Object.assign(document.createElement("embed"), { src: url }))',
  'new Image().src = url',
  'document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: url }))',
  'document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: url }))',
  'document.body.style.backgroundImage = `url(${url})`',
  'new FontFace("x", `url(${url})`).load().catch(() => {})',
  'fetch(url).catch(() => {})',
  'fetch(url, { mode: "no-cors" }).catch(() => {})',
  '{ const request = new XMLHttpRequest(); request.open("GET", url); request.send(); }',
  'navigator.sendBeacon(url)',
  'new WebSocket(url.replace("http", "ws"))',
  'new EventSource(url)',
  'new Worker(url)',
  'import(url).catch(() => {})',
  'document.body.append(Object.assign(document.createElement("video"), { src: url, autoplay: true }))',
  'new Audio(url).play().catch(() => {})',
];

/** Notes who connects to a port of its own, by the first line that is sent. */
async function listener() {
  const accepted = [];
  const server = createServer((socket) => {
    const place = accepted.push(SILENT) - 1;
    socket.on('error', () => {});
    socket.once('data', (data) => {
      accepted[place] = data.toString('latin1').split('\r\n')[0];
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  return { port, at: (number) => `http://127.0.0.1:${port}/${number}`, accepted, stop: () => server.close() };
}

describe('hostile replies in the real window', { concurrency: 1 }, () => {
  let desktop, model, app, listening, texts;

  before(async () => {
    listening = await listener();
    texts = vectors(listening.at);
    model = await scriptedModel((asked) => {
      const said = asked.findLast((message) => message.role === 'user').content;
      if (said.startsWith('a link')) return `[a link](${listening.at('link')})`;
      const batch = /^batch (\d+)/m.exec(said);
      return batch ? batchOf(Number(batch[1])).map(([mark, text]) => `${mark}\n\n${text}`).join('\n\n') : 'A talk';
    });
    desktop = await Desktop.start();
    app = await App.open(desktop);
    await firstRun(app, { chooseModel: ownServer(model.address, MODEL) });
  });

  after(async () => {
    await app?.dispose();
    await desktop?.stop();
    model?.stop();
    listening?.stop();
  });

  /** The vectors of a reply, each with the mark that stands before it. */
  const batchOf = (batch) => {
    const first = batch * TOGETHER;
    return texts.slice(first, first + TOGETHER).map((text, place) => [`vector${first + place}end`, text]);
  };

  const pause = () => new Promise((next) => setTimeout(next, PATIENCE));

  test('the listener counts', async () => {
    const socket = connect(listening.port, '127.0.0.1', () => socket.write('the test itself\r\n'));
    await once(socket, 'close');
    assert.deepEqual(listening.accepted.splice(0), ['the test itself']);
  });

  test('no reply makes the window load anything', async () => {
    assert.ok(texts.length >= 300, `${texts.length} vectors`);
    const home = await app.page.run('return location.href');
    for (let batch = 0; batch * TOGETHER < texts.length; batch += 1) {
      const { text } = await ask(app.page, `batch ${batch}`);
      const missing = batchOf(batch).filter(([mark]) => !text.includes(mark));
      assert.deepEqual(missing, [], `not all of batch ${batch} was shown`);
    }
    await pause();
    assert.deepEqual(listening.accepted, [], 'somebody connected');
    assert.equal(await app.page.run('return location.href'), home);
    console.log(`${texts.length} vectors shown, 0 connections`);
  });

  test('a link that the user chooses waits for an answer', async () => {
    await ask(app.page, 'a link');
    // The list keeps a new message hidden until it is measured.
    const clicked = async () => {
      const [link] = await app.page.all(`a[href="${listening.at('link')}"]`);
      await link.click();
      return true;
    };
    await until(clicked, 'a click on the link');
    await app.page.testid('link-address');
    await pause();
    assert.deepEqual(listening.accepted, [], 'somebody connected before the answer');
    await app.page.keys(Key.Escape);
    await until(async () => !(await app.page.has('link-address')), 'the question to be gone');
  });

  test('not even a script gets out of the window', async () => {
    const home = await app.page.run('return location.href');
    const connected = [];
    for (const [number, attempt] of ATTEMPTS.entries()) {
      await app.page.run(`const url = arguments[0]; try { ${attempt} } catch { /* Refused on the spot. */ }`, listening.at(`attempt-${number}`));
      await new Promise((next) => setTimeout(next, SETTLING));
      for (const line of listening.accepted.splice(0)) connected.push([attempt, line]);
    }
    await pause();
    assert.deepEqual([...connected, ...listening.accepted], [], 'somebody connected');
    assert.equal(await app.page.run('return location.href'), home);
    assert.ok(await app.page.has('composer-input'), 'the page is still the app');
    console.log(`${ATTEMPTS.length} attempts, 0 connections`);
  });
});
