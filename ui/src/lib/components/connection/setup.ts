import type { ConnectionSetup } from '$lib/state/types';

/** A program that a configuration can be pasted into. */
export type Client = 'claude' | 'vscode' | 'cursor' | 'other';

/** Where each keeps it. */
export const FILES: Record<Exclude<Client, 'other'>, string> = {
  claude: 'claude_desktop_config.json',
  vscode: '.vscode/mcp.json',
  cursor: '~/.cursor/mcp.json',
};

/** What is pasted into a program's configuration; of others, the command line. */
export function snippet(client: Client, { command, args }: ConnectionSetup): string {
  if (client === 'other') {
    const isWindows = /^(?:[a-z]:|\\)\\/i.test(command);
    return [command, ...args].map(isWindows ? windowsQuoted : quoted).join(' ');
  }
  const server = client === 'vscode' ? { type: 'stdio', command, args } : { command, args };
  const key = client === 'vscode' ? 'servers' : 'mcpServers';
  return JSON.stringify({ [key]: { evenkeel: server } }, null, 2);
}

/** A word as a shell takes it, in which nothing of it means anything. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function windowsQuoted(word: string): string {
  return /^[\w@+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;
}

/** A program that speaks with the running app over HTTP. */
export type HttpClient = 'vscode' | 'cursor' | 'claude-code' | 'curl';

/** What stands for a token that is not shown. */
const HIDDEN = '…';

/** Whether the token stands in what is pasted: VS Code asks for it, since its file is often shared with a project. */
export const holdsToken = (client: HttpClient): boolean => client !== 'vscode';

/** What VS Code asks for. */
const INPUT = {
  type: 'promptString',
  id: 'evenkeel-token',
  description: 'Evenkeel: token',
  password: true,
};

/** What is pasted into a program that speaks MCP over HTTP; of others, a command line. */
export function httpSnippet(client: HttpClient, address: string, token: string | null): string {
  const url = `${address}/mcp`;
  const bearer = `Bearer ${token ?? HIDDEN}`;
  const header = `--header "Authorization: ${bearer}"`;
  if (client === 'claude-code') return `claude mcp add --transport http evenkeel ${url} ${header}`;
  if (client === 'curl') return `curl ${header} ${address}/api/v1/health`;
  const server = (authorization: string) => ({ url, headers: { Authorization: authorization } });
  const asked = { type: 'http', ...server(`Bearer \${input:${INPUT.id}}`) };
  const config = holdsToken(client)
    ? { mcpServers: { evenkeel: server(bearer) } }
    : { inputs: [INPUT], servers: { evenkeel: asked } };
  return JSON.stringify(config, null, 2);
}
