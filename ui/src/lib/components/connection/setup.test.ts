import { describe, expect, it } from 'vitest';
import { snippet } from './setup';

const setup = { command: '/opt/Even keel/evenkeel', args: ['mcp', '--profile', '/home/ada'] };

describe('what is pasted into other programs', () => {
  it.each(['claude', 'cursor'] as const)('is the configuration of %s', (client) => {
    expect(JSON.parse(snippet(client, setup))).toEqual({ mcpServers: { evenkeel: setup } });
  });

  it('is the configuration of VS Code', () => {
    const expected = { servers: { evenkeel: { type: 'stdio', ...setup } } };
    expect(JSON.parse(snippet('vscode', setup))).toEqual(expected);
  });

  it('is a command line for others, with what has blanks in quotes', () => {
    expect(snippet('other', setup)).toBe('"/opt/Even keel/evenkeel" mcp --profile /home/ada');
    const windows = { command: 'C:\\Evenkeel\\evenkeel.exe', args: ['mcp'] };
    expect(snippet('other', windows)).toBe('C:\\Evenkeel\\evenkeel.exe mcp');
  });
});
