import { Channel, invoke } from '@tauri-apps/api/core';
import { getCurrentWebview } from '@tauri-apps/api/webview';
import { getCurrentWindow } from '@tauri-apps/api/window';
import type { Backend } from './backend';
import { BackendError, errorBody } from './error';
import { lifeCalls } from './tauri-life';
import type { ChatEvent, ShellEvents } from './types';

async function call<R>(command: string, args: Record<string, unknown> = {}): Promise<R> {
  try {
    return await invoke<R>(command, args);
  } catch (thrown) {
    throw new BackendError(errorBody(thrown));
  }
}

type Reader = (payload: unknown) => unknown;
const same: Reader = (payload) => payload;

/** The shell's events behind each name, and how their payload is read. */
const EVENTS: Record<keyof ShellEvents, [string, Reader][]> = {
  change: [
    ['changed', same],
    ['vault-changed', () => ({ noun: 'vault', id: '' })],
  ],
  navigate: [['navigate', same]],
  engine: [['engine', same]],
};

/** The real backend: one Tauri command per method. */
export function tauriBackend(): Backend {
  const here = getCurrentWindow();
  return {
    vaultStatus: () => call('vault_status'),
    vaultCreate: (useKeychain, passphrase) =>
      call('vault_create', { options: { useKeychain, passphrase } }),
    vaultRenewRecovery: () => call('vault_renew_recovery'),
    vaultConfirmRecovery: (answers) => call('vault_confirm_recovery', { answers }),
    vaultUnlock: (method) => call('vault_unlock', { method }),
    vaultCancelWaiting: () => call('vault_cancel_waiting'),
    vaultLock: () => call('vault_lock'),

    ...lifeCalls(call),

    chatSend: (request, onEvent) => {
      const channel = new Channel<ChatEvent>();
      channel.onmessage = onEvent;
      return call('chat_send', { request, channel });
    },
    chatStop: (conversationId) => call('chat_stop', { conversationId }),
    chatMeter: (contextId, conversationId, text) =>
      call('chat_meter', { contextId, conversationId, text }),

    providerList: () => call('provider_list'),
    providerSave: (draft) => call('provider_save', { draft }),
    providerDelete: (id) => call('provider_delete', { id }),
    providerModels: (id) => call('provider_models', { id }),
    providerTest: (id) => call('provider_test', { id }),
    providerDetect: () => call('provider_detect'),
    modelOffers: () => call('model_offers'),
    modelFilePick: () => call('model_file_pick'),
    modelFileAdd: (path) => call('model_file_add', { path }),

    settingsGet: () => call('settings_get'),
    settingsSave: (settings) => call('settings_save', { settings }),
    appInfo: () => call('app_info'),
    openExternal: (url) => call('open_external', { url }),
    quickChatHide: () => call('quick_chat_hide'),
    quickChatMove: (conversationId) => call('quick_chat_move', { conversationId }),

    ...shellCalls(here),
  };
}

/** What the shell tells of its own accord. */
function shellCalls(
  here: ReturnType<typeof getCurrentWindow>,
): Pick<Backend, 'listen' | 'onFileDrop' | 'onFocus'> {
  return {
    listen: async (name, handler) => {
      const ends = await Promise.all(
        EVENTS[name].map(([event, read]) =>
          here.listen(event, ({ payload }) => handler(read(payload) as never)),
        ),
      );
      return () => ends.forEach((end) => end());
    },
    onFileDrop: (handler) =>
      getCurrentWebview().onDragDropEvent((event) => {
        if (event.payload.type === 'drop') handler(event.payload.paths);
      }),
    onFocus: (handler) =>
      here.onFocusChanged((event) => {
        if (event.payload) handler();
      }),
  };
}
