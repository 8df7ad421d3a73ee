import { afterEach, describe, expect, it } from 'vitest';
import { locale } from './locale.svelte';
import { duration, relative } from './time';

const NOW = Date.UTC(2026, 4, 12, 8, 30);
const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString();

afterEach(() => locale.use('en'));

describe('times in words', () => {
  it.each([
    [0, 'now'],
    [-59, 'now'],
    [59, 'now'],
    [-60, '1 minute ago'],
    [-3_600 * 5, '5 hours ago'],
    [3_600 * 19, 'in 19 hours'],
    [-86_400, 'yesterday'],
    [86_400 * 40, 'next month'],
    [-86_400 * 800, '2 years ago'],
  ])('%i seconds from now: %s', (seconds, words) => {
    expect(relative(at(seconds), NOW)).toBe(words);
  });

  it('follow the language', async () => {
    await locale.use('de');
    expect(relative(at(-7_200), NOW)).toBe('vor 2 Stunden');
    expect(duration(1_320)).toBe('1,3 Sek.');
  });

  it('say how long something took', () => {
    expect([duration(90), duration(1_320), duration(59_000), duration(90_000)]).toEqual([
      '90 ms',
      '1.3 sec',
      '59 sec',
      '1.5 min',
    ]);
  });
});
