import type {
  Access,
  AccessKind,
  Connection,
  ConnectionBackend,
  ServerSettings,
  ServerStatus,
} from '../connections';
import { errorBody, failure } from '../error';
import type { Open } from './index';
import type { World } from './world';

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** Programs that have used the companions, in memory. */
export class FakeConnections {
  list: Connection[] = [];
  log: Access[] = [];
  server: ServerSettings = { enabled: false, port: 28_472 };
  tokens = 1;

  get token(): string {
    return `evenkeel_${String(this.tokens).repeat(43)}`;
  }

  /** Port 80 is taken. */
  status(): ServerStatus {
    const { enabled, port } = this.server;
    const error = failure('invalid_parameter', `Port ${port} is in use by another program.`, {
      field: 'port',
      value: String(port),
      range: 'a port that no other program has; 0 = any free one',
    });
    const isTaken = enabled && port === 80;
    return {
      settings: this.server,
      address: enabled && !isTaken ? `http://127.0.0.1:${port || 49_152}` : null,
      error: isTaken ? errorBody(error) : null,
    };
  }

  /** Two programs, one of which may talk. */
  seed(world: World): void {
    const grant = {
      ...{ isBlocked: false, mayChange: false, mayChat: false, usesSampling: false },
      contexts: null,
    };
    const [first] = world.contexts;
    this.list = [
      {
        name: 'Claude Desktop',
        version: '1.4.0',
        grant: { ...grant, mayChat: true },
        firstSeenAt: ago(40_000),
        lastSeenAt: ago(4),
      },
      {
        name: 'Visual Studio Code',
        version: '1.117.0',
        grant,
        firstSeenAt: ago(3_000),
        lastSeenAt: ago(190),
      },
    ];
    const entry = (minutes: number, client: string, kind: AccessKind, rest: Partial<Access>) => ({
      ...{ client, kind, contextId: null, contextName: null, count: 1, isRefused: false },
      at: ago(minutes),
      ...rest,
    });
    const about = { contextId: first?.id ?? null, contextName: first?.name ?? null };
    this.log = [
      entry(4, 'Claude Desktop', 'chat', about),
      entry(5, 'Claude Desktop', 'readMessages', { ...about, count: 3 }),
      entry(6, 'Claude Desktop', 'readContexts', { count: 4 }),
      entry(190, 'Visual Studio Code', 'deleteMessages', { ...about, count: 0, isRefused: true }),
    ];
  }
}

export function connectionCalls(world: World, open: Open): ConnectionBackend {
  const { connections } = world;
  const find = (name: string): Connection => {
    const found = connections.list.find((one) => one.name === name);
    if (!found) throw failure('not_found', `There is no program ${name}.`, { id: name });
    return found;
  };
  return {
    connectionList: () => open(() => connections.list),
    connectionSetGrant: (name, grant) => open(() => Object.assign(find(name), { grant })),
    connectionForget: (name) =>
      open(() => {
        find(name);
        connections.list = connections.list.filter((one) => one.name !== name);
      }),
    connectionLog: (name, limit) =>
      open(() =>
        connections.log.filter((one) => name === null || one.client === name).slice(0, limit),
      ),
    connectionClearLog: () => open(() => void (connections.log = [])),
    connectionSetup: () =>
      Promise.resolve({
        command: '/usr/bin/evenkeel',
        args: ['mcp', '--profile', '/home/ada/.local/share/evenkeel'],
      }),
    serverStatus: () => open(() => connections.status()),
    serverSave: (settings) =>
      open(() => {
        connections.server = settings;
        return connections.status();
      }),
    serverToken: () => open(() => connections.token),
    serverRenewToken: () =>
      open(() => {
        connections.tokens += 1;
        return connections.token;
      }),
  };
}
