import { Channel } from '@tauri-apps/api/core';
import type { HealthBackend } from './health';
import type { RestoreProgress } from './types';

type Call = <R>(command: string, args?: Record<string, unknown>) => Promise<R>;

/** The commands of a vault's health, and of one that is damaged. */
export function healthCalls(call: Call): HealthBackend {
  const told = (onProgress: (progress: RestoreProgress) => void): Channel<RestoreProgress> => {
    const channel = new Channel<RestoreProgress>();
    channel.onmessage = onProgress;
    return channel;
  };
  return {
    vaultHealth: () => call('vault_health'),
    vaultLossSeen: () => call('vault_loss_seen'),
    vaultRescuePreview: (method, onProgress) =>
      call('vault_rescue_preview', { method, channel: told(onProgress) }),
    vaultRescue: (method, onProgress) =>
      call('vault_rescue', { method, channel: told(onProgress) }),
  };
}
