import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { DataSummary, ErrorBody } from '../ipc/types';

/** The word the core wants before it erases, whatever word the window asks for. */
const ERASE = 'ERASE';

/** Where the data is and how large; moving and erasing it. */
export class Storage {
  summary = $state.raw<DataSummary | null>(null);
  error = $state.raw<ErrorBody | null>(null);
  loading = $state(false);
  moving = $state(false);
  /** Where the data has moved to; the app is about to start again. */
  movedTo = $state<string | null>(null);
  erasing = $state(false);
  /** After erasing: the keychain has kept the key. */
  keyLeft = $state(false);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    this.loading = true;
    try {
      this.summary = await this.backend.dataSummary();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    } finally {
      this.loading = false;
    }
  }

  async move(): Promise<void> {
    this.moving = true;
    this.error = null;
    try {
      this.movedTo = (await this.backend.dataMove()) ?? this.movedTo;
    } catch (thrown) {
      this.error = errorBody(thrown);
    } finally {
      this.moving = false;
    }
  }

  /** Erases everything; the error where that failed. */
  async erase(models: boolean): Promise<ErrorBody | null> {
    this.erasing = true;
    try {
      this.keyLeft = !(await this.backend.dataErase(ERASE, models));
      this.summary = null;
      this.movedTo = null;
      return null;
    } catch (thrown) {
      return errorBody(thrown);
    } finally {
      this.erasing = false;
    }
  }
}
