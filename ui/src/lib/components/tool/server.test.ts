import { describe, expect, it } from 'vitest';
import { laidOut } from '$lib/state/text';
import { blankForm, draftOf, isWhole, placeOf } from './server';

describe('the form of a server of tools', () => {
  it('gives each line of the arguments as one argument', () => {
    const form = { ...blankForm(), name: ' Notes ', command: ' npx ', args: '-y\n\n/home/a b \n' };
    const draft = draftOf(form);
    expect(draft.name).toBe('Notes');
    expect(draft.transport).toEqual({ kind: 'stdio', command: 'npx', args: ['-y', '/home/a b'] });
    expect(placeOf(draft)).toBe('npx -y "/home/a b"');
    expect([draft.env, draft.token]).toEqual([null, null]);
  });

  it('parts variables at their first sign of equality', () => {
    const form = { ...blankForm(), env: 'KEY=a=b\nEMPTY=\n' };
    expect(draftOf(form).env).toEqual({ KEY: 'a=b', EMPTY: '' });
  });

  it('sends a token to an address alone', () => {
    const form = { ...blankForm(), token: 'secret', url: 'https://tools.example/mcp' };
    expect(draftOf(form).token).toBeNull();
    const draft = draftOf({ ...form, kind: 'http', name: 'Far', env: 'A=1' });
    expect([draft.token, draft.env]).toEqual(['secret', null]);
    expect(isWhole(draft)).toBe(true);
    expect(isWhole({ ...draft, name: '' })).toBe(false);
  });

  it('lays JSON out and leaves the rest alone', () => {
    expect(laidOut('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(laidOut('not JSON')).toBe('not JSON');
  });
});
