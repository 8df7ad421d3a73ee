import type { Backend } from '../ipc/backend';
import type { PersonaAdvice, PersonaDraft } from '../ipc/life';
import type { ModelChoice } from '../ipc/types';
import { sendableFields } from './text';

const REST_MILLIS = 500;

/** What the core thinks of a persona while it is being written. */
export class Advice {
  list = $state.raw<PersonaAdvice[]>([]);
  private timer: ReturnType<typeof setTimeout> | null = null;
  private latest = 0;
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Asks again after a short rest in typing. */
  consider(draft: PersonaDraft, model: ModelChoice | null): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.latest += 1;
    const ticket = this.latest;
    if (draft.systemPrompt.trim() === '') {
      this.list = [];
      return;
    }
    this.timer = setTimeout(() => {
      this.backend
        .contextAdvice(sendableFields(draft), model && { ...model })
        .then((list) => {
          if (ticket === this.latest) this.list = list;
        })
        // Advice is an extra: saving does not depend on it, and says what is wrong.
        .catch(() => undefined);
    }, REST_MILLIS);
  }

  /** Begins with nothing said. */
  forget(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.latest += 1;
    this.list = [];
  }
}
