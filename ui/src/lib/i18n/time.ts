import { locale } from './locale.svelte';

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** How long ago or how far ahead a time is, such as `3 hours ago`, `tomorrow`, `now`. */
export function relative(iso: string, now: number = Date.now()): string {
  const millis = new Date(iso).getTime() - now;
  const form = new Intl.RelativeTimeFormat(locale.intl, { numeric: 'auto' });
  const [unit, size] = UNITS.find(([, length]) => Math.abs(millis) >= length) ?? ['second', 1_000];
  // Seconds would only flicker.
  return unit === 'second' ? form.format(0, unit) : form.format(Math.round(millis / size), unit);
}

/** Day and time, such as `12 May 2026, 08:30`. */
export function moment(iso: string): string {
  return new Intl.DateTimeFormat(locale.intl, { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(iso),
  );
}

/** How long something took, such as `0.4 sec`. */
export function duration(millis: number): string {
  const [unit, value] =
    millis < 1_000
      ? (['millisecond', millis] as const)
      : millis < 60_000
        ? (['second', millis / 1_000] as const)
        : (['minute', millis / 60_000] as const);
  return new Intl.NumberFormat(locale.intl, {
    style: 'unit',
    unit,
    maximumFractionDigits: value < 10 && unit !== 'millisecond' ? 1 : 0,
  }).format(value);
}
