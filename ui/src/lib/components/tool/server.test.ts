import { describe, expect, it } from 'vitest';
import { brief, laidOut } from '$lib/state/text';
import type { ToolServer } from '$lib/state/types';
import { canKeep, draftOf, formOf, isWhole, placeOf, wrongLine } from './server';

const server = (over: Partial<ToolServer>): ToolServer => ({
  id: 'server-1',
  name: 'Notes',
  transport: { kind: 'stdio', command: 'npx', args: ['-y', '/home/a b'] },
  envNames: [],
  tokenHint: null,
  locality: 'local',
  tools: [],
  listedAt: null,
  createdAt: '',
  ...over,
});

describe('the form of a server of tools', () => {
  it('gives each line of the arguments as one argument', () => {
    const form = { ...formOf(null), name: ' Notes ', program: ' npx ', args: '-y\n\n/home/a b \n' };
    const draft = draftOf(form);
    expect(draft.name).toBe('Notes');
    expect(draft.transport).toEqual({ kind: 'stdio', command: 'npx', args: ['-y', '/home/a b'] });
    expect(placeOf(draft.transport)).toBe('npx -y "/home/a b"');
    expect([draft.env, draft.token]).toEqual([null, null]);
  });

  it('parts variables at their first sign of equality', () => {
    const form = { ...formOf(null), env: 'KEY=a=b\nEMPTY=\n' };
    expect(draftOf(form).env).toEqual({ KEY: 'a=b', EMPTY: '' });
  });

  it('sends a token to an address alone', () => {
    const form = { ...formOf(null), token: 'secret', url: 'https://tools.example/mcp' };
    expect(draftOf(form).token).toBeNull();
    const draft = draftOf({ ...form, kind: 'http', name: 'Far', env: 'A=1' });
    expect([draft.token, draft.env]).toEqual(['secret', null]);
    expect(isWhole(draft)).toBe(true);
    expect(isWhole({ ...draft, name: '' })).toBe(false);
  });

  it('changes a name and nothing else', () => {
    const known = server({ envNames: ['KEY'] });
    const draft = draftOf({ ...formOf(known), name: 'Thoughts' }, known);
    expect(draft).toEqual({
      id: 'server-1',
      name: 'Thoughts',
      transport: known.transport,
      env: null,
      token: null,
    });
  });

  it('keeps what is secret only where the server is reached as before', () => {
    const known = server({ envNames: ['KEY'] });
    const form = formOf(known);
    expect(canKeep(form, known)).toBe(true);
    expect(draftOf({ ...form, keeps: false }, known).env).toEqual({});
    expect(draftOf({ ...form, keeps: false, env: 'OTHER=1' }, known).env).toEqual({ OTHER: '1' });
    const moved = { ...form, args: '/' };
    expect(canKeep(moved, known)).toBe(false);
    expect(draftOf(moved, known).env).toEqual({});
    const far = { ...form, kind: 'http' as const, url: 'https://tools.example/mcp' };
    expect(draftOf(far, known)).toMatchObject({ env: {}, token: null });
    const remote = server({
      transport: { kind: 'http', url: 'https://tools.example/mcp' },
      tokenHint: '6789',
    });
    expect(draftOf(formOf(remote), remote).token).toBeNull();
    const elsewhere = { ...formOf(remote), url: 'https://other.example/mcp' };
    expect(draftOf(elsewhere, remote).token).toBe('');
    expect(draftOf({ ...elsewhere, token: 'anew' }, remote).token).toBe('anew');
  });

  it('refuses variables that are none', () => {
    const wrong = (env: string, kind: 'stdio' | 'http' = 'stdio') =>
      wrongLine({ ...formOf(null), kind, env }, null);
    expect(wrong('A=b\n\nC=\n')).toBeNull();
    expect(wrong('A=b\nexport C=d')).toBe('export C=d');
    expect(wrong('secret')).toBe('secret');
    expect(wrong('=b')).toBe('=b');
    expect(wrong('secret', 'http')).toBeNull();
    const known = server({ envNames: ['KEY'] });
    expect(wrongLine({ ...formOf(known), env: 'secret' }, known)).toBeNull();
  });

  it('tells a call on one line', () => {
    expect(brief('{"path":"/a b","lines":[1,2],"text":"one\\ntwo"}')).toBe(
      'path: /a b, lines: [1,2], text: one two',
    );
    expect(brief('{}')).toBe('');
    expect(brief('not\nJSON')).toBe('not JSON');
  });

  it('lays JSON out and leaves the rest alone', () => {
    expect(laidOut('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(laidOut('not JSON')).toBe('not JSON');
  });
});
