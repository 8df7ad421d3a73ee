import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bytes, duration, longDate, moment, number, relative, shortDate, span } from '.';
import { LOCALES, locale, t } from './locale.svelte';

afterEach(() => locale.use('en'));

/** Places where a formatter of Intl is made. */
function formatters(): string[] {
  return readdirSync('src', { withFileTypes: true, recursive: true })
    .filter(({ name }) => /\.(?:svelte|ts)$/.test(name) && !/\.test\./.test(name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .flatMap((text) => text.match(/new Intl\w*\.?\w*Format\w*\([^,)]*[,)][^,)]*/g) ?? []);
}

describe('digits', () => {
  it.each(Object.keys(LOCALES))('are one kind in %s, whatever a web view prefers', async (tag) => {
    await locale.use(tag);
    for (const form of [new Intl.NumberFormat(locale.intl), new Intl.DateTimeFormat(locale.intl)])
      expect(form.resolvedOptions().numberingSystem).toBe('latn');
    const long = '2026-05-12T08:30:00Z';
    const now = Date.UTC(2026, 4, 1);
    const texts = [
      ...[bytes(2_500_000), duration(1_300), span(7_200_000), number(1_250), longDate(long)],
      ...[moment(long), shortDate(long, new Date(now)), relative(long, now)],
      ...[t('meter.leftOut', { count: 25 }), t('field.between', { min: 1, max: 1_440 })],
    ];
    for (const text of texts) expect(text).toMatch(/^[^\u0660-\u0669\u06f0-\u06f9]*$/);
  });

  it('come from one choice everywhere', () => {
    const made = formatters();
    expect(made.length).toBeGreaterThan(10);
    expect(made.filter((one) => !one.includes('intl'))).toEqual([]);
  });
});
