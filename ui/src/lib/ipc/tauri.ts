import { Channel, invoke } from '@tauri-apps/api/core';
import { getCurrentWebview } from '@tauri-apps/api/webview';
import { getCurrentWindow } from '@tauri-apps/api/window';
import type { Backend } from './backend';
import type { CareBackend } from './care';
import { BackendError, errorBody } from './error';
import { archiveCalls } from './tauri-archive';
import { healthCalls } from './tauri-health';
import { keyCalls } from './tauri-keys';
import { connectionCalls } from './tauri-connections';
import { diagnosisCalls } from './tauri-diagnosis';
import { lifeCalls } from './tauri-life';
import { memoryCalls } from './tauri-memory';
import { operationCalls } from './tauri-operations';
import { toolCalls } from './tauri-tools';
import { whole } from './text';
import type { ChatEvent, RestoreProgress, ShellEvents } from './types';
import type { UpkeepBackend } from './upkeep';

async function call<R>(command: string, args: Record<string, unknown> = {}): Promise<R> {
  try {
    // Rust refuses half a surrogate pair anywhere in the arguments, with words that are not for people.
    return await invoke<R>(command, whole(args) as Record<string, unknown>);
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
  contextExpiring: [['context-expiring', same]],
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
    vaultSaveRecovery: (words) => call('vault_save_recovery', { words }),

    ...archiveCalls(call),
    ...healthCalls(call),
    ...keyCalls(call),
    ...lifeCalls(call),
    ...memoryCalls(call),
    ...operationCalls(call),
    ...connectionCalls(call),
    ...toolCalls(call),
    ...diagnosisCalls(call),

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
    modelOffers: () => call('model_offers'),
    modelFilePick: () => call('model_file_pick'),
    modelFileAdd: (path) => call('model_file_add', { path }),
    modelFileRemoval: (name) => call('model_file_removal', { name }),
    modelFileRemove: (name) => call('model_file_remove', { name }),

    settingsGet: () => call('settings_get'),
    settingsSave: (settings) => call('settings_save', { settings }),
    appInfo: () => call('app_info'),
    openExternal: (url) => call('open_external', { url }),
    quickChatHide: () => call('quick_chat_hide'),
    quickChatMove: (conversationId) => call('quick_chat_move', { conversationId }),
    quickChatMoved: () => call('quick_chat_moved'),

    ...upkeepCalls,
    ...shellCalls(here),
  };
}

/** What keeps the vault, and the people who use it, well. */
const upkeepCalls: CareBackend & UpkeepBackend = {
  careHelplines: (region) => call('care_helplines', { region }),
  jobList: () => call('job_list'),
  jobRun: (name) => call('job_run', { name }),
  backupList: () => call('backup_list'),
  backupForget: () => call('backup_forget'),
  backupMake: () => call('backup_make'),
  backupSave: () => call('backup_save'),
  backupVerify: (path) => call('backup_verify', { path }),
  backupChoose: () => call('backup_choose'),
  backupPreview: (path) => call('backup_preview', { path }),
  backupRestore: (path) => call('backup_restore', { path }),
  backupListClosed: () => call('backup_list_closed'),
  backupChooseClosed: () => call('backup_choose_closed'),
  backupRestoreClosed: (path, secret, onProgress) => {
    const channel = new Channel<RestoreProgress>();
    channel.onmessage = onProgress;
    return call('backup_restore_closed', { path, secret, channel });
  },
  dataSummary: () => call('data_summary'),
  dataErase: (confirmation, models) => call('data_erase', { confirmation, models }),
  dataMove: () => call('data_move'),
  featureList: () => call('feature_list'),
};

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
