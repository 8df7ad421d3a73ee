import type { Operation } from '../ipc/operations';
import type { ShownUse } from './reply.svelte';

/** What tools did, by the reply that it was done for, the oldest first. `operations` come the newest first. */
export function usesOf(operations: Operation[]): Record<string, ShownUse[]> {
  const uses: Record<string, ShownUse[]> = {};
  for (const operation of [...operations].reverse()) {
    const { id, source, toolName, messageId, result, error } = operation;
    if (messageId === null) continue;
    const use: ShownUse = {
      call: { id, server: source, tool: toolName, arguments: JSON.stringify(operation.arguments) },
      end: error === null ? 'done' : 'failed',
      result: error?.message ?? textOf(result),
    };
    uses[messageId] = [...(uses[messageId] ?? []), use];
  }
  return uses;
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result, null, 2);
}
