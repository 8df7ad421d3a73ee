import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';
import { Presence } from './presence';

const CODE = 'k7qm x2pd 9rta wh4c b6ne v3js t8yf g5lu';

async function opened() {
  const backend = fakeBackend({ vault: 'open', demo: true });
  const app = new App(backend);
  await app.start();
  await app.enter();
  await app.keys.load();
  return { app, backend, keys: app.keys };
}

describe('the ways into the vault', () => {
  it('are changed one by one, each with a backup under the new keys', async () => {
    const { keys } = await opened();
    expect(keys.slots?.lock).toBe('privacyScreen');
    expect(await keys.setPassphrase('correct horse battery')).toBe(true);
    expect(keys.change?.backup?.kind).toBe('afterKeyChange');
    expect(keys.slots?.earlierBackups).toBeGreaterThan(0);
    expect(await keys.remove('keychain', 'wrong')).toBe(false);
    expect([keys.failure?.code, keys.has('keychain')]).toEqual(['wrong_key', true]);
    expect(await keys.remove('keychain', CODE)).toBe(true);
    expect([keys.slots?.lock, keys.has('keychain')]).toEqual(['real', false]);
    expect(await keys.remove('passphrase', null)).toBe(false);
    expect(await keys.addKeychain()).toBe(true);
    expect(keys.slots?.lock).toBe('privacyScreen');
  });

  it('keep the old code until the new one was typed back', async () => {
    const { keys } = await opened();
    await keys.beginRecovery();
    const sheet = keys.sheet;
    if (!sheet) throw new Error('no code was shown');
    expect(await keys.finishRecovery(sheet.askGroups.map(() => 'AAAA'))).toBe(false);
    expect([keys.sheet, keys.failure?.code]).toEqual([sheet, 'invalid_parameter']);
    await keys.cancelRecovery();
    expect([keys.sheet, keys.failure, keys.change]).toEqual([null, null, null]);
    await keys.beginRecovery();
    const right = sheet.askGroups.map((group) => sheet.groups[group] ?? '');
    expect(await keys.finishRecovery(right)).toBe(true);
    expect(keys.sheet).toBeNull();
  });

  it('stay when no backup can be made, and the reason is told', async () => {
    const { keys, backend } = await opened();
    backend.upkeep.full = true;
    expect(await keys.setPassphrase('correct horse battery')).toBe(true);
    expect([keys.change?.backup, keys.change?.backupError?.code]).toEqual([null, 'disk_full']);
  });

  it('lead to another root key, unless it is cancelled', async () => {
    const { keys } = await opened();
    const secrets = { recoveryCode: CODE, passphrase: null };
    const going = keys.renewRoot(secrets);
    await vi.waitFor(() => expect(keys.progress?.step).toBe('copying'));
    expect(keys.rooting).toBe(true);
    await keys.cancelRoot();
    expect([await going, keys.rooting, keys.failure, keys.change]).toEqual([
      false,
      false,
      null,
      null,
    ]);
    expect(await keys.renewRoot(secrets)).toBe(true);
    expect(await keys.renewRoot({ ...secrets, recoveryCode: 'wrong' })).toBe(false);
    expect(keys.failure?.code).toBe('wrong_key');
  });

  it('are forgotten with the vault, and so is a code that was shown', async () => {
    const { app, keys } = await opened();
    await keys.beginRecovery();
    await keys.setPassphrase('correct horse battery');
    app.leave();
    expect([keys.slots, keys.sheet, keys.change]).toEqual([null, null, null]);
  });
});

describe('presence', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is told now and then, while it is wanted', () => {
    const backend = fakeBackend({ vault: 'open' });
    let wanted = false;
    const presence = new Presence(backend, () => wanted);
    presence.start();
    const sign = (type: string) => window.dispatchEvent(new Event(type));
    sign('keydown');
    expect(backend.keys.touches).toBe(0);
    wanted = true;
    sign('pointermove');
    sign('keydown');
    vi.advanceTimersByTime(14_000);
    sign('wheel');
    expect(backend.keys.touches).toBe(1);
    vi.advanceTimersByTime(2_000);
    sign('pointerdown');
    expect(backend.keys.touches).toBe(2);
    presence.stop();
    vi.advanceTimersByTime(60_000);
    sign('keydown');
    expect(backend.keys.touches).toBe(2);
  });
});
