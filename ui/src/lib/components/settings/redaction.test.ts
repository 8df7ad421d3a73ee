import { describe, expect, it } from 'vitest';
import { NOTHING, seeks, wordsOf, wordsProblem } from './redaction';

describe('the words that are taken out', () => {
  it('are one a line, each once, without blanks around', () => {
    expect(wordsOf('  Ada \n\nLovelace\nAda\r\n')).toEqual(['Ada', 'Lovelace']);
    expect(wordsOf('\n \n')).toEqual([]);
  });

  it('have a length, in characters as people count them', () => {
    expect(wordsProblem(['Ada', '王芳'])).toBeNull();
    expect(wordsProblem(['王'])).toContain('2');
    expect(wordsProblem(['x'.repeat(201)])).toContain('200');
    expect(wordsProblem(Array.from({ length: 201 }, (_, at) => `word ${at}`))).toContain('200');
  });

  it('count as something to look for', () => {
    expect([seeks(NOTHING), seeks({ ...NOTHING, own: ['Ada'] })]).toEqual([false, true]);
    expect(seeks({ ...NOTHING, beforeSending: true })).toBe(false);
  });
});
