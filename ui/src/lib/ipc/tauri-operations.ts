import type { OperationBackend } from './operations';
import type { Call } from './tauri-life';

/** The commands about what tools did. */
export function operationCalls(call: Call): OperationBackend {
  return {
    operationList: (query) => call('operation_list', { query }),
    operationGet: (conversationId, id) => call('operation_get', { conversationId, id }),
    operationClear: (conversationId) => call('operation_clear', { conversationId }),
    operationSave: (conversationId) => call('operation_save', { conversationId }),
    operationLongStatus: () => call('operation_long_status'),
    operationLongSave: (settings) => call('operation_long_save', { settings }),
    operationTryRule: (rule, result) => call('operation_try_rule', { rule, result }),
  };
}
