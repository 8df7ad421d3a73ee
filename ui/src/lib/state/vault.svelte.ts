import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  ErrorBody,
  ErrorCode,
  RecoverySheet,
  RecoveryWords,
  UnlockMethod,
  VaultStatus,
} from '../ipc/types';

const POLL_MILLIS = 700;
/** Errors of what was typed, which is typed again where it stands. */
const TYPED: readonly ErrorCode[] = ['wrong_key', 'invalid_parameter'];

/** The vault as the window sees it: its phase, the recovery code while it is shown, and errors. */
export class Vault {
  status = $state.raw<VaultStatus | null>(null);
  /** The recovery code between creating the vault and typing the code back. */
  sheet = $state.raw<RecoverySheet | null>(null);
  busy = $state(false);
  error = $state.raw<ErrorBody | null>(null);
  /** Hears every status that arrives, whether it was asked for or waited for. */
  onStatus: (status: VaultStatus) => void = () => undefined;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  get phase(): VaultStatus['state'] | null {
    return this.status?.state ?? null;
  }

  get isOpen(): boolean {
    return this.phase === 'open';
  }

  async refresh(): Promise<void> {
    try {
      this.take(await this.backend.vaultStatus());
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  async create(useKeychain: boolean, passphrase: string | null): Promise<void> {
    await this.work(async () => {
      this.sheet = await this.backend.vaultCreate(useKeychain, passphrase);
      this.take(await this.backend.vaultStatus());
    });
  }

  /**
   * Makes a new recovery code after the app was closed before the first was typed back. Only for
   * the window that shows it: every new code ends the one before.
   */
  async renew(): Promise<void> {
    await this.work(async () => {
      this.sheet = await this.backend.vaultRenewRecovery();
    });
  }

  /** Answers with the groups that were typed back; true if they were right. */
  async confirm(answers: string[]): Promise<boolean> {
    return this.work(async () => {
      this.take(await this.backend.vaultConfirmRecovery(answers));
      this.sheet = null;
    });
  }

  /** Writes the recovery code into a file that the user chooses; `null` where that was left. */
  async saveRecovery(words: RecoveryWords): Promise<string | null> {
    return this.backend.vaultSaveRecovery(words);
  }

  async unlock(method: UnlockMethod): Promise<boolean> {
    // The keychain may wait for the user's answer elsewhere, so its screen stays usable.
    if (method.kind === 'keychain') this.watch();
    const opened = await this.work(async () => this.take(await this.backend.vaultUnlock(method)));
    // What keeps the vault shut whatever is typed has a screen of its own, with ways out.
    if (!opened && this.error && !TYPED.includes(this.error.code)) {
      await this.refresh();
      if (this.status?.error?.code === this.error?.code) this.error = null;
    }
    return opened;
  }

  async cancelWaiting(): Promise<void> {
    try {
      await this.backend.vaultCancelWaiting();
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
    await this.refresh();
  }

  async lock(): Promise<void> {
    await this.work(async () => this.take(await this.backend.vaultLock()));
  }

  /** Goes on from where a restore has left it. */
  follow(status: VaultStatus): void {
    this.error = null;
    this.take(status);
  }

  /** Forgets the last error, as when another way in is chosen. */
  clearError(): void {
    this.error = null;
  }

  private take(status: VaultStatus): void {
    this.status = status;
    this.onStatus(status);
    if (status.state === 'opening' || status.state === 'waiting') this.watch();
  }

  private watch(): void {
    if (this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.refresh();
    }, POLL_MILLIS);
  }

  private async work(task: () => Promise<void>): Promise<boolean> {
    this.busy = true;
    this.error = null;
    try {
      await task();
      return true;
    } catch (thrown) {
      this.error = errorBody(thrown);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
