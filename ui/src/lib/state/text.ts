import { wholeText } from '../ipc/text';
import type { ErrorBody } from '../ipc/types';

/** The largest message, in UTF-8 bytes, where the settings say nothing else. */
export const MESSAGE_BYTES = 1 << 20;

/** Characters of a call that are shown on one line. */
const BRIEF = 200;

/** Text that survives the way to Rust: halves of surrogate pairs become U+FFFD, NUL goes. */
export function sendable(text: string): string {
  return wholeText(text).replaceAll('\0', '');
}

/** The same object with every text in it made sendable. */
export function sendableFields<T extends object>(fields: T): T {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? sendable(value) : (value as unknown),
  ]);
  return Object.fromEntries(entries) as T;
}

/** Length in UTF-8 bytes. */
function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The error of a message of more than `most` bytes. */
export function tooLong(text: string, most: number): ErrorBody | null {
  const bytes = utf8Bytes(text);
  if (bytes <= most) return null;
  const details = { field: 'text', value: `${bytes} bytes`, range: `at most ${most} bytes` };
  return { code: 'invalid_parameter', message: 'The message is too long.', details };
}

/** What a call was given, on one line: names and values of a JSON object; anything else as it is. */
export function brief(text: string): string {
  let line = text;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null)
      line = Object.entries(parsed)
        .map(
          ([name, value]) =>
            `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        .join(', ');
  } catch {
    // What is no JSON is shown as the model wrote it.
  }
  return line.slice(0, BRIEF).replaceAll(/\s+/g, ' ').trim();
}

/** JSON on several lines; anything else as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
