import { errorBody } from '../ipc/error';
import type { ErrorBody } from '../ipc/types';
import type { MessageKey } from '../i18n';

/** A short word to the user at the edge of the window. */
export interface Notice {
  id: number;
  key: MessageKey | null;
  values: Record<string, string | number>;
  error: ErrorBody | null;
  action: NoticeAction | null;
}

/** What can be done about it, such as undoing what it tells. */
export interface NoticeAction {
  key: MessageKey;
  run: () => void;
}

const SHORT_MILLIS = 6_000;
const WITH_ACTION_MILLIS = 12_000;

/** The words shown now, oldest first. */
export class Notices {
  list = $state.raw<Notice[]>([]);
  private count = 0;
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();

  /** Shows a sentence for a few seconds; longer where something can be done about it. */
  say(
    key: MessageKey,
    values: Record<string, string | number> = {},
    action: NoticeAction | null = null,
  ): void {
    const id = this.add({ key, values, error: null, action });
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        this.dismiss(id);
      },
      action === null ? SHORT_MILLIS : WITH_ACTION_MILLIS,
    );
    this.timers.add(timer);
  }

  /** Shows a sentence with a button until it is answered; the same sentence only once. */
  ask(key: MessageKey, values: Record<string, string>, action: NoticeAction): void {
    const text = JSON.stringify(values);
    const known = this.list.find((one) => one.key === key && JSON.stringify(one.values) === text);
    if (known) this.dismiss(known.id);
    this.add({ key, values, error: null, action });
  }

  /** Shows an error until it is dismissed. */
  fail(thrown: unknown): void {
    const error = errorBody(thrown);
    if (this.list.some((notice) => notice.error?.message === error.message)) return;
    this.add({ key: null, values: {}, error, action: null });
  }

  /** Does what a notice offers, once. */
  act(notice: Notice): void {
    this.dismiss(notice.id);
    notice.action?.run();
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  /** Takes every word back. */
  clear(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.list = [];
  }

  private add(notice: Omit<Notice, 'id'>): number {
    this.count += 1;
    this.list = [...this.list, { ...notice, id: this.count }].slice(-4);
    return this.count;
  }
}
