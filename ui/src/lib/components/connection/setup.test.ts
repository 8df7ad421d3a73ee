import { describe, expect, it } from 'vitest';
import { httpSnippet, snippet } from './setup';

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
    expect(snippet('other', setup)).toBe("'/opt/Even keel/evenkeel' mcp --profile /home/ada");
    const windows = { command: 'C:\\Evenkeel\\evenkeel.exe', args: ['mcp', 'D:\\My data'] };
    expect(snippet('other', windows)).toBe('C:\\Evenkeel\\evenkeel.exe mcp "D:\\My data"');
  });

  it('leaves nothing for a shell to read', () => {
    const active = { command: '/opt/evenkeel', args: ['--profile', "/tmp/$HOME `id` \\ it's"] };
    expect(snippet('other', active)).toBe(
      `/opt/evenkeel --profile '/tmp/$HOME \`id\` \\ it'\\''s'`,
    );
  });
});

describe('what is pasted into programs that speak over HTTP', () => {
  const address = 'http://127.0.0.1:28472';
  const headers = { Authorization: 'Bearer evenkeel_abc' };

  it('is the configuration of Cursor', () => {
    const server = { url: `${address}/mcp`, headers };
    expect(JSON.parse(httpSnippet('cursor', address, 'evenkeel_abc'))).toEqual({
      mcpServers: { evenkeel: server },
    });
  });

  it('is the configuration of VS Code, which asks for the token and does not hold it', () => {
    const text = httpSnippet('vscode', address, 'evenkeel_abc');
    expect(text).not.toContain('evenkeel_abc');
    expect(JSON.parse(text)).toMatchObject({
      inputs: [{ type: 'promptString', id: 'evenkeel-token', password: true }],
      servers: {
        evenkeel: { type: 'http', headers: { Authorization: 'Bearer ${input:evenkeel-token}' } },
      },
    });
  });

  it('is a command line for others, without a token that is hidden', () => {
    expect(httpSnippet('curl', address, null)).toBe(
      `curl --header "Authorization: Bearer …" ${address}/api/v1/health`,
    );
    expect(httpSnippet('claude-code', address, 'evenkeel_abc')).toBe(
      `claude mcp add --transport http evenkeel ${address}/mcp --header "Authorization: Bearer evenkeel_abc"`,
    );
  });
});
