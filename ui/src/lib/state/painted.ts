/** A hidden window is never painted; what waits for that goes on after so long. */
const LONGEST_MILLIS = 250;

/** Resolves once what was changed is on the screen. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LONGEST_MILLIS);
    // The frame is painted after its callbacks, so the next task is the first one behind it.
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
