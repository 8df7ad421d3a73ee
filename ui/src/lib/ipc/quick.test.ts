import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { QUICK_CALLS } from './quick';

const invoke = vi.fn((_command: string, _args: unknown) => Promise.resolve(null));
class Channel {
  onmessage: unknown = null;
}
vi.mock('@tauri-apps/api/core', () => ({ invoke, Channel }));
vi.mock('@tauri-apps/api/webview', () => ({ getCurrentWebview: () => ({}) }));
vi.mock('@tauri-apps/api/window', () => ({ getCurrentWindow: () => ({}) }));

const { tauriBackend } = await import('./tauri');

type Method = (...args: unknown[]) => Promise<unknown>;

/** The permissions that calls of the backend need. */
async function permissions(names: readonly string[]): Promise<string[]> {
  const backend = tauriBackend() as unknown as Record<string, Method>;
  const needed: string[] = [];
  for (const name of names) {
    invoke.mockClear();
    await backend[name]?.();
    expect(invoke, name).toHaveBeenCalledOnce();
    needed.push(`allow-${invoke.mock.calls[0]?.[0].replaceAll('_', '-')}`);
  }
  return needed.sort();
}

/** The commands of ours that a capability file allows. */
function allowed(file: string): string[] {
  const text = readFileSync(`../capabilities/${file}.json`, 'utf8');
  const { permissions } = JSON.parse(text) as { permissions: string[] };
  return permissions.filter((one) => !one.startsWith('core:')).sort();
}

describe('what a window may call', () => {
  it('is, for quick chat, exactly what it asks', async () => {
    expect(await permissions(QUICK_CALLS)).toEqual(allowed('quick-chat'));
  });

  it('is, for the main window, whatever there is to ask', async () => {
    const heard = ['listen', 'onFileDrop', 'onFocus', 'quickChatHide'];
    // A call is allowed together with its command, which the bindings name once there is one.
    const bindings = readFileSync('src/lib/ipc/bindings.ts', 'utf8');
    const asked = Object.keys(tauriBackend()).filter(
      (name) => !heard.includes(name) && bindings.includes(`${name}: (`),
    );
    expect(asked.length).toBeGreaterThan(70);
    expect(allowed('main')).toEqual(expect.arrayContaining(await permissions(asked)));
  });
});
