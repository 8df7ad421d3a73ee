import type { Backend } from '../ipc/backend';
import type { Notices } from './notices.svelte';

/** Links out of the app: each is shown in full before it is opened. */
export class Links {
  /** The address that waits for the user's word. */
  pending = $state<string | null>(null);
  private readonly backend: Backend;
  private readonly notices: Notices;

  constructor(backend: Backend, notices: Notices) {
    this.backend = backend;
    this.notices = notices;
  }

  ask(url: string): void {
    this.pending = url;
  }

  cancel(): void {
    this.pending = null;
  }

  async open(): Promise<void> {
    const url = this.pending;
    this.pending = null;
    if (url === null) return;
    await this.backend.openExternal(url).catch((thrown) => this.notices.fail(thrown));
  }
}
