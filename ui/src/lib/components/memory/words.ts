import { longDate, number, t } from '$lib/i18n';

/** A value as people read it; JSON that is more than a list stays JSON. */
export function valueText(json: string): string {
  const value = read(json);
  if (value === undefined) return json;
  if (value === null) return t('value.none');
  if (typeof value === 'boolean') return t(value ? 'value.yes' : 'value.no');
  if (typeof value === 'number') return number(value);
  if (typeof value === 'string')
    return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
      ? longDate(`${value}T12:00:00`)
      : value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.join(', ');
  return json;
}

/** A value as it is typed: texts without their quotes. */
export function typedOf(json: string): string {
  const value = read(json);
  return typeof value === 'string' ? value : json;
}

/** What was typed as JSON: a text where the value was one or nothing else fits. */
export function jsonOf(typed: string, before: string): string {
  if (typeof read(before) === 'string') return JSON.stringify(typed.trim());
  return read(typed) === undefined ? JSON.stringify(typed.trim()) : typed.trim();
}

function read(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
