import { failure } from '../error';
import type {
  ToolAnswer,
  ToolBackend,
  ToolChoice,
  ToolEvent,
  ToolRule,
  ToolServer,
  ToolTransport,
  ToolUse,
} from '../tools';
import type { ReceiptRound } from '../types';
import type { Open } from './index';
import type { World } from './world';

const PATH = { type: 'object', properties: { path: { type: 'string' } } };
const TOOLS = [
  {
    name: 'read_text_file',
    description: 'Read the complete contents of a file as text.',
    inputSchema: PATH,
  },
  {
    name: 'write_file',
    description:
      'Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning.',
    inputSchema: PATH,
  },
];

/** Servers of tools in memory, and the one question that can be open. */
export class FakeTools {
  servers: ToolServer[] = [];
  rules = new Map<string, ToolRule>();
  chosen = new Map<string, ToolChoice[]>();
  /** What each question was answered with. */
  answers: ToolAnswer[] = [];
  /** Calls that each answer of the model has. */
  calls = 1;
  /** What was added to the requests of replies. */
  rounds = new Map<string, ReceiptRound[]>();
  private made = 0;
  private called = 0;
  private readonly open = new Map<string, (answer: ToolAnswer | null) => void>();

  seed(): void {
    const args = ['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/My notes'];
    this.add('Notes', { kind: 'stdio', command: 'npx', args }, TOOLS);
  }

  add(name: string, transport: ToolTransport, tools: ToolServer['tools'] = []): ToolServer {
    this.made += 1;
    const server: ToolServer = {
      id: `server-${this.made}`,
      name,
      transport,
      envNames: [],
      tokenHint: null,
      locality: localityOf(transport),
      tools,
      listedAt: tools.length > 0 ? new Date().toISOString() : null,
      createdAt: new Date().toISOString(),
    };
    this.servers.push(server);
    return server;
  }

  /** What is reached in another way has other tools. */
  forgetRules(serverId: string): void {
    for (const key of this.rules.keys()) if (key.startsWith(`${serverId}/`)) this.rules.delete(key);
  }

  answer(id: string, answer: ToolAnswer): void {
    const told = this.open.get(id);
    if (!told) throw failure('not_found', 'Nobody waits for this answer any more.', { id });
    this.open.delete(id);
    this.answers.push(answer);
    told(answer);
  }

  /** Ends the question with its reply. */
  giveUp(): void {
    for (const told of this.open.values()) told(null);
    this.open.clear();
  }

  /** Keeps what a round of a reply has added. */
  private note(replyId: string, call: ToolUse, result: string): void {
    const made = { id: call.id, name: call.tool, arguments: call.arguments };
    const called = { ...made, server: call.server, tool: call.tool };
    this.rounds.set(replyId, [
      {
        messages: [
          { from: 'model', text: '', calls: [called], tokens: 24 },
          { from: 'tool', call: called, text: result, tokens: 18 },
        ],
        tokens: 42,
        toolsAreOver: false,
        requestHash: 'f'.repeat(64),
        requestBytes: 1_840,
        forgotten: false,
      },
    ]);
  }

  /** Plays the calls of one answer, one after the other; what the model says of the last. */
  async play(replyId: string, onEvent: (event: ToolEvent) => void): Promise<string> {
    let said = '';
    for (let number = 1; number <= this.calls; number += 1)
      said = await this.call(replyId, number, onEvent);
    return said;
  }

  /** Plays one call of a tool, which is asked about unless it is allowed for good. */
  private async call(
    replyId: string,
    number: number,
    onEvent: (event: ToolEvent) => void,
  ): Promise<string> {
    this.called += 1;
    const call: ToolUse = {
      id: `call-${this.called}`,
      server: this.servers[0]?.name ?? 'Notes',
      tool: 'write_file',
      arguments: '{"path":"/home/ada/My notes/plan.md","content":"# Plan\\n\\nSleep on it."}',
    };
    const key = `${this.servers[0]?.id ?? ''}/write_file`;
    let answer: ToolAnswer | null = this.rules.get(key) === 'allowed' ? 'always' : 'deny';
    if (answer === 'deny') {
      const [, write] = TOOLS;
      const [server] = this.servers;
      const waiting = new Promise<ToolAnswer | null>((told) => this.open.set(call.id, told));
      const place = server ? placeOf(server.transport) : '';
      const description = write?.description ?? '';
      const { calls: count } = this;
      onEvent({ kind: 'toolQuestion', call, description, place, number, count });
      answer = await waiting;
    }
    if (answer === null) return '';
    if (answer === 'deny') {
      const result = 'The user did not allow this call. It was not run.';
      onEvent({ kind: 'toolEnded', call, end: 'refused', result });
      this.note(replyId, call, result);
      return 'I have left the file alone.';
    }
    if (answer === 'always') this.rules.set(key, 'allowed');
    onEvent({ kind: 'toolBegan', call });
    const result = 'Successfully wrote to /home/ada/My notes/plan.md';
    onEvent({ kind: 'toolEnded', call, end: 'done', result });
    this.note(replyId, call, result);
    return 'The plan stands in plan.md now.';
  }
}

function localityOf(transport: ToolTransport): ToolServer['locality'] {
  const isHere = transport.kind === 'stdio' || /^https?:\/\/(localhost|127\.)/.test(transport.url);
  return isHere ? 'local' : 'remote';
}

export function placeOf(transport: ToolTransport): string {
  if (transport.kind === 'http') return transport.url;
  const quoted = (part: string): string =>
    /^[\p{L}\p{N}\-_./:=@%+,]+$/u.test(part) ? part : JSON.stringify(part);
  return [transport.command, ...transport.args].map(quoted).join(' ');
}

export function toolCalls(world: World, open: Open): ToolBackend {
  const { tools } = world;
  const find = (id: string): ToolServer => {
    const found = tools.servers.find((one) => one.id === id);
    if (!found) throw failure('not_found', `There is no server of tools ${id}.`, { id });
    return found;
  };
  const view = (server: ToolServer) => ({
    server: { ...server },
    place: placeOf(server.transport),
    rules: server.tools.map((tool) => tools.rules.get(`${server.id}/${tool.name}`) ?? 'ask'),
  });
  return {
    toolServerList: () => open(() => tools.servers.map(view)),
    toolServerSave: ({ id, name, transport, env, token }) =>
      open(() => {
        const server = id === null ? tools.add(name, transport) : find(id);
        if (placeOf(server.transport) !== placeOf(transport)) tools.forgetRules(server.id);
        Object.assign(server, { name, transport, locality: localityOf(transport) });
        if (env !== null) server.envNames = Object.keys(env);
        if (token !== null) server.tokenHint = token === '' ? null : token.slice(-4);
        return view(server);
      }),
    toolServerDelete: (id) =>
      open(() => {
        find(id);
        tools.servers = tools.servers.filter((one) => one.id !== id);
      }),
    toolServerTest: (id) =>
      open(() => {
        const server = find(id);
        if (server.transport.kind === 'http' && server.transport.url.includes(':1/')) {
          const unreachable = server.transport.url;
          const message = `Nothing answers at ${unreachable}: connection refused`;
          const details = { server: server.name, unreachable, reason: 'connection refused' };
          throw failure('tool_failed', message, details);
        }
        if (server.name.includes('broken')) {
          const message = `${server.name} could not be started: No such file or directory`;
          const details = { server: server.name, reason: 'No such file or directory' };
          throw failure('tool_failed', message, details);
        }
        Object.assign(server, { tools: TOOLS, listedAt: new Date().toISOString() });
        return { view: view(server), leftOut: 0, millis: 412 };
      }),
    toolRuleSet: ({ serverId, tool }, rule) =>
      open(() => {
        tools.rules.set(`${serverId}/${tool}`, rule);
        return view(find(serverId));
      }),
    toolAnswer: (id, answer) => open(() => tools.answer(id, answer)),
    contextTools: (contextId) => open(() => tools.chosen.get(contextId) ?? []),
    contextToolsSet: (contextId, chosen) =>
      open(() => {
        tools.chosen.set(contextId, chosen);
        return chosen;
      }),
  };
}
