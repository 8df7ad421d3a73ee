import { describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { fakeBackend } from '../ipc/fake';
import type { RestoreStep, UnlockMethod } from '../ipc/types';
import { App } from './app.svelte';
import { entered } from './entered';

const KEYCHAIN: UnlockMethod = { kind: 'keychain' };
const CODE = 'k7qm x2pd 9rta wh4c b6ne v3js t8yf g5lu';

async function damaged() {
  const backend = fakeBackend({ vault: 'damaged', demo: true });
  const app = new App(backend);
  await app.start();
  await app.rescue.begin('closed');
  return { app, backend, rescue: app.rescue };
}

describe('a damaged vault that does not open', () => {
  it('is looked at only once its key was given, and nothing is changed by that', async () => {
    const { app, rescue } = await damaged();
    expect([rescue.of, rescue.offer, rescue.work]).toEqual(['closed', null, null]);
    await rescue.look({ kind: 'recoveryCode', code: 'wrong' });
    expect([rescue.failure?.code, rescue.offer]).toEqual(['wrong_key', null]);
    await rescue.look({ kind: 'recoveryCode', code: CODE });
    expect([rescue.failure, rescue.offer?.setAside]).toEqual([null, null]);
    expect(rescue.offer?.messagesLostByBackup).toBe(12);
    expect(app.vault.phase).toBe('damaged');
    rescue.leave();
    expect([rescue.of, rescue.offer]).toEqual([null, null]);
  });

  it('is rescued by what opened it for the look, shows each step, and is open then', async () => {
    const { app, backend, rescue } = await damaged();
    await rescue.look(KEYCHAIN);
    const real = backend.vaultRescue;
    const seen: [UnlockMethod | null, RestoreStep[]] = [null, []];
    backend.vaultRescue = (method, onProgress) => {
      seen[0] = method;
      return real(method, (progress) => {
        onProgress(progress);
        seen[1].push(rescue.progress?.step ?? 'finishing');
      });
    };
    await rescue.go();
    expect(seen[0]).toEqual(KEYCHAIN);
    expect(seen[1]).toEqual(['unpacking', 'checking', 'copying', 'reading', 'finishing']);
    expect(rescue.done?.setAside).toContain('pre-restore');
    expect([app.vault.phase, app.ready, rescue.of]).toEqual(['open', true, 'closed']);
    rescue.leave();
    expect(rescue.of).toBeNull();
  });

  it('stays as it is where the rescue fails', async () => {
    const { app, backend, rescue } = await damaged();
    await rescue.look(KEYCHAIN);
    backend.vaultRescue = () => Promise.reject(failure('disk_full', 'no room'));
    await rescue.go();
    expect([rescue.failure?.code, rescue.done]).toEqual(['disk_full', null]);
    expect(rescue.offer).not.toBeNull();
    expect(app.vault.phase).toBe('damaged');
  });

  it('says where neither the vault nor a backup can be read', async () => {
    const { backend, rescue } = await damaged();
    backend.upkeep.spoilt = true;
    await rescue.look(KEYCHAIN);
    expect([rescue.offer?.opens, rescue.offer?.hasGaps]).toEqual([false, true]);
    backend.upkeep.backups = [];
    await rescue.look(KEYCHAIN);
    expect([rescue.offer, rescue.failure?.code]).toEqual([null, 'vault_damaged']);
  });
});

describe('damage in an open vault', () => {
  it('is told once for each check, and leads to what can be rescued', async () => {
    const { app, backend } = await entered({ demo: true });
    await app.upkeep.health.load();
    expect(app.notices.list).toEqual([]);
    backend.upkeep.damaged = true;
    const job = backend.upkeep.jobs.find((one) => one.name === 'check');
    if (job) job.lastEndedAt = new Date().toISOString();
    backend.emit('change', { noun: 'appState', id: 'running_ms' });
    backend.emit('change', { noun: 'appState', id: 'vault_checked' });
    await vi.waitFor(() =>
      expect(app.notices.list.map(({ key }) => key)).toEqual(['health.found']),
    );
    await app.upkeep.health.load();
    expect(app.notices.list).toHaveLength(1);
    const [notice] = app.notices.list;
    if (notice) app.notices.act(notice);
    await vi.waitFor(() => expect(app.rescue.offer).not.toBeNull());
    expect([app.rescue.of, app.vault.phase]).toEqual(['open', 'open']);
    await app.rescue.go();
    expect([app.rescue.failure, app.ready]).toEqual([null, true]);
    await app.upkeep.health.load();
    expect(app.upkeep.health.value?.damage).toBe(0);
  });

  it('leaves what was lost in sight until the user has seen it', async () => {
    const { app, backend } = await entered({ demo: true });
    backend.upkeep.fall('lost');
    await app.upkeep.health.load();
    await app.upkeep.health.load();
    expect(app.notices.list.map(({ key, values }) => [key, values])).toEqual([
      ['health.lost', { messages: 3 }],
    ]);
    const [notice] = app.notices.list;
    if (notice) app.notices.act(notice);
    expect([app.page, app.upkeep.health.value?.lost?.messages]).toEqual(['settings', 3]);
    await app.upkeep.health.seeLoss();
    expect([app.upkeep.health.value?.lost, app.upkeep.health.error]).toEqual([null, null]);
  });

  it('is looked for when the user asks, and a failure is said', async () => {
    const { app, backend } = await entered({ demo: true });
    const { health } = app.upkeep;
    await health.check();
    expect([health.value?.isChecking, health.starting]).toEqual([true, false]);
    await vi.waitFor(() => expect(health.value?.isChecking).toBe(false), 3_000);
    backend.jobRun = () => Promise.reject(failure('storage', 'gone'));
    await health.check();
    expect([health.error?.code, health.starting]).toEqual(['storage', false]);
  });
});
