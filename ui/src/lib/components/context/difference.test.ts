import { describe, expect, it } from 'vitest';
import { difference } from './difference';

function side(before: string, after: string, gone: 'added' | 'removed'): string {
  return difference(before, after, 'en')
    .filter((piece) => piece.kind !== gone)
    .map((piece) => piece.text)
    .join('');
}

describe('the difference of two wordings', () => {
  it('marks words, not letters', () => {
    const pieces = difference('Anna is calm and brief.', 'Anna is calm and patient.', 'en');
    expect(pieces.filter((piece) => piece.kind !== 'same')).toEqual([
      { text: 'brief', kind: 'removed' },
      { text: 'patient', kind: 'added' },
    ]);
  });

  it.each([
    ['', 'new'],
    ['old', ''],
    ['one two three', 'three two one'],
    ['ruhig und klar', 'ruhig, aber klar'],
    ['هادئة وواضحة', 'هادئة وصبورة'],
    ['彼女は穏やかです', '彼女は辛抱強いです'],
  ])('holds the whole of the new text: %j → %j', (before, after) => {
    expect(side(before, after, 'removed')).toBe(after);
  });

  it('is quick for the longest texts that have nothing in common', () => {
    const words = (from: number): string =>
      Array.from({ length: 6_000 }, (_, index) => `w${from + index}`).join(' ');
    const pieces = difference(words(0), words(10_000), 'en');
    expect(pieces.filter((piece) => piece.kind === 'added').length).toBeGreaterThan(0);
  }, 5_000);
});
