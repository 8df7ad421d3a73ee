import { describe, expect, it } from 'vitest';
import type { Operation } from '../ipc/operations';
import { usesOf } from './uses';

const operation = (id: string, rest: Partial<Operation>): Operation =>
  ({
    id,
    source: 'Notes',
    toolName: 'write',
    messageId: 'm',
    arguments: { a: 1 },
    ...rest,
  }) as Operation;

describe('what tools did', () => {
  it('stands with its reply in the order that it was done in', () => {
    const failed = { code: 'tool_failed' as const, message: 'gone', details: {} };
    const uses = usesOf([
      operation('3', { messageId: null, result: 'nobody asked', error: null }),
      operation('2', { result: null, error: failed }),
      operation('1', { result: { ok: true }, error: null }),
    ]);
    expect(Object.keys(uses)).toEqual(['m']);
    expect(uses.m?.map(({ call, end, result }) => [call.id, end, result])).toEqual([
      ['1', 'done', '{\n  "ok": true\n}'],
      ['2', 'failed', 'gone'],
    ]);
    expect(uses.m?.[0]?.call.arguments).toBe('{"a":1}');
  });
});
