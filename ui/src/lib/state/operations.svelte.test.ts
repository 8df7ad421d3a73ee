import { describe, expect, it } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { Operations } from './operations.svelte';

async function opened() {
  const backend = fakeBackend({ life: true });
  const [first] = backend.world.operations.list;
  const operations = new Operations(backend);
  const conversationId = first?.conversationId ?? '';
  await operations.open(conversationId);
  return { backend, operations, conversationId };
}

describe('what tools did', () => {
  it('comes with the newest first, and with the tools that there were', async () => {
    const { operations } = await opened();
    expect(operations.list.map((one) => one.toolName)).toEqual([
      'read_file',
      'read_file',
      'update_survey_answers',
      'write_file',
    ]);
    expect(operations.tools).toContainEqual({ name: 'read_file', count: 2 });
    await operations.choose('write_file');
    expect([operations.list.length, operations.total, operations.tools.length]).toEqual([1, 1, 3]);
  });

  it('is read page by page, and all pages anew when there is more', async () => {
    const { backend, operations, conversationId } = await opened();
    const add = (toolName: string) =>
      backend.world.operations.add(backend.world, conversationId, {
        toolName,
        arguments: {},
        result: {},
      });
    for (let number = 0; number < 30; number += 1) add('look');
    await operations.load();
    expect([operations.list.length, operations.total]).toEqual([20, 34]);
    await operations.more();
    await operations.more();
    expect(operations.list).toHaveLength(34);
    add('newest');
    await operations.follow(new Map([['operation' as const, new Set([conversationId])]]));
    expect([operations.list[0]?.toolName, operations.list.length]).toEqual(['newest', 35]);
    await operations.follow(new Map([['operation' as const, new Set(['another'])]]));
    expect(operations.list).toHaveLength(35);
  });

  it('shows the whole of a long result when it is asked for', async () => {
    const { operations } = await opened();
    const [id] = [...operations.shortened];
    const result = () => operations.list.find((one) => one.id === id)?.result as string;
    expect(result()).toMatch(/…$/);
    await operations.showWhole(id ?? '');
    expect(result()).toHaveLength(15_600);
    expect(operations.shortened.size).toBe(0);
    await operations.showWhole('gone');
    expect(operations.failure?.code).toBe('not_found');
  });

  it('is forgotten and written into a file when the user says so', async () => {
    const { operations } = await opened();
    expect(await operations.save()).toBe('/home/ada/operations.jsonl');
    await operations.choose('read_file');
    await operations.clear();
    expect([operations.list.length, operations.toolName, operations.total]).toEqual([0, null, 0]);
    operations.forget();
    expect(operations.loaded).toBe(false);
  });
});
