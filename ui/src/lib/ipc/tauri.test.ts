import { beforeEach, describe, expect, it, vi } from 'vitest';

const invoke = vi.fn((_command: string, _args: unknown) => Promise.resolve(null));
class Channel {
  onmessage: unknown = null;
}
vi.mock('@tauri-apps/api/core', () => ({ invoke, Channel }));
vi.mock('@tauri-apps/api/webview', () => ({ getCurrentWebview: () => ({}) }));
vi.mock('@tauri-apps/api/window', () => ({ getCurrentWindow: () => ({}) }));

const { tauriBackend } = await import('./tauri');

describe('what is sent to Rust', () => {
  beforeEach(() => invoke.mockClear());

  it('holds no half of a surrogate pair, however deep', async () => {
    const text = 'a\ud800b 😀\udc00';
    const [provider, header] = ['p\ud83d', 'x\udfff'];
    const backend = tauriBackend();
    await backend.conversationRename('id', text);
    await backend.providerSave({
      id: null,
      kind: 'ollama',
      name: provider,
      baseUrl: '',
      key: null,
      extraHeaders: { [header]: text },
      manualModels: [text],
      windowOverride: null,
      timeoutSeconds: 30,
    });
    const clean = 'a\ufffdb 😀\ufffd';
    expect(invoke.mock.calls[0]).toEqual(['conversation_rename', { id: 'id', title: clean }]);
    expect(invoke.mock.calls[1]?.[1]).toMatchObject({
      draft: {
        name: 'p\ufffd',
        key: null,
        extraHeaders: { 'x\ufffd': clean },
        manualModels: [clean],
        timeoutSeconds: 30,
      },
    });
    expect(JSON.stringify(invoke.mock.calls)).not.toMatch(/\\ud[89a-f]/i);
  });

  it('keeps the channel that a reply comes through', async () => {
    await tauriBackend().chatSend({ kind: 'regenerate', messageId: 'm\ud800' }, () => undefined);
    const sent = invoke.mock.calls[0]?.[1] as { request: { messageId: string }; channel: unknown };
    expect(sent.channel).toBeInstanceOf(Channel);
    expect(sent.request.messageId).toBe('m\ufffd');
  });
});
