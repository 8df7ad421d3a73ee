import { t } from '$lib/i18n';
import type { ErrorBody } from '$lib/state/types';

/** What is wrong in a form, by field. */
export type Problems = Partial<Record<string, string>>;

/** The fields that companions and their templates have in common; numbers may be empty meanwhile. */
export interface LimitForm {
  temperature: number;
  maxTokens: number | null;
  maxHistoryTokens: number | null;
  days: number | null;
  never: boolean;
}

/** What is wrong with a whole number that has bounds. */
export function between(
  value: number | null | undefined,
  min: number,
  max: number,
): string | undefined {
  const fits = value !== null && value !== undefined && value >= min && value <= max;
  return fits && Number.isInteger(value) ? undefined : t('field.between', { min, max });
}

/** What is wrong with a text that may have so many characters. */
export function length(text: string, min: number, max: number): string | undefined {
  if (min > 0 && text.trim() === '') return t('field.missing');
  const count = Array.from(text).length;
  return count > max ? t('field.long', { count, max }) : undefined;
}

/** What is wrong with the common fields. */
export function limits(form: LimitForm): Problems {
  return {
    maxTokens: between(form.maxTokens, 1, 131_072),
    maxHistoryTokens: between(form.maxHistoryTokens, 500, 2_000_000),
    expiryDays: form.never ? undefined : between(form.days, 1, 3_650),
  };
}

/** Only the fields that have a problem. */
export function real(problems: Problems): Problems {
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => Boolean(problem)));
}

/** The field an error of the core is about, with what it allows; none where it is about none. */
export function problemOf(error: ErrorBody): Problems {
  const { field, range } = error.details;
  if (error.code !== 'invalid_parameter' || !field) return {};
  return { [field]: t('field.range', { range: range ?? '' }) };
}

/** Brings the first field with a problem into view, once it is there. */
export function point(form: string): void {
  setTimeout(() => {
    const field = document.querySelector<HTMLElement>(`#${form} [aria-invalid=true]`);
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: 'center' });
  });
}
