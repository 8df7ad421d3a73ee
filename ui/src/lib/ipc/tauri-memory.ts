import type { MemoryBackend } from './memory';
import type { Call } from './tauri-life';

/** The commands about receipts, memory and strategies. */
export function memoryCalls(call: Call): MemoryBackend {
  return {
    receiptGet: (messageId) => call('receipt_get', { messageId }),
    receiptRequest: (messageId) => call('receipt_request', { messageId }),
    chatPreview: (request) => call('chat_preview', { request }),
    chatCompare: (request, strategies) => call('chat_compare', { request, strategies }),
    summaryList: (conversationId) => call('summary_list', { conversationId }),
    summaryEdit: (id, text) => call('summary_edit', { id, text }),
    summaryRemove: (id) => call('summary_remove', { id }),
    stateGet: (conversationId, includeSuperseded) =>
      call('state_get', { conversationId, includeSuperseded }),
    stateSet: (conversationId, name, value) => call('state_set', { conversationId, name, value }),
    statePin: (id, isPinned) => call('state_pin', { id, isPinned }),
    stateForget: (id) => call('state_forget', { id }),
    pluginList: () => call('plugin_list'),
    pluginPick: () => call('plugin_pick'),
    pluginInstall: (path, replace) => call('plugin_install', { path, replace }),
    pluginRemove: (id) => call('plugin_remove', { id }),
  };
}
