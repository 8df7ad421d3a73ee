import { Channel } from '@tauri-apps/api/core';
import type { KeysBackend } from './keys';
import type { RestoreProgress } from './types';

type Call = <R>(command: string, args?: Record<string, unknown>) => Promise<R>;

/** The commands of the ways into the vault, and of its lock. */
export function keyCalls(call: Call): KeysBackend {
  return {
    vaultSlots: () => call('vault_slots'),
    vaultSetPassphrase: (passphrase) => call('vault_set_passphrase', { passphrase }),
    vaultAddKeychain: () => call('vault_add_keychain'),
    vaultRemoveSlot: (slot, recoveryCode) => call('vault_remove_slot', { slot, recoveryCode }),
    vaultBeginRecovery: () => call('vault_begin_recovery'),
    vaultFinishRecovery: (answers) => call('vault_finish_recovery', { answers }),
    vaultCancelRecovery: () => call('vault_cancel_recovery'),
    vaultRenewRoot: (secrets, onProgress) => {
      const channel = new Channel<RestoreProgress>();
      channel.onmessage = onProgress;
      return call('vault_renew_root', { secrets, channel });
    },
    vaultCancelRoot: () => call('vault_cancel_root'),
    vaultTouch: () => call('vault_touch'),
  };
}
