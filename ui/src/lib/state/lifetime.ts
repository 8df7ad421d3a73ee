import type { Context } from '../ipc/types';

const HOUR_MILLIS = 3_600_000;
const WARNING_HOURS = 24;

/** Whether a context may only be read. */
export function isExpired(context: Context, now: number): boolean {
  return (
    !context.isActive ||
    (context.expiresAt !== null && new Date(context.expiresAt).getTime() <= now)
  );
}

/** Whole hours until a context expires, at least 1; `null` where more than a day is left. */
export function hoursLeft(context: Context, now: number): number | null {
  if (context.expiresAt === null || isExpired(context, now)) return null;
  const left = (new Date(context.expiresAt).getTime() - now) / HOUR_MILLIS;
  return left <= WARNING_HOURS ? Math.max(1, Math.round(left)) : null;
}
