import { describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { fakeBackend } from '../ipc/fake';
import type { RestoreStep, VaultPhase } from '../ipc/types';
import { App } from './app.svelte';

const CODE = 'k7qm x2pd 9rta wh4c b6ne v3js t8yf g5lu';
const ELSEWHERE = '/media/stick/old.ekbackup';

async function begun(vault: VaultPhase, demo = true) {
  const backend = fakeBackend({ vault, demo });
  const app = new App(backend);
  await app.start();
  await app.restore.begin();
  return { app, backend, restore: app.restore };
}

describe('restoring without an open vault', () => {
  it('offers the newest that is verified, though a damaged one is newer', async () => {
    const { restore } = await begun('damaged');
    expect(restore.list[0]?.problem).toBe('damaged');
    expect(restore.chosen).toBe(restore.list[1]?.path);
    expect(restore.list.every((one) => one.messages === null)).toBe(true);
  });

  it('takes a chosen file, once, and offers nothing where nothing lies', async () => {
    const { restore } = await begun('new', false);
    expect([restore.loaded, restore.list, restore.chosen]).toEqual([true, [], null]);
    expect(await restore.restore(CODE)).toBeNull();
    await restore.choose();
    await restore.choose();
    expect([restore.list.length, restore.chosen]).toEqual([1, ELSEWHERE]);
  });

  it('does not choose a file that is no backup', async () => {
    const { backend, restore } = await begun('damaged');
    const before = restore.chosen;
    const real = await backend.backupChooseClosed();
    if (!real) throw new Error('the dialog was closed');
    backend.backupChooseClosed = () => Promise.resolve({ ...real, problem: 'foreign' });
    await restore.choose();
    expect([restore.list[0]?.problem, restore.chosen]).toEqual(['foreign', before]);
    backend.backupChooseClosed = () => Promise.resolve(null);
    await restore.choose();
    expect(restore.failure).toBeNull();
  });

  it('says what is wrong with a code, and changes nothing', async () => {
    const { app, restore } = await begun('damaged');
    expect(await restore.restore('wrong')).toBeNull();
    expect(restore.failure?.details).toEqual({ backup: 'wrongKey' });
    expect([app.vault.phase, restore.work]).toEqual(['damaged', null]);
    restore.pick(restore.list[2]?.path ?? '');
    expect(restore.failure).toBeNull();
  });

  it('shows how far it is, one at a time, and opens the vault', async () => {
    const { app, backend, restore } = await begun('damaged');
    const real = backend.backupRestoreClosed;
    const steps: (RestoreStep | undefined)[] = [];
    const call = vi.fn<typeof real>((path, secret, tell) =>
      real(path, secret, (progress) => {
        tell(progress);
        steps.push(restore.progress?.step);
      }),
    );
    backend.backupRestoreClosed = call;
    const [done, second] = await Promise.all([restore.restore(CODE), restore.restore(CODE)]);
    expect([done?.keptDatabase, second, call.mock.calls.length]).toEqual([false, null, 1]);
    expect(done?.setAside).toContain('pre-restore');
    expect(steps).toEqual(['unpacking', 'checking', 'copying', 'finishing']);
    expect([app.vault.isOpen, restore.work]).toEqual([true, null]);
  });

  it('ends a first run: what was restored needs no welcome', async () => {
    const { app, restore } = await begun('new', false);
    expect(app.welcoming).toBe(true);
    await restore.choose();
    await restore.restore('correct horse');
    expect([app.vault.isOpen, app.welcoming]).toEqual([true, false]);
    await app.enter();
    expect([app.ready, app.welcoming, app.contexts.list.length]).toEqual([true, false, 2]);
  });

  it('tells that a whole vault was kept', async () => {
    const { restore } = await begun('missing');
    expect(await restore.restore(CODE)).toMatchObject({ keptDatabase: true, setAside: null });
  });

  it('keeps the error of a list that cannot be read, until it can', async () => {
    const { backend, restore } = await begun('damaged');
    const real = backend.backupListClosed;
    backend.backupListClosed = () => Promise.reject(failure('storage', 'gone'));
    await restore.begin();
    expect([restore.error?.code, restore.loaded, restore.chosen]).toEqual(['storage', false, null]);
    backend.backupListClosed = real;
    await restore.begin();
    expect([restore.error, restore.list.length]).toEqual([null, 5]);
  });

  it('is refused where the vault can be opened', async () => {
    for (const phase of ['open', 'lockedByUser', 'confirmRecovery'] as const) {
      const { restore } = await begun(phase);
      expect(restore.error?.code).toBe('vault_exists');
    }
  });
});
