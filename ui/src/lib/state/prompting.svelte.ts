import type { Backend } from '../ipc/backend';
import type { Gathered } from './changes';
import { Memory } from './memory.svelte';
import { Operations } from './operations.svelte';
import { Plugins } from './plugins.svelte';
import { Receipts } from './receipts.svelte';

/** What decides over requests, and what is known of those that were sent. */
export class Prompting {
  readonly receipts: Receipts;
  readonly memory: Memory;
  readonly plugins: Plugins;
  readonly operations: Operations;

  constructor(backend: Backend) {
    this.receipts = new Receipts(backend);
    this.memory = new Memory(backend);
    this.plugins = new Plugins(backend);
    this.operations = new Operations(backend);
  }

  async follow(changed: Gathered): Promise<void> {
    await this.memory.follow(changed);
    await this.operations.follow(changed);
  }

  /** Forgets what was read from the vault. */
  forget(): void {
    this.receipts.close();
    this.memory.forget();
    this.plugins.forget();
    this.operations.forget();
  }
}
