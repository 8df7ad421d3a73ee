import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { DataSummary, ErrorBody } from '../ipc/types';

/** The word the core wants before it erases, whatever word the window asks for. */
const ERASE = 'ERASE';

/** Where the data is and how large; erasing it. */
export class Storage {
  summary = $state.raw<DataSummary | null>(null);
  error = $state.raw<ErrorBody | null>(null);
  erasing = $state(false);
  /** After erasing: the keychain has kept the key. */
  keyLeft = $state(false);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    try {
      this.summary = await this.backend.dataSummary();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Erases everything; the error where that failed. */
  async erase(models: boolean): Promise<ErrorBody | null> {
    this.erasing = true;
    try {
      this.keyLeft = !(await this.backend.dataErase(ERASE, models));
      this.summary = null;
      return null;
    } catch (thrown) {
      return errorBody(thrown);
    } finally {
      this.erasing = false;
    }
  }
}
