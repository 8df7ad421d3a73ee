import { describe, expect, it } from 'vitest';
import type { OperationMetadata } from '$lib/state/types';
import { findsOf, isNothing, written } from './finds';

const NOTHING: OperationMetadata = {
  ids: [],
  created: [],
  updated: [],
  deleted: [],
  statusChanges: [],
  counts: [],
  errors: [],
  selected: [],
  deselected: [],
  files: [],
  values: [],
  isCut: false,
};

describe('what matters of an operation', () => {
  it('is told in lines, and what was not found in none', () => {
    expect(findsOf(NOTHING)).toEqual([]);
    const finds = findsOf({
      ...NOTHING,
      deselected: [
        { id: 'a-2', text: 'Rain' },
        { id: 'a-3', text: null },
      ],
      statusChanges: [
        { id: null, from: null, to: 'done' },
        { id: 'c-1', from: 'open', to: 'done' },
      ],
      files: [{ path: '/a', bytes: null }],
      values: [
        { rule: 'price', value: 3 },
        { rule: 'price', value: 'four' },
      ],
    });
    expect(finds.map((find) => find.texts)).toEqual([
      ['done', 'c-1: open → done'],
      ['Rain (a-2)', 'a-3'],
      ['/a'],
      ['3', 'four'],
    ]);
    expect(finds.at(-1)?.label).toBe('price');
  });

  it('shows a text as itself and anything else as JSON', () => {
    expect(written('a\nb')).toBe('a\nb');
    expect(written({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect([null, '', {}, [], 0, false].map(isNothing)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
