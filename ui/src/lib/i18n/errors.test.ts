import { describe, expect, it } from 'vitest';
import { explain } from './errors';

const said = (code: string, details: Record<string, string> = {}) =>
  explain({ code, message: 'raw', details });

describe('errors of one code', () => {
  it('speak of a reply only where there is one', () => {
    expect(said('busy', { conversationId: 'c' }).what).toBe('A reply is still being written.');
    expect(said('busy', { name: 'a.gguf' }).what).toBe('A reply is still being written.');
    expect(said('busy')).toEqual({ what: 'The vault is being opened.', todo: 'Wait a moment.' });
  });

  it('tell what lies in the trash from what is gone', () => {
    expect(said('not_found').what).toBe('This is no longer there.');
    const trashed = said('not_found', { inTrash: 'true', name: 'Mira' });
    expect(trashed.what).toBe('“Mira” lies in the trash.');
    expect(trashed.todo).toContain('Restore');
    expect(said('not_found', { inTrash: 'true' }).what).toBe('This lies in the trash.');
    expect(said('not_found', { folder: '/mnt/stick' }).what).toContain('/mnt/stick');
  });

  it('do not speak of the recovery code where another file was to be saved', () => {
    expect(said('place_refused').what).not.toMatch(/code/);
    expect(said('place_refused', { path: '/p/a.md' }).what).toContain('/p/a.md');
  });

  it('speak of the backup, not of the vault, where it is the backup that fails', () => {
    expect(said('wrong_key').what).toBe('That does not open this vault.');
    expect(said('wrong_key', { backup: 'wrongKey' }).what).toBe('That does not open this backup.');
    expect(said('vault_damaged', { backup: 'damaged' }).todo).toContain('another');
    expect(said('vault_exists', { backup: 'otherVault' }).what).toContain('another vault');
    expect(said('vault_too_new', { backup: 'tooNew' }).what).toContain('newer Evenkeel');
    expect(said('invalid_parameter', { backup: 'foreign' }).what).toContain('no backup');
    expect(said('invalid_parameter', { recoveryCode: 'mistyped' }).what).toContain('mistyped');
    expect(said('invalid_parameter', { sample: 'text' }).what).toContain('no JSON');
  });

  it('say what a server of tools said, or which program is not there', () => {
    const reason = 'No such file or directory';
    expect(said('limit_reached', { rounds: '8' }).what).toContain('asked for tools');
    expect(said('limit_reached').what).toBe('A limit has been reached.');
    expect(said('tool_failed', { command: 'npx', reason }).what).toBe(
      `“npx” could not be started: ${reason}`,
    );
    expect(said('tool_failed', { server: 'Notes', reason: 'no access' }).what).toContain(
      'no access',
    );
    expect(said('tool_failed', { server: 'Notes', seconds: '60' }).what).toContain('in time');
    expect(said('tool_failed').what).toContain('server of tools');
    const address = 'http://127.0.0.1:1/mcp';
    expect(said('tool_failed', { unreachable: address, reason: 'refused' }).what).toBe(
      `Nothing answers at ${address}.`,
    );
    expect(said('tool_failed', { place: address, reason: 'HTTP 404' }).what).toContain(
      `${address} is no MCP server`,
    );
    expect(said('tool_failed', { server: 'Notes', unauthorized: address }).what).toContain('token');
  });
});
