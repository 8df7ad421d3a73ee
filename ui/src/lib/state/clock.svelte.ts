const TICK_MILLIS = 30_000;

/** The time as the window shows it: what expires does so while it is looked at. */
export class Clock {
  /** Milliseconds since 1970. */
  now = $state(Date.now());
  private timer: ReturnType<typeof setInterval> | null = null;

  start(): void {
    this.timer ??= setInterval(() => this.look(), TICK_MILLIS);
  }

  /** Reads the time at once: a hidden window or a sleeping machine ticks late or not at all. */
  look(): void {
    this.now = Date.now();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
