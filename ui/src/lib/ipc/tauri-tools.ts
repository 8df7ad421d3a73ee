import type { Call } from './tauri-life';
import type { ToolBackend } from './tools';

/** The commands about tools. */
export function toolCalls(call: Call): ToolBackend {
  return {
    toolServerList: () => call('tool_server_list'),
    toolServerSave: (draft) => call('tool_server_save', { draft }),
    toolServerDelete: (id) => call('tool_server_delete', { id }),
    toolServerTest: (id) => call('tool_server_test', { id }),
    toolRuleSet: (choice, rule) => call('tool_rule_set', { choice, rule }),
    toolAnswer: (id, answer) => call('tool_answer', { id, answer }),
    contextTools: (contextId) => call('context_tools', { contextId }),
    contextToolsSet: (contextId, chosen) => call('context_tools_set', { contextId, chosen }),
  };
}
