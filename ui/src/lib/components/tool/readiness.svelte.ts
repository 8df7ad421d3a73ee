/** Milliseconds for which a new question takes no answer: the second click of two was meant for the one before. */
export const PAUSE = 500;

/** Whether a question can be answered: some time after it was shown, and after a pointer was last pressed or let go. */
export class Readiness {
  isReady = $state(false);

  /** Begins to wait; gives what ends it. */
  wait(): () => void {
    const listening = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        this.isReady = true;
        listening.abort();
      }, PAUSE);
    };
    for (const press of ['pointerdown', 'pointerup'])
      addEventListener(press, again, { capture: true, signal: listening.signal });
    again();
    return () => {
      clearTimeout(timer);
      listening.abort();
    };
  }
}
