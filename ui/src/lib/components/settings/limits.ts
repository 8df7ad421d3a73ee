import type { MessageKey } from '$lib/i18n';
import type { Limits } from '$lib/state/types';

/** A limit as it is typed: in a unit of which `size` make one of the core's. */
export interface LimitField {
  name: keyof Limits;
  label: MessageKey;
  hint: MessageKey;
  size: number;
}

export const LIMIT_FIELDS: LimitField[] = [
  { name: 'contexts', label: 'limits.contexts', hint: 'limits.contexts.hint', size: 1 },
  {
    name: 'messagesPerContext',
    label: 'limits.messagesPerContext',
    hint: 'limits.messagesPerContext.hint',
    size: 1,
  },
  {
    name: 'messageBytes',
    label: 'limits.messageBytes',
    hint: 'limits.messageBytes.hint',
    size: 1_024,
  },
  {
    name: 'vaultBytes',
    label: 'limits.vaultBytes',
    hint: 'limits.vaultBytes.hint',
    size: 1_024 ** 3,
  },
];

/** What was typed as the core wants it: a whole number of at least 1, else `null`. */
export function limitOf(typed: number | null | undefined, size: number): number | null {
  if (typed === null || typed === undefined || !Number.isFinite(typed)) return null;
  const value = Math.round(typed * size);
  return value >= 1 && Number.isSafeInteger(value) ? value : null;
}

/** A number of the core as it is typed, without a tail of digits. */
export function shownLimit(value: number, size: number): number {
  return Math.round((value / size) * 1_000) / 1_000;
}

/** The numbers in the core's words for a range, such as `1024 to 16777216`, in the field's unit. */
export function boundsOf(range: string, size: number): number[] {
  const digits = range.match(/\d[\d,_]*/g) ?? [];
  return digits.map((one) => shownLimit(Number(one.replaceAll(/[,_]/g, '')), size));
}
