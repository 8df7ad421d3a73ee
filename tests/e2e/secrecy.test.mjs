// Nothing in clear: the whole home folder, logs included, is searched for what was written and for every key of the vault.

import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { App } from './app.mjs';
import { ask, firstRun } from './companion.mjs';
import { ARTIFACTS, Desktop } from './desktop.mjs';
import { encodingsOfKey, encodingsOfText, keychainSecret, search, vaultKeys } from './keys.mjs';

const MARKER = 'Zwetschgenknödelgeheimnis';

describe('secrecy', { concurrency: 1 }, () => {
  let desktop, app, code, reply, keys;

  before(async () => {
    desktop = await Desktop.start();
    app = await App.open(desktop);
    code = await firstRun(app);
    reply = (await ask(app.page, `Please keep my word ${MARKER} to yourself.`)).text;
    keys = await vaultKeys(app.profile, keychainSecret(await desktop.searchSecrets('service', 'evenkeel')));
  });

  after(async () => {
    await app?.dispose();
    await desktop?.stop();
  });

  function needles() {
    const phrase = reply.split('\n')[0].slice(0, 40);
    return [
      ...encodingsOfText(MARKER),
      ...encodingsOfText('Calm Counselor'),
      ...(phrase.length >= 12 ? encodingsOfText(phrase) : []),
      ...['', ' ', '-'].flatMap((between) => encodingsOfText(code.join(between))),
      ...Object.entries(keys).flatMap(([name, key]) => encodingsOfKey(name, key)),
    ];
  }

  async function nothingIsFound() {
    const { found, files, bytes } = await search([desktop.home], needles());
    assert.deepEqual(found, []);
    assert.ok(files >= 3 && bytes > 4096, `only ${files} files with ${bytes} bytes were searched`);
  }

  test('the search finds what is there', async () => {
    const planted = path.join(desktop.home, 'planted');
    await writeFile(planted, Buffer.concat([Buffer.from('x'), Buffer.from(MARKER, 'utf16le'), Buffer.from(keys['db key'].toString('hex'))]));
    const { found } = await search([desktop.home], needles());
    await rm(planted);
    assert.equal(found.length, 2, found.join('\n'));
  });

  test('the vault has a database with a write-ahead log, and neither is a plain SQLite file', async () => {
    const names = await readdir(app.profile);
    assert.ok(names.includes('vault.db') && names.includes('vault.db-wal'), names.join(' '));
    const { found } = await search([app.profile], [{ what: 'a plain header', bytes: Buffer.from('SQLite format 3\0') }]);
    assert.deepEqual(found, []);
  });

  test('nothing stands in clear while the app runs', nothingIsFound);

  test('nothing stands in clear after a kill', async () => {
    await app.kill();
    await nothingIsFound();
  });

  test('the log of the app holds nothing of it either', async () => {
    const { found } = await search([ARTIFACTS], needles());
    assert.deepEqual(found.filter((line) => line.includes('.log')), []);
  });
});
