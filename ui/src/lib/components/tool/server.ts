/** The form of a server of tools. */
import type { ToolServer, ToolServerDraft, ToolTransport } from '$lib/state/types';

export interface ServerForm {
  name: string;
  kind: 'stdio' | 'http';
  program: string;
  /** Its arguments, one a line. */
  args: string;
  /** Variables as `NAME=value`, one a line. */
  env: string;
  url: string;
  token: string;
  /** What is stored as secret stays, as long as the server is reached as before. */
  keeps: boolean;
}

/** The form as it is opened; what is secret of a server is not in it. */
export function formOf(server: ToolServer | null): ServerForm {
  const blank = { name: '', kind: 'stdio' as const, program: '', args: '', env: '', url: '' };
  const form = { ...blank, token: '', keeps: true };
  if (server === null) return form;
  const { name, transport } = server;
  if (transport.kind === 'http') return { ...form, name, kind: 'http', url: transport.url };
  return { ...form, name, program: transport.command, args: transport.args.join('\n') };
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** An argument may have spaces: each stands on a line of its own. */
function transportOf(form: ServerForm): ToolTransport {
  if (form.kind === 'http') return { kind: 'http', url: form.url.trim() };
  return { kind: 'stdio', command: form.program.trim(), args: lines(form.args) };
}

/** Whether a server has secrets that can stay: they belong to the way in which it is reached. */
export function canKeep(form: ServerForm, server: ToolServer | null): boolean {
  if (server === null || placeOf(transportOf(form)) !== placeOf(server.transport)) return false;
  return form.kind === 'stdio' ? server.envNames.length > 0 : server.tokenHint !== null;
}

/** The first line of the variables that is none; a shell's `export` is no part of a name. */
export function wrongLine(form: ServerForm, server: ToolServer | null): string | null {
  if (form.kind === 'http' || (form.keeps && canKeep(form, server))) return null;
  return lines(form.env).find((line) => !/^[^\s=]+\s*=/.test(line)) ?? null;
}

/** What is added, or changed of a server. */
export function draftOf(form: ServerForm, server: ToolServer | null = null): ToolServerDraft {
  const isKept = form.keeps && canKeep(form, server);
  const pairs = lines(form.env).map((line): [string, string] => {
    const [name = ''] = line.split('=', 1);
    return [name.trim(), line.slice(name.length + 1)];
  });
  const env = form.kind === 'stdio' && !isKept ? Object.fromEntries(pairs) : {};
  const token = form.kind === 'http' && !isKept ? form.token.trim() : '';
  const keepsEnv = (form.kind === 'stdio' && isKept) || (server?.envNames.length ?? 0) === 0;
  const keepsToken = (form.kind === 'http' && isKept) || (server?.tokenHint ?? null) === null;
  return {
    id: server?.id ?? null,
    name: form.name.trim(),
    transport: transportOf(form),
    env: Object.keys(env).length === 0 && keepsEnv ? null : env,
    token: token === '' && keepsToken ? null : token,
  };
}

/** The whole command, each part as it will be given to the program; or the address. */
export function placeOf(transport: ToolTransport): string {
  if (transport.kind === 'http') return transport.url;
  const isPlain = /^[\p{L}\p{N}\-_./:=@%+,]+$/u;
  return [transport.command, ...transport.args]
    .map((part) => (isPlain.test(part) ? part : JSON.stringify(part)))
    .join(' ');
}

/** Whether there is enough to be stored. */
export function isWhole(draft: ToolServerDraft): boolean {
  const { transport } = draft;
  const place = transport.kind === 'stdio' ? transport.command : transport.url;
  return draft.name !== '' && place !== '';
}
