import { locale } from './locale.svelte';

/** A size such as `2.5 GB` in the language in use. */
export function bytes(count: number): string {
  const steps = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
  const power = Math.min(steps.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  const value = count / 1000 ** power;
  return new Intl.NumberFormat(locale.intl, {
    style: 'unit',
    unit: steps[power] ?? 'byte',
    maximumFractionDigits: value < 10 ? 1 : 0,
  }).format(value);
}

/** A number such as `1,250` in the language in use. */
export function number(value: number, form: Intl.NumberFormatOptions = {}): string {
  return new Intl.NumberFormat(locale.intl, form).format(value);
}

/** A day in full, such as `12 May 2026`. */
export function longDate(iso: string): string {
  return new Intl.DateTimeFormat(locale.intl, { dateStyle: 'long' }).format(new Date(iso));
}

/** A span such as `2 hours`, in its largest whole unit. */
export function span(millis: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  const [unit, length] = units.find(([, size]) => millis >= size) ?? (['second', 1_000] as const);
  const form = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(locale.intl, form).format(Math.round(millis / length));
}

/** The time for today, the day for this year, the date otherwise. */
export function shortDate(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  const today = date.toDateString() === now.toDateString();
  const thisYear = date.getFullYear() === now.getFullYear();
  const form: Intl.DateTimeFormatOptions = today
    ? { timeStyle: 'short' }
    : thisYear
      ? { day: 'numeric', month: 'short' }
      : { dateStyle: 'medium' };
  return new Intl.DateTimeFormat(locale.intl, form).format(date);
}
