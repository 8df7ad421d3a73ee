// Lets days pass in the running application: in its core by the file that debug builds read their clock's shift from,
// and in its page, whose engine has a clock of its own.

import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const HOUR = 3600;
export const DAY = 24 * HOUR;

export class PassingTime {
  #file;
  #seconds = 0;

  constructor(desktop) {
    this.#file = path.join(desktop.home, 'clock-shift');
  }

  /** What the application has to be started with. */
  get env() {
    return { EVENKEEL_CLOCK_SHIFT: this.#file };
  }

  /** Lets some seconds pass. */
  async pass(page, seconds) {
    this.#seconds += Math.round(seconds);
    // Moved into place, so that half a number is never read.
    await writeFile(`${this.#file}.new`, `${this.#seconds}\n`);
    await rename(`${this.#file}.new`, this.#file);
    await this.tell(page);
  }

  /** Sets the clock of a page that was only just opened. */
  async tell(page) {
    await page.run(
      `const Real = window.realDate ??= Date;
       const ahead = arguments[0] * 1000;
       window.Date = class extends Real {
         constructor(...time) { if (time.length > 0) super(...time); else super(Real.now() + ahead); }
         static now() { return Real.now() + ahead; }
       };
       window.dispatchEvent(new Event('focus'));`,
      this.#seconds,
    );
  }
}
