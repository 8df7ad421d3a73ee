import { describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';
import { Contexts } from './contexts.svelte';
import { Providers } from './providers.svelte';
import { sendable, tooLong } from './text';
import { Vault } from './vault.svelte';

describe('the vault', () => {
  it('is made, its code typed back, and opens', async () => {
    const vault = new Vault(fakeBackend({ vault: 'new' }));
    await vault.refresh();
    await vault.create(true, null);
    const sheet = vault.sheet;
    expect([vault.phase, sheet?.groups.length]).toEqual(['confirmRecovery', 8]);
    expect(await vault.confirm(['no', 'no', 'no'])).toBe(false);
    expect([vault.error?.code, vault.sheet]).toEqual(['invalid_parameter', sheet]);
    expect(
      await vault.confirm(sheet?.askGroups.map((group) => sheet.groups[group] ?? '') ?? []),
    ).toBe(true);
    expect([vault.isOpen, vault.sheet]).toEqual([true, null]);
  });

  it('says why it cannot be made', async () => {
    const vault = new Vault(fakeBackend({ vault: 'new', keychain: false }));
    await vault.create(true, null);
    expect([vault.error?.code, vault.busy]).toEqual(['keychain_unavailable', false]);
  });

  it('opens by passphrase or recovery code from every state that allows it', async () => {
    for (const phase of [
      'unavailable',
      'locked',
      'waiting',
      'missing',
      'wrongKey',
      'lockedByUser',
    ] as const) {
      const vault = new Vault(fakeBackend({ vault: phase }));
      expect(await vault.unlock({ kind: 'passphrase', passphrase: 'wrong' })).toBe(false);
      expect(vault.error?.code).toBe('wrong_key');
      expect(
        await vault.unlock({
          kind: 'recoveryCode',
          code: 'k7qm-x2pd-9rta-wh4c-b6ne-v3js-t8yf-g5lu',
        }),
      ).toBe(true);
      expect([vault.isOpen, vault.error]).toEqual([true, null]);
    }
  });

  it('that turns out to be damaged once the key is right is on the screen for that', async () => {
    const backend = fakeBackend({ vault: 'lockedByUser' });
    const vault = new Vault(backend);
    await vault.refresh();
    backend.vaultUnlock = () => {
      backend.vault.turn('damaged');
      return Promise.reject(failure('vault_damaged', 'A page does not decrypt.'));
    };
    expect(await vault.unlock({ kind: 'passphrase', passphrase: 'right' })).toBe(false);
    expect(vault.phase).toBe('damaged');
  });

  it('looks again by itself while the keychain waits', async () => {
    vi.useFakeTimers();
    const backend = fakeBackend({ vault: 'waiting' });
    const vault = new Vault(backend);
    await vault.refresh();
    await backend.vaultUnlock({ kind: 'keychain' });
    await vi.advanceTimersByTimeAsync(800);
    expect(vault.isOpen).toBe(true);
    vi.useRealTimers();
  });
});

describe('the recovery code', () => {
  it('goes to a file with its words, as long as it waits to be typed back', async () => {
    const backend = fakeBackend({ vault: 'new', place: '/home/ada/code.txt' });
    const vault = new Vault(backend);
    const words = { title: 'Code', notes: ['one', 'two'] };
    await expect(vault.saveRecovery(words)).rejects.toMatchObject({
      body: { code: 'invalid_parameter' },
    });
    await vault.create(true, null);
    expect(await vault.saveRecovery(words)).toBe('/home/ada/code.txt');
    expect(backend.vault.saved?.text.split('\n')).toEqual([
      'Code',
      '',
      'K7QM-X2PD-9RTA-WH4C-B6NE-V3JS-T8YF-G5LU',
      '',
      'one',
      'two',
    ]);
  });
});

describe('contexts', () => {
  it('are made from presets and changed', async () => {
    const contexts = new Contexts(fakeBackend());
    await contexts.load();
    const made = await contexts.createFromPreset('preset-calm-counselor');
    await contexts.update(made.id, { name: 'Anna', localOnly: true });
    expect(contexts.list.map((one) => [one.name, one.localOnly])).toEqual([['Anna', true]]);
    await contexts.remove(made.id);
    expect(contexts.list).toEqual([]);
  });
});

describe('providers', () => {
  it('know when text would leave the machine', async () => {
    const providers = new Providers(fakeBackend());
    await providers.load();
    const local = { providerId: 'engine', model: 'a' };
    const remote = { providerId: 'provider-cloud', model: 'b' };
    expect(providers.leavesMachine(local, remote)).toBe(true);
    expect(providers.leavesMachine(null, remote)).toBe(true);
    expect(providers.leavesMachine(remote, { ...remote, model: 'c' })).toBe(false);
    expect(providers.leavesMachine(remote, local)).toBe(false);
    expect(providers.leavesMachine(local, { providerId: 'unknown', model: 'x' })).toBe(true);
  });

  it('know nothing of a choice whose provider was removed', async () => {
    const providers = new Providers(fakeBackend());
    await providers.load();
    const choice = { providerId: 'provider-cloud', model: 'b' };
    expect([providers.known(choice), providers.known(null)]).toEqual([choice, null]);
    await providers.remove('provider-cloud');
    expect(providers.known(choice)).toBeNull();
  });

  it('know the models that a server on this machine hands on', async () => {
    const backend = fakeBackend();
    const providers = new Providers(backend);
    await providers.load();
    const at = (model: string, providerId = 'provider-ollama') => ({ providerId, model });
    for (const name of ['gpt-oss:120b-cloud', 'glm-4.6:cloud', 'GPT-OSS:20B-Cloud']) {
      expect(providers.isRemote(at(name))).toBe(true);
      expect(providers.leavesMachine(at('qwen3:8b'), at(name))).toBe(true);
      // A file of the engine may have any name.
      expect(providers.isRemote(at(name, 'engine'))).toBe(false);
    }
    for (const name of ['qwen3:8b', 'cloud', 'x/cloud:latest', 'cloudy:7b'])
      expect(providers.isRemote(at(name))).toBe(false);
    const [one] = await backend.providerModels('provider-ollama');
    if (!one) throw new Error('no model');
    vi.spyOn(backend, 'providerModels').mockResolvedValue([
      { ...one, name: 'copied', locality: 'remote' },
    ]);
    expect(providers.isRemote(at('copied'))).toBe(false);
    await providers.stock();
    expect(providers.isRemote(at('copied'))).toBe(true);
  });

  it('list models of each although one fails', async () => {
    const backend = fakeBackend();
    const real = backend.providerModels;
    backend.providerModels = (id) =>
      id === 'provider-ollama' ? Promise.reject(new Error('refused')) : real(id);
    const providers = new Providers(backend);
    await providers.stock();
    expect(
      providers.shelves.map((shelf) => [shelf.models.length > 0, shelf.error?.code ?? null]),
    ).toEqual([
      [true, null],
      [false, 'internal'],
      [true, null],
    ]);
  });

  it('remove a model file, and with it the default that it was', async () => {
    const backend = fakeBackend({ demo: true });
    const providers = new Providers(backend);
    const added = await providers.addFile('/models/mine.gguf');
    backend.world.settings.defaultModel = { providerId: 'engine', model: added.name };
    const about = await providers.removalOf(added.name);
    expect([about.deletesFile, about.isDefault, about.path]).toEqual([
      false,
      true,
      '/models/mine.gguf',
    ]);
    expect(await providers.removeFile(added.name)).toEqual(about);
    expect(backend.world.settings.defaultModel).toBeNull();
    expect(providers.shelves[0]?.models.map((model) => model.forTryingOut)).toEqual([true]);
  });

  it('keep a stored key unless a new one is given', async () => {
    const providers = new Providers(fakeBackend());
    await providers.load();
    const cloud = providers.find('provider-cloud');
    if (!cloud) throw new Error('no cloud');
    const { locality: _l, keyHint: _k, ...rest } = cloud;
    expect((await providers.save({ ...rest, key: null })).keyHint).toBe('4f2a');
    expect((await providers.save({ ...rest, key: 'sk-12345678' })).keyHint).toBe('5678');
  });
});

describe('settings that are changed quickly', () => {
  async function slow() {
    const backend = fakeBackend({ demo: true });
    const app = new App(backend);
    await app.settings.load();
    const answers: ((fails: boolean) => void)[] = [];
    vi.spyOn(backend, 'settingsSave').mockImplementation(
      (value) =>
        new Promise((resolve, reject) =>
          answers.push((fails) => (fails ? reject(new Error('disk gone')) : resolve(value))),
        ),
    );
    return { settings: app.settings, answers };
  }

  it('keep the newest choice although an older answer comes last', async () => {
    const { settings, answers } = await slow();
    const both = [settings.store({ theme: 'dark' }), settings.store({ theme: 'light' })];
    answers[1]?.(false);
    expect(await both[1]).toBe(null);
    answers[0]?.(false);
    expect(await both[0]).toBe(null);
    expect(settings.value.theme).toBe('light');
  });

  it('show the newest choice while an older one is answered', async () => {
    const { settings, answers } = await slow();
    const both = [settings.store({ theme: 'dark' }), settings.store({ language: 'de' })];
    answers[0]?.(false);
    await both[0];
    expect([settings.value.theme, settings.value.language]).toEqual(['dark', 'de']);
    answers[1]?.(true);
    expect(await both[1]).not.toBe(null);
    expect([settings.value.theme, settings.value.language]).toEqual(['dark', 'system']);
  });
});

describe('settings', () => {
  it('remember what was accepted before there was a vault', async () => {
    const backend = fakeBackend({ vault: 'new' });
    const app = new App(backend);
    await app.start();
    await app.settings.save({ aiNoticeAccepted: true });
    await app.vault.create(true, null);
    await app.vault.confirm(['X2PD', 'B6NE', 'T8YF']);
    await app.enter();
    expect(backend.world.settings.aiNoticeAccepted).toBe(true);
    expect(app.welcoming).toBe(true);
  });

  it('come back when storing fails', async () => {
    const backend = fakeBackend({ demo: true });
    const app = new App(backend);
    await app.start();
    await app.enter();
    backend.settingsSave = () => Promise.reject(new Error('full'));
    await app.settings.save({ theme: 'dark' });
    expect([app.settings.value.theme, app.notices.list.length]).toEqual(['system', 1]);
  });
});

describe('text', () => {
  it('is made sendable', () => {
    expect(sendable('\udc00x\ud83d\ude00\ud83d')).toBe('\ufffdx\ud83d\ude00\ufffd');
  });

  it('is measured in UTF-8 bytes', () => {
    expect(tooLong('aä€😀', 10)).toBeNull();
    expect(tooLong('aä€😀', 9)?.details.value).toBe('10 bytes');
  });
});
