/** The form of a server of tools. */
import type { ToolServerDraft } from '$lib/state/types';

export interface ServerForm {
  name: string;
  kind: 'stdio' | 'http';
  /** The program. */
  command: string;
  /** Its arguments, one a line. */
  args: string;
  /** Variables as `NAME=value`, one a line. */
  env: string;
  url: string;
  token: string;
}

export function blankForm(): ServerForm {
  return { name: '', kind: 'stdio', command: '', args: '', env: '', url: '', token: '' };
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** What is added. An argument may have spaces: each stands on a line of its own. */
export function draftOf(form: ServerForm): ToolServerDraft {
  const isProgram = form.kind === 'stdio';
  const pairs = lines(form.env).map((line): [string, string] => {
    const at = line.indexOf('=');
    return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1)];
  });
  const [url, token] = [form.url.trim(), form.token.trim()];
  return {
    id: null,
    name: form.name.trim(),
    transport: isProgram
      ? { kind: 'stdio', command: form.command.trim(), args: lines(form.args) }
      : { kind: 'http', url },
    env: isProgram && pairs.length > 0 ? Object.fromEntries(pairs) : null,
    token: !isProgram && token !== '' ? token : null,
  };
}

/** The whole command, each part as it will be given to the program; or the address. */
export function placeOf({ transport }: ToolServerDraft): string {
  if (transport.kind === 'http') return transport.url;
  const isPlain = /^[\p{L}\p{N}\-_./:=@%+,]+$/u;
  return [transport.command, ...transport.args]
    .map((part) => (isPlain.test(part) ? part : JSON.stringify(part)))
    .join(' ');
}

/** Whether there is enough to be added. */
export function isWhole(draft: ToolServerDraft): boolean {
  const { transport } = draft;
  const place = transport.kind === 'stdio' ? transport.command : transport.url;
  return draft.name !== '' && place !== '';
}
