import type { Backend } from '../ipc/backend';

/** What shows that somebody is there. */
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
/** How often that is told at most: a vault locks after whole minutes. */
const EVERY_MILLIS = 15_000;

/** Tells the core that somebody uses this window, as long as it wants to know. */
export class Presence {
  private told = -Infinity;
  private readonly backend: Backend;
  private readonly isWanted: () => boolean;

  constructor(backend: Backend, isWanted: () => boolean) {
    this.backend = backend;
    this.isWanted = isWanted;
  }

  start(): void {
    for (const sign of SIGNS) window.addEventListener(sign, this.note, { passive: true });
  }

  stop(): void {
    for (const sign of SIGNS) window.removeEventListener(sign, this.note);
  }

  private readonly note = (): void => {
    const now = performance.now();
    if (now - this.told < EVERY_MILLIS || !this.isWanted()) return;
    this.told = now;
    // Where it is not heard, the vault locks early; the next sign is told again.
    this.backend.vaultTouch().catch(() => (this.told = -Infinity));
  };
}
