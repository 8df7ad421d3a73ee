import { describe, expect, it } from 'vitest';
import type { Origin, ReceiptBlock } from '../ipc/types';
import { differences, pretty, runs, shares, sum } from './sheet';

function block(
  kind: ReceiptBlock['kind'],
  origin: Origin,
  tokens: number,
  rest: Partial<ReceiptBlock> = {},
): ReceiptBlock {
  const usual = { role: 'user', included: true, reason: null, text: null } as const;
  return { ...usual, kind, origin, tokens, ...rest };
}

const message = (id: string, tokens = 10): ReceiptBlock =>
  block('history', { from: 'message', id }, tokens);
const persona = block('system', { from: 'revision', id: 'r' }, 40);
const user = (id: string): ReceiptBlock => block('user', { from: 'message', id }, 5);
const clock = block('trailing', { from: 'clock' }, 8);
const earlier = (messages: number, tokens: number): ReceiptBlock =>
  block('history', { from: 'earlier', messages }, tokens, { included: false, reason: 'full' });

describe('the parts of a request', () => {
  it('count what was sent, and messages that were left out together', () => {
    const parts = shares([persona, earlier(12, 300), message('a'), message('b'), user('c'), clock]);
    expect(parts.map(({ kind, tokens, leftOut }) => [kind, tokens, leftOut])).toEqual([
      ['system', 40, 0],
      ['history', 20, 12],
      ['user', 5, 0],
      ['trailing', 8, 0],
    ]);
  });

  it('stand behind one line where they are many of one fate', () => {
    const many = Array.from({ length: 4 }, (_, at) => message(`m${at}`));
    const lines = runs([persona, earlier(2, 9), ...many, user('u')], 3);
    expect(lines.map((line) => [line.first, line.blocks.length])).toEqual([
      ...[
        [0, 1],
        [1, 1],
        [2, 4],
        [6, 1],
      ],
    ]);
    expect(runs(many, 4).map((line) => line.first)).toEqual([0, 1, 2, 3]);
  });
});

describe('two requests', () => {
  const first = [persona, message('a'), message('b'), user('c'), clock];
  const next = [
    persona,
    earlier(1, 10),
    message('b'),
    message('c', 5),
    message('d'),
    user('e'),
    clock,
  ];

  it('differ by what came, went, and changed', () => {
    const found = differences(first, next).map(({ change, before, after }) => [
      change,
      (after ?? before)?.origin,
    ]);
    expect(found).toContainEqual(['gone', { from: 'message', id: 'a' }]);
    expect(found).toContainEqual(['added', { from: 'message', id: 'd' }]);
    expect(found).toContainEqual(['changed', { from: 'message', id: 'e' }]);
    expect(found.filter(([change]) => change === 'same')).toHaveLength(3);
  });

  it('say why something was left out of the later', () => {
    const left = { ...message('a'), included: false, reason: 'no room' };
    const [gone] = differences([message('a')], [left]);
    expect([gone?.change, gone?.after?.reason]).toEqual(['gone', 'no room']);
  });

  it('add up: what both have differs by what came and went', () => {
    const all = differences(first, next);
    const delta = all.reduce((total, { change, before, after }) => {
      return total + (change === 'gone' ? 0 : (after?.tokens ?? 0)) - (before?.tokens ?? 0);
    }, 0);
    expect(delta).toBe(sum(next) - sum(first));
    expect(differences(first, first).every((one) => one.change === 'same')).toBe(true);
  });

  it('that hold the same message twice keep both', () => {
    const recalled = block('trailing', { from: 'recalled', id: 'a' }, 9);
    const all = differences([recalled, { ...recalled }], [recalled]);
    expect(all.map((one) => one.change).sort()).toEqual(['gone', 'same']);
  });
});

it('a body that is no JSON stays as it is', () => {
  expect(pretty('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(pretty('a concatenated text')).toBe('a concatenated text');
});
