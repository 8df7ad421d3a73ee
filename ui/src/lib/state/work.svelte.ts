import { errorBody } from '../ipc/error';
import type { ErrorBody } from '../ipc/types';

/** Something that does one piece of work at a time, and knows how the last one failed. */
export abstract class Worker<Work> {
  /** What is being done. */
  work = $state.raw<Work | null>(null);
  /** How the last work failed. */
  failure = $state.raw<ErrorBody | null>(null);

  /** Does a piece of work; `null` where it failed, or where another one goes on. */
  protected async attempt<R>(work: Work, task: () => Promise<R>): Promise<R | null> {
    if (this.work !== null) return null;
    this.work = work;
    this.failure = null;
    try {
      return await task();
    } catch (thrown) {
      this.failure = errorBody(thrown);
      return null;
    } finally {
      this.work = null;
    }
  }
}
