import { afterEach, describe, expect, it } from 'vitest';
import { locale } from '$lib/i18n';
import { jsonOf, typedOf, valueText } from './words';

afterEach(() => locale.use('en'));

describe('a value', () => {
  it.each([
    ['"Lisbon"', 'Lisbon'],
    ['1250.5', '1,250.5'],
    ['true', 'Yes'],
    ['null', 'Not known'],
    ['"2026-06-01"', 'June 1, 2026'],
    ['["Mira","Jonas"]', 'Mira, Jonas'],
    ['{"from":1}', '{"from":1}'],
    ['broken', 'broken'],
  ])('%s reads as %s', (json, text) => {
    expect(valueText(json)).toBe(text);
  });

  it('that was a text stays one, whatever is typed', () => {
    expect(typedOf('"true"')).toBe('true');
    expect(jsonOf(' 12 ', '"eleven"')).toBe('"12"');
  });

  it('that was none takes what is typed as JSON where it is', () => {
    expect(typedOf('["a"]')).toBe('["a"]');
    expect([jsonOf('13', '12'), jsonOf('["b"]', '["a"]'), jsonOf('thirteen', '12')]).toEqual([
      ...['13', '["b"]', '"thirteen"'],
    ]);
  });
});
