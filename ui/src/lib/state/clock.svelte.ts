const TICK_MILLIS = 30_000;

/** The time as the window shows it: what expires does so while it is looked at. */
export class Clock {
  /** Milliseconds since 1970. */
  now = $state(Date.now());
  private timer: ReturnType<typeof setInterval> | null = null;

  start(): void {
    this.timer ??= setInterval(() => (this.now = Date.now()), TICK_MILLIS);
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
