import type { Backend } from '../ipc/backend';
import type { RescueOffer, RestoreProgress, UnlockMethod } from '../ipc/types';
import type { App } from './app.svelte';
import { Worker } from './work.svelte';

/** A damaged vault that does not open, or damage that was found in the open one. */
export type Rescued = 'closed' | 'open';

/** The page of a damaged vault: what a rescue would bring, and the rescue. It stays while the vault is closed for that. */
export class Rescue extends Worker<'look' | 'rescue'> {
  /** Of which vault; `null` = the page is not shown. */
  of = $state<Rescued | null>(null);
  /** What a rescue would bring. */
  offer = $state.raw<RescueOffer | null>(null);
  /** What it has brought. */
  done = $state.raw<RescueOffer | null>(null);
  /** How far the work is; `null` before its first word. */
  progress = $state.raw<RestoreProgress | null>(null);
  private readonly app: App;
  private readonly backend: Backend;
  /** What opened the damaged vault, until the page is left. */
  private method: UnlockMethod | null = null;

  constructor(app: App, backend: Backend) {
    super();
    this.app = app;
    this.backend = backend;
    app.upkeep.health.onLoss = ({ messages }) => {
      const run = (): void => app.openSettings('backups');
      app.notices.ask('vault-lost', 'health.lost', { messages }, { key: 'action.show', run });
    };
    app.upkeep.health.onDamage = ({ damage }) => {
      if (this.of !== null) return;
      const run = (): void => void this.begin('open');
      app.notices.ask('vault-health', 'health.found', { damage }, { key: 'rescue.look', run });
    };
  }

  /** Shows the page; of an open vault it says at once what a rescue would bring. */
  async begin(of: Rescued): Promise<void> {
    this.leave();
    this.of = of;
    // What is half typed is stored before the vault is closed.
    if (of === 'open') await this.app.chat.flush();
    if (of === 'open') await this.look(null);
  }

  /** Finds out what a rescue would bring; the open vault needs nothing to be opened by. */
  async look(method: UnlockMethod | null): Promise<void> {
    this.progress = null;
    this.method = method;
    this.offer = await this.attempt('look', () =>
      this.backend.vaultRescuePreview(method, (progress) => (this.progress = progress)),
    );
    await this.follow();
  }

  /** The open vault may be closed now: it was locked meanwhile, or does not open again. */
  private async follow(): Promise<void> {
    await this.app.vault.refresh();
    if (this.of !== 'open' || this.app.vault.isOpen) return;
    if (this.app.vault.phase === 'damaged') {
      this.of = 'closed';
      this.offer = null;
    } else this.leave();
  }

  /** Puts what can be read in the damaged vault's place. */
  async go(): Promise<void> {
    this.progress = null;
    this.done = await this.attempt('rescue', () =>
      this.backend.vaultRescue(this.method, (progress) => (this.progress = progress)),
    );
    if (this.done) {
      await this.app.vault.refresh();
      await this.app.begin();
    } else await this.follow();
  }

  /** Leaves the page; the vault stays as it is. */
  leave(): void {
    // The notice of damage stood until the vault was closed for a look, and stands again.
    if (this.of === 'open' && this.done === null) this.app.upkeep.health.tellAgain();
    this.of = null;
    this.offer = null;
    this.done = null;
    this.failure = null;
    this.progress = null;
    this.method = null;
  }
}
