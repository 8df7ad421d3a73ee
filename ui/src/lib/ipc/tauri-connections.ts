import type { ConnectionBackend } from './connections';
import type { Call } from './tauri-life';

/** The commands about other programs. */
export function connectionCalls(call: Call): ConnectionBackend {
  return {
    connectionList: () => call('connection_list'),
    connectionSetGrant: (name, grant) => call('connection_set_grant', { name, grant }),
    connectionForget: (name) => call('connection_forget', { name }),
    connectionLog: (name, limit) => call('connection_log', { name, limit }),
    connectionClearLog: () => call('connection_clear_log'),
    connectionSetup: () => call('connection_setup'),
    serverStatus: () => call('server_status'),
    serverSave: (settings) => call('server_save', { settings }),
    serverToken: () => call('server_token'),
    serverRenewToken: () => call('server_renew_token'),
  };
}
