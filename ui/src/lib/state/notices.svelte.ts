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
  /** Id of what it is about, by which it is taken back once that is settled elsewhere. */
  about: string | null;
}

/** What can be done about it, such as undoing what it tells. */
export interface NoticeAction {
  key: MessageKey;
  run: () => void;
}

const SHORT_MILLIS = 6_000;
const WITH_ACTION_MILLIS = 12_000;
/** So many at once; those that offer something are never pushed out by others. */
const MOST = 4;

/** The words shown now, oldest first. */
export class Notices {
  list = $state.raw<Notice[]>([]);
  private count = 0;
  /** When each notice goes that goes by itself: after how long, and unless it is held. */
  private readonly spans = new Map<number, number>();
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();

  /** Shows a sentence for a few seconds; longer where something can be done about it. */
  say(
    key: MessageKey,
    values: Record<string, string | number> = {},
    action: NoticeAction | null = null,
    about: string | null = null,
  ): void {
    const id = this.add({ key, values, error: null, action, about });
    this.spans.set(id, action === null ? SHORT_MILLIS : WITH_ACTION_MILLIS);
    this.release(id);
  }

  /** Shows a sentence about something with a button until it is answered; each only once. */
  ask(about: string, key: MessageKey, values: Notice['values'], action: NoticeAction): void {
    const known = this.list.find((one) => one.key === key && one.about === about);
    if (known) this.dismiss(known.id);
    this.add({ key, values, error: null, action, about });
  }

  /** Shows an error until it is dismissed, below a sentence that says what came of it. */
  fail(thrown: unknown, key: MessageKey | null = null): void {
    const error = errorBody(thrown);
    if (this.list.some((notice) => notice.error?.message === error.message)) return;
    this.add({ key, values: {}, error, action: null, about: null });
  }

  /** Keeps a notice while someone looks at it. */
  hold(id: number): void {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
  }

  /** Lets a notice go after its whole time, if it goes by itself. */
  release(id: number): void {
    const span = this.spans.get(id);
    if (span === undefined) return;
    this.hold(id);
    this.timers.set(
      id,
      setTimeout(() => this.dismiss(id), span),
    );
  }

  /** Does what a notice offers, once. */
  act(notice: Notice): void {
    this.dismiss(notice.id);
    notice.action?.run();
  }

  /** Takes back what was done last, where a notice still offers that; says whether it did. */
  undo(): boolean {
    const newest = this.list.findLast(({ action }) => action?.key === 'action.undo');
    if (newest) this.act(newest);
    return newest !== undefined;
  }

  dismiss(id: number): void {
    this.hold(id);
    this.spans.delete(id);
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  /** Takes back what was said about something: it is settled. */
  over(about: string): void {
    for (const one of this.list) if (one.about === about) this.dismiss(one.id);
  }

  /** Takes back all that was said in one sentence: the user sees it for themselves. */
  seen(key: MessageKey): void {
    for (const one of this.list) if (one.key === key) this.dismiss(one.id);
  }

  /** Takes every word back. */
  clear(): void {
    for (const { id } of this.list) this.dismiss(id);
  }

  private add(notice: Omit<Notice, 'id'>): number {
    this.count += 1;
    const id = this.count;
    this.list = [...this.list, { ...notice, id }];
    const plain = this.list.filter((one) => one.action === null && one.id !== id);
    for (const { id: old } of plain.slice(0, Math.max(0, this.list.length - MOST)))
      this.dismiss(old);
    return id;
  }
}
