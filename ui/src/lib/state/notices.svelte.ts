import { errorBody } from '../ipc/error';
import type { ErrorBody } from '../ipc/types';
import type { MessageKey } from '../i18n';

/** A short word to the user at the edge of the window. */
export interface Notice {
  id: number;
  key: MessageKey | null;
  values: Record<string, string>;
  error: ErrorBody | null;
}

/** The words shown now, oldest first. */
export class Notices {
  list = $state.raw<Notice[]>([]);
  private count = 0;
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();

  /** Shows a sentence for a few seconds. */
  say(key: MessageKey, values: Record<string, string> = {}): void {
    const id = this.add({ key, values, error: null });
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.dismiss(id);
    }, 6_000);
    this.timers.add(timer);
  }

  /** Shows an error until it is dismissed. */
  fail(thrown: unknown): void {
    const error = errorBody(thrown);
    if (this.list.some((notice) => notice.error?.message === error.message)) return;
    this.add({ key: null, values: {}, error });
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  private add(notice: Omit<Notice, 'id'>): number {
    this.count += 1;
    this.list = [...this.list, { ...notice, id: this.count }].slice(-4);
    return this.count;
  }
}
