// The keys of a test vault, derived a second time from the documented format, and a search for them on disk.
// Nothing here comes from the application: if it wrote a key or a message in clear, this finds it.

import { createDecipheriv, hkdfSync } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

const MAGIC = 'EVENKEEL KEY SLOTS';
const NONCE = 12;
const TAG = 16;

/** Reads the secret of the vault out of what `secret-tool search` printed. */
export function keychainSecret(listing) {
  const line = listing.split('\n').find((text) => text.startsWith('secret = '));
  if (!line) throw new Error(`The keychain holds no secret:\n${listing}`);
  const secret = Buffer.from(line.slice('secret = '.length).trim(), 'base64');
  if (secret.length !== 32) throw new Error(`The keychain's secret has ${secret.length} bytes instead of 32.`);
  return secret;
}

/** Every key of the vault in `profile`, by name, opened with the keychain's secret. */
export async function vaultKeys(profile, secret) {
  const text = await readFile(path.join(profile, 'vault.keys'), 'utf8');
  const body = JSON.parse(text.slice(text.indexOf('{')));
  const id = Buffer.from(body.vaultId.replaceAll('-', ''), 'hex');
  const slot = body.slots.find((entry) => entry.kind === 'keychain');
  const version = Buffer.alloc(4);
  version.writeUInt32LE(1);
  // Magic, format, vault, slot type 1 (keychain), key derivation 0 (none).
  const bound = Buffer.concat([Buffer.from(MAGIC), version, id, Buffer.from([1, 0])]);
  const root = unwrap(secret, bound, Buffer.from(slot.wrapped, 'base64'));
  const keys = { 'keychain secret': secret, 'root key': root };
  for (const use of ['db', 'secrets', 'backup', 'envelope']) {
    keys[`${use} key`] = Buffer.from(hkdfSync('sha256', root, id, `evenkeel/${use}/v1`, 32));
  }
  return keys;
}

function unwrap(key, bound, sealed) {
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE));
  cipher.setAAD(bound);
  cipher.setAuthTag(sealed.subarray(-TAG));
  return Buffer.concat([cipher.update(sealed.subarray(NONCE, -TAG)), cipher.final()]);
}

/** The ways in which a key could stand in a file. */
export function encodingsOfKey(name, key) {
  const base64 = key.toString('base64').replace(/=+$/, '');
  return [
    { what: `${name} (raw)`, bytes: key },
    { what: `${name} (hex)`, bytes: Buffer.from(key.toString('hex')) },
    { what: `${name} (HEX)`, bytes: Buffer.from(key.toString('hex').toUpperCase()) },
    { what: `${name} (base64)`, bytes: Buffer.from(base64) },
    { what: `${name} (base64url)`, bytes: Buffer.from(key.toString('base64url')) },
  ];
}

/** The ways in which a text could stand in a file. */
export function encodingsOfText(text) {
  return [
    { what: `"${text}" (UTF-8)`, bytes: Buffer.from(text) },
    { what: `"${text}" (UTF-16)`, bytes: Buffer.from(text, 'utf16le') },
    { what: `"${text}" (hex)`, bytes: Buffer.from(Buffer.from(text).toString('hex')) },
    // Inside a longer text the base64 form depends on the offset; the part between the edges of each does not.
    ...[0, 1, 2].map((offset) => ({
      what: `"${text}" (base64 at ${offset})`,
      bytes: Buffer.from(Buffer.from(' '.repeat(offset) + text).toString('base64').slice(offset === 0 ? 0 : 4, -4)),
    })),
  ];
}

/** Searches all files below the folders for the needles; gives one line for each find, and how much was read. */
export async function search(folders, needles) {
  const found = [];
  let files = 0;
  let bytes = 0;
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath ?? entry.path, entry.name);
      const content = await readFile(file).catch(() => Buffer.alloc(0)); // removed while we looked
      files += 1;
      bytes += content.length;
      for (const needle of needles) {
        const at = content.indexOf(needle.bytes);
        if (at >= 0) found.push(`${needle.what} in ${file} at ${at}`);
      }
    }
  }
  return { found, files, bytes };
}
