import { describe, expect, it } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { Connections } from './connections.svelte';

describe('other programs', () => {
  it('are listed with what they did and how they are started', async () => {
    const connections = new Connections(fakeBackend({ demo: true }));
    await connections.load();
    expect(connections.list.map((one) => one.name)).toEqual([
      'Claude Desktop',
      'Visual Studio Code',
    ]);
    expect(connections.log[0]?.kind).toBe('chat');
    expect(connections.setup?.args[0]).toBe('mcp');
  });

  it('get what is decided, and nothing else of theirs changes', async () => {
    const backend = fakeBackend({ demo: true });
    const connections = new Connections(backend);
    await connections.load();
    await connections.decide('Claude Desktop', { contexts: ['c'] });
    const [first, second] = await backend.connectionList();
    expect(first?.grant).toEqual({
      isBlocked: false,
      mayChange: false,
      mayChat: true,
      usesSampling: false,
      contexts: ['c'],
    });
    expect(second?.grant.contexts).toBeNull();
    await connections.forgetProgram('Claude Desktop');
    expect(connections.list).toHaveLength(1);
  });

  it('say why a change was not made, and keep what was there', async () => {
    const backend = fakeBackend({ demo: true });
    const connections = new Connections(backend);
    await connections.load();
    await backend.connectionForget('Claude Desktop');
    await connections.decide('Claude Desktop', { mayChange: true });
    expect(connections.failure?.code).toBe('not_found');
    expect(connections.list[0]?.grant.mayChange).toBe(false);
  });

  it('are read again only where they were shown', async () => {
    const backend = fakeBackend({ demo: true });
    const connections = new Connections(backend);
    const changed = new Map([['connection' as const, new Set(['Claude Desktop'])]]);
    await connections.follow(changed);
    expect(connections.loaded).toBe(false);
    await connections.load();
    await backend.connectionClearLog();
    await connections.follow(changed);
    expect(connections.log).toEqual([]);
  });

  it('reach the server once it is on, with a token that is read only when it is asked for', async () => {
    const connections = new Connections(fakeBackend({ demo: true }));
    await connections.load();
    expect([connections.server?.address, connections.token]).toEqual([null, null]);
    await connections.serve({ enabled: true, port: 80 });
    expect(connections.server?.error?.details['field']).toBe('port');
    await connections.serve({ enabled: true, port: 4_000 });
    expect(connections.server?.address).toBe('http://127.0.0.1:4000');
    await connections.showToken();
    const before = connections.token;
    await connections.renewToken();
    expect(connections.token).toMatch(/^evenkeel_/);
    expect(connections.token).not.toBe(before);
    connections.hideToken();
    expect(connections.token).toBeNull();
  });
});
