import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  ErrorBody,
  KeyChange,
  RecoverySheet,
  RecoveryWords,
  RestoreProgress,
  RootSecrets,
  SlotName,
  VaultSlots,
} from '../ipc/types';
import { Presence } from './presence';
import { Worker } from './work.svelte';

/** What is being done with the keys. */
export type KeyWork = 'passphrase' | 'keychain' | 'remove' | 'recovery' | 'root';

/** The ways into the open vault. One piece of work at a time. */
export class Keys extends Worker<KeyWork> {
  slots = $state.raw<VaultSlots | null>(null);
  /** What the last change has come to. */
  change = $state.raw<KeyChange | null>(null);
  /** A new recovery code, until it was typed back. */
  sheet = $state.raw<RecoverySheet | null>(null);
  /** How far the vault is on its way to another root key; `null` before its first word. */
  progress = $state.raw<RestoreProgress | null>(null);
  /** The vault is closed because it gets another root key. */
  rooting = $state(false);
  /** Why the ways in could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  readonly presence: Presence;
  private readonly backend: Backend;

  /** Whether somebody is there is told as long as the vault `locks` itself. */
  constructor(backend: Backend, locks: () => boolean) {
    super();
    this.backend = backend;
    this.presence = new Presence(backend, locks);
  }

  has(kind: SlotName): boolean {
    return this.slots?.slots.some((slot) => slot.kind === kind) ?? false;
  }

  async load(): Promise<void> {
    try {
      this.slots = await this.backend.vaultSlots();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Each of these tells whether it went well. */
  async setPassphrase(passphrase: string): Promise<boolean> {
    return this.changing('passphrase', () => this.backend.vaultSetPassphrase(passphrase));
  }

  async addKeychain(): Promise<boolean> {
    return this.changing('keychain', () => this.backend.vaultAddKeychain());
  }

  async remove(slot: SlotName, code: string | null): Promise<boolean> {
    return this.changing('remove', () => this.backend.vaultRemoveSlot(slot, code));
  }

  /** Shows a new recovery code. */
  async beginRecovery(): Promise<void> {
    this.sheet = await this.attempt('recovery', () => this.backend.vaultBeginRecovery());
  }

  async finishRecovery(answers: string[]): Promise<boolean> {
    const done = await this.changing('recovery', () => this.backend.vaultFinishRecovery(answers));
    if (done) this.sheet = null;
    return done;
  }

  async cancelRecovery(): Promise<void> {
    this.sheet = null;
    this.failure = null;
    await this.backend.vaultCancelRecovery();
  }

  /** Writes the new recovery code into a file that the user chooses. */
  async saveRecovery(words: RecoveryWords): Promise<string | null> {
    return this.backend.vaultSaveRecovery(words);
  }

  /** Gives the vault another root key; tells whether it has one. */
  async renewRoot(secrets: RootSecrets): Promise<boolean> {
    this.progress = null;
    this.rooting = true;
    const done = await this.changing('root', () =>
      this.backend.vaultRenewRoot(secrets, (progress) => (this.progress = progress)),
    );
    this.rooting = false;
    return done;
  }

  async cancelRoot(): Promise<void> {
    await this.backend.vaultCancelRoot();
  }

  /** Forgets how the last work failed. */
  clear(): void {
    this.failure = null;
  }

  /** Forgets what was read from the vault, and a code that was shown. */
  forget(): void {
    this.slots = null;
    this.sheet = null;
    if (!this.rooting) this.change = null;
  }

  private async changing(work: KeyWork, task: () => Promise<KeyChange | null>): Promise<boolean> {
    const change = await this.attempt(work, task);
    if (change === null) return false;
    this.change = change;
    this.slots = change.slots;
    return true;
  }
}
