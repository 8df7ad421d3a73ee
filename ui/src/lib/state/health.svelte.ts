import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ErrorBody, LostTail, VaultHealth } from '../ipc/types';

/** What the checks of the vault and of its backups have found. */
export class Health {
  value = $state.raw<VaultHealth | null>(null);
  /** Why that could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  /** The user has just asked for a check. */
  starting = $state(false);
  /** Hears of damage, once for each check that found some. */
  onDamage: (health: VaultHealth) => void = () => undefined;
  /** Hears of messages that were lost, once. */
  onLoss: (lost: LostTail) => void = () => undefined;
  private readonly backend: Backend;
  private toldOfLoss = false;
  private told: string | null = null;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    try {
      this.value = await this.backend.vaultHealth();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
      return;
    }
    const { damage, checkedAt, lost } = this.value;
    if (lost && !this.toldOfLoss) {
      this.toldOfLoss = true;
      this.onLoss(lost);
    }
    if (damage === 0 || checkedAt === this.told) return;
    this.told = checkedAt;
    this.onDamage(this.value);
  }

  /** Checks the vault now; what that finds is told as a change. */
  async check(): Promise<void> {
    if (this.starting) return;
    this.starting = true;
    try {
      await this.backend.jobRun('check');
      await this.load();
    } catch (thrown) {
      this.error = errorBody(thrown);
    } finally {
      this.starting = false;
    }
  }

  /** The user knows what was lost; the copy from before goes in its time. */
  async seeLoss(): Promise<void> {
    try {
      await this.backend.vaultLossSeen();
      await this.load();
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Damage that is known is told once more. */
  tellAgain(): void {
    this.told = null;
    void this.load();
  }

  forget(): void {
    this.value = null;
    this.error = null;
    this.told = null;
    this.toldOfLoss = false;
  }
}
