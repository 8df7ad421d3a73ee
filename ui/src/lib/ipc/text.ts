const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The text with U+FFFD in place of each half of a surrogate pair, which no other side could read. */
export function wholeText(text: string): string {
  return text.replaceAll(LONE, '\uFFFD');
}

/** A copy of plain data in which every text is whole. */
export function whole(value: unknown): unknown {
  if (typeof value === 'string') return wholeText(value);
  if (Array.isArray(value)) return value.map(whole);
  // Others, such as channels, know themselves how they are written.
  if (value === null || typeof value !== 'object') return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [wholeText(name), whole(field)]),
  );
}
