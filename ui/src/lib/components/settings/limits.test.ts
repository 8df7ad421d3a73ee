import { describe, expect, it } from 'vitest';
import { boundsOf, limitOf, shownLimit } from './limits';

describe('a limit', () => {
  it('is a whole number of at least one, in the unit of its field', () => {
    expect(limitOf(1.5, 1_024)).toBe(1_536);
    expect(limitOf(50, 1_024 ** 3)).toBe(53_687_091_200);
    for (const wrong of [null, undefined, Number.NaN, 0, -3, 1e15, Infinity])
      expect(limitOf(wrong, 1_024 ** 3), String(wrong)).toBeNull();
  });

  it('is shown without a tail of digits', () => {
    expect(shownLimit(67_108_864, 1_024 ** 3)).toBe(0.063);
    expect(shownLimit(1_000, 1)).toBe(1_000);
  });

  it('has bounds that are read from the words of the core', () => {
    expect(boundsOf('1024 to 16777216', 1_024)).toEqual([1, 16_384]);
    expect(boundsOf('1 to 1,000,000', 1)).toEqual([1, 1_000_000]);
    expect(boundsOf('at least 1_024', 1_024)).toEqual([1]);
    expect(boundsOf('', 1)).toEqual([]);
  });
});
