import type { DiagnosisBackend } from './diagnosis';
import type { Call } from './tauri-life';

/** The commands about the network journal, the log and crashes. */
export function diagnosisCalls(call: Call): DiagnosisBackend {
  return {
    networkList: (contextId, limit) => call('network_list', { contextId, limit }),
    logRead: (level, limit) => call('log_read', { level, limit }),
    logClear: () => call('log_clear'),
    logOpenFolder: () => call('log_open_folder'),
    crashList: () => call('crash_list'),
    crashSave: (id) => call('crash_save', { id }),
    crashDelete: (id) => call('crash_delete', { id }),
  };
}
