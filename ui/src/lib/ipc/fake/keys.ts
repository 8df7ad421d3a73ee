import { failure } from '../error';
import type { KeyChange, KeysBackend, SlotInfo, SlotName, VaultSlots } from '../keys';
import type { RestoreStep } from '../types';
import type { FakeUpkeep } from './upkeep';
import type { FakeVault } from './vault';
import type { World } from './world';

type Open = <R>(work: () => R) => Promise<R>;

const STEPS: RestoreStep[] = ['copying', 'checking', 'finishing'];
const SHORTEST = 8;

/** The ways into the vault of the in-memory backend. */
export class FakeKeys {
  private readonly made: Partial<Record<SlotName, string>> = {};
  private earlier = 0;
  /** How often somebody used a window. */
  touches = 0;
  stopped = false;
  private readonly world: World;
  private readonly vault: FakeVault;
  private readonly upkeep: FakeUpkeep;

  constructor(world: World, vault: FakeVault, upkeep: FakeUpkeep) {
    this.world = world;
    this.vault = vault;
    this.upkeep = upkeep;
  }

  slots(): VaultSlots {
    const { hasKeychainSlot, hasPassphrase } = this.vault.status();
    const slot = (kind: SlotName): SlotInfo => ({
      kind,
      madeAt: this.made[kind] ?? '2026-03-02T09:00:00Z',
    });
    const slots = [slot('recoveryCode')];
    if (hasKeychainSlot) slots.push(slot('keychain'));
    if (hasPassphrase) slots.push(slot('passphrase'));
    return {
      slots,
      lock: hasPassphrase && !hasKeychainSlot ? 'real' : 'privacyScreen',
      earlierBackups: this.earlier,
      sleepIsHeard: true,
    };
  }

  /** A change of a way in, and the backup after it; on a full disk the change is all there is. */
  changed(kind: SlotName): KeyChange {
    this.made[kind] = this.world.now();
    this.earlier = this.upkeep.backups.length;
    try {
      const backup = this.upkeep.make('afterKeyChange');
      return { slots: this.slots(), backup, backupError: null, keychainKeeps: false };
    } catch {
      const backupError = failure('disk_full', 'No space left on the device.').body;
      return { slots: this.slots(), backup: null, backupError, keychainKeeps: false };
    }
  }

  remove(slot: SlotName, code: string | null): KeyChange {
    const { hasKeychainSlot, hasPassphrase } = this.vault.status();
    const isLast = slot === 'keychain' ? !hasPassphrase : !hasKeychainSlot;
    if (slot === 'recoveryCode' || isLast)
      throw failure('invalid_parameter', 'Only the recovery code would be left.', {});
    if (slot === 'keychain') {
      this.vault.requireCode(code ?? '');
      this.vault.setWays(false, hasPassphrase);
    } else this.vault.setWays(hasKeychainSlot, false);
    return this.changed(slot);
  }
}

/** Calls about keys. */
export function keyCalls(
  world: World,
  vault: FakeVault,
  upkeep: FakeUpkeep,
  open: Open,
): KeysBackend & { keys: FakeKeys } {
  const keys = new FakeKeys(world, vault, upkeep);
  return {
    keys,
    vaultSlots: () => open(() => keys.slots()),
    vaultSetPassphrase: (passphrase) =>
      open(() => {
        if (passphrase.length < SHORTEST)
          throw failure('invalid_parameter', 'The passphrase is too short.', {
            field: 'passphrase',
          });
        vault.setWays(vault.status().hasKeychainSlot, true);
        return keys.changed('passphrase');
      }),
    vaultAddKeychain: () =>
      open(() => {
        if (!vault.status().keychainAvailable)
          throw failure('keychain_unavailable', 'No keychain can be reached.');
        vault.setWays(true, vault.status().hasPassphrase);
        return keys.changed('keychain');
      }),
    vaultRemoveSlot: (slot, code) => open(() => keys.remove(slot, code)),
    vaultBeginRecovery: () => open(() => vault.sheet()),
    vaultFinishRecovery: (answers) =>
      open(() => {
        vault.checkAnswers(answers);
        return keys.changed('recoveryCode');
      }),
    vaultCancelRecovery: () => open(() => undefined),
    vaultRenewRoot: async (secrets, onProgress) => {
      await open(() => vault.requireCode(secrets.recoveryCode));
      keys.stopped = false;
      vault.turn('opening');
      world.onChange({ noun: 'vault', id: '' });
      for (const step of STEPS) {
        onProgress({ step, done: 24_000_000, of: step === 'checking' ? 0 : 48_000_000 });
        await new Promise((done) => setTimeout(done, 500));
        if (keys.stopped) break;
      }
      vault.turn('open');
      world.onChange({ noun: 'vault', id: '' });
      return keys.stopped ? null : keys.changed('recoveryCode');
    },
    vaultCancelRoot: () => {
      keys.stopped = true;
      return Promise.resolve();
    },
    vaultTouch: () => {
      keys.touches += 1;
      return Promise.resolve();
    },
  };
}
