import { bytes, t, type MessageKey } from '$lib/i18n';
import type { FoundAnswer, OperationMetadata, StatusChange } from '$lib/state/types';

/** One line of what matters of an operation: what it is, and the finds. */
export interface Find {
  label: string;
  texts: string[];
}

/** What was found, as lines; nothing that was not. */
export function findsOf(metadata: OperationMetadata): Find[] {
  const lines: [MessageKey, string[]][] = [
    ['operations.errors', metadata.errors],
    ['operations.created', metadata.created],
    ['operations.updated', metadata.updated],
    ['operations.deleted', metadata.deleted],
    ['operations.status', metadata.statusChanges.map(changed)],
    ['operations.selected', metadata.selected.map(answered)],
    ['operations.deselected', metadata.deselected.map(answered)],
    ['operations.files', metadata.files.map((one) => sized(one.path, one.bytes))],
    ['operations.counts', metadata.counts.map((one) => `${one.name}: ${one.count}`)],
    ['operations.ids', metadata.ids.map((one) => `${one.key}: ${one.id}`)],
  ];
  const found = lines.map(([key, texts]) => ({ label: t(key), texts }));
  const rules = new Map<string, string[]>();
  for (const { rule, value } of metadata.values)
    rules.set(rule, [...(rules.get(rule) ?? []), written(value)]);
  const own = [...rules].map(([label, texts]) => ({ label, texts }));
  return [...found, ...own].filter(({ texts }) => texts.length > 0);
}

/** A value as people read it: a text as itself, anything else as JSON with line breaks. */
export function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Whether a value has nothing to show. */
export function isNothing(value: unknown): boolean {
  return value === null || value === '' || written(value) === '{}' || written(value) === '[]';
}

function changed({ id, from, to }: StatusChange): string {
  const change = from === null ? to : `${from} → ${to}`;
  return id === null ? change : `${id}: ${change}`;
}

function answered({ id, text }: FoundAnswer): string {
  return id !== null && text !== null ? `${text} (${id})` : (text ?? id ?? '');
}

function sized(path: string, size: number | null): string {
  return size === null ? path : `${path} (${bytes(size)})`;
}
