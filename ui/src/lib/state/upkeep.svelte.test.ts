import { beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import type { App } from './app.svelte';
import { entered, type Fake } from './entered';

let app: App;
let backend: Fake;

beforeEach(async () => {
  ({ app, backend } = await entered({ demo: true }));
});

describe('jobs', () => {
  it('run once however often they are asked, and show the end told by a change', async () => {
    const { jobs } = app.upkeep;
    const run = vi.spyOn(backend, 'jobRun');
    await jobs.load();
    await Promise.all([jobs.run('cleanup'), jobs.run('cleanup')]);
    expect(run).toHaveBeenCalledTimes(1);
    expect(jobs.anyRunning).toBe(true);
    await vi.waitFor(() => expect(jobs.anyRunning).toBe(false), { timeout: 3_000 });
    expect(jobs.list.find((job) => job.name === 'cleanup')?.result).toBe('ok');
  });

  it('keep the error of a list that cannot be read, until it can', async () => {
    const { jobs } = app.upkeep;
    const real = backend.jobList;
    backend.jobList = () => Promise.reject(failure('storage', 'gone'));
    await jobs.load();
    expect([jobs.error?.code, jobs.loaded]).toEqual(['storage', false]);
    backend.jobList = real;
    await jobs.load();
    expect([jobs.error, jobs.list.length]).toEqual([null, 7]);
  });
});

describe('backups', () => {
  it('are newest first, and the newest verified is found behind a damaged one', async () => {
    const { backups } = app.upkeep;
    await backups.load();
    const times = backups.list.map((one) => one.madeAt ?? '');
    expect(times).toEqual(times.toSorted().toReversed());
    expect(backups.list[0]?.problem).toBe('damaged');
    expect(backups.newest).toBe(backups.list[1]);
  });

  it('fail without losing the list, and forget the failure', async () => {
    const { backups } = app.upkeep;
    await backups.load();
    const before = backups.list.map((one) => one.path);
    backend.upkeep.full = true;
    expect(await backups.make()).toBeNull();
    expect([backups.failure?.code, backups.work]).toEqual(['disk_full', null]);
    expect(backups.list.map((one) => one.path)).toEqual(before);
    backups.clear();
    expect(backups.failure).toBeNull();
  });

  it('say where a damaged vault was restored without a backup before', async () => {
    const { backups } = app.upkeep;
    await backups.load();
    const path = backups.list[3]?.path ?? '';
    backend.upkeep.damaged = true;
    expect((await backups.preview(path))?.isVaultDamaged).toBe(true);
    expect(await backups.restore(path)).toMatchObject({ withoutBackup: true });
    await backups.load();
    expect(backups.list.length).toBe(5);
    expect(await backups.restore(path)).toMatchObject({ withoutBackup: false });
  });

  it('are worked on one at a time', async () => {
    const { backups } = app.upkeep;
    const make = vi.spyOn(backend, 'backupMake');
    const [first, second] = await Promise.all([backups.make(), backups.make()]);
    expect([first === null, second, make.mock.calls.length]).toEqual([false, null, 1]);
  });

  it('leave nothing of the old vault in the window after a restore', async () => {
    const { backups } = app.upkeep;
    await backups.load();
    const small = backups.list.find((one) => one.contexts === 1);
    expect(app.contexts.list).toHaveLength(2);
    expect(await backups.restore(small?.path ?? '')).not.toBeNull();
    await app.begin();
    expect([app.contexts.list.length, app.ready, app.welcoming]).toEqual([1, true, false]);
    expect(backups.list).toEqual([]);
  });
});

describe('the data', () => {
  it('erased, the window is as at the very first start', async () => {
    await app.upkeep.storage.load();
    expect(app.upkeep.storage.summary?.kinds.length).toBe(4);
    expect(await app.upkeep.storage.erase(false)).toBeNull();
    await app.begin();
    expect([app.welcoming, app.contexts.list, app.chat.current]).toEqual([true, [], null]);
    expect([app.settings.loaded, app.settings.value.aiNoticeAccepted]).toEqual([false, false]);
    expect(app.upkeep.storage.summary).toBeNull();
  });

  it('erased, a key that the keychain has kept is told', async () => {
    expect(await app.upkeep.storage.erase(false)).toBeNull();
    expect(app.upkeep.storage.keyLeft).toBe(false);
    backend.dataErase = () => Promise.resolve(false);
    expect(await app.upkeep.storage.erase(false)).toBeNull();
    expect(app.upkeep.storage.keyLeft).toBe(true);
  });

  it('is still there where erasing failed', async () => {
    backend.dataErase = () => Promise.reject(failure('vault_in_use', 'another process'));
    expect((await app.upkeep.storage.erase(true))?.code).toBe('vault_in_use');
    expect([app.upkeep.storage.erasing, app.contexts.list.length]).toEqual([false, 2]);
  });

  it('keeps the place it moves to when the dialog is closed the second time', async () => {
    const { storage } = app.upkeep;
    await storage.move();
    backend.dataMove = () => Promise.resolve(null);
    await storage.move();
    expect(storage.movedTo).toBe('/media/data/evenkeel');
  });
});

describe('data that cannot be moved', () => {
  it('stays, with the reason, and can be moved elsewhere', async () => {
    const { storage } = app.upkeep;
    const real = backend.dataMove;
    backend.dataMove = () => Promise.reject(failure('move_refused', 'it is a file'));
    await storage.move();
    expect([storage.error?.code, storage.moving, storage.movedTo]).toEqual([
      'move_refused',
      false,
      null,
    ]);
    backend.dataMove = real;
    await storage.move();
    expect([storage.error, storage.movedTo]).toEqual([null, '/media/data/evenkeel']);
  });
});

describe('features', () => {
  it('are set and reset; flags of other versions stay', async () => {
    const { features } = app.upkeep;
    await app.settings.save({ features: { 'from-the-future': true } });
    await features.set('care-card', false);
    expect(backend.world.settings.features).toEqual({
      'from-the-future': true,
      'care-card': false,
    });
    expect(features.list.find((one) => one.id === 'care-card')).toMatchObject({
      isOn: false,
      isDefault: false,
    });
    await features.set('care-card', null);
    expect(backend.world.settings.features).toEqual({ 'from-the-future': true });
  });
});

describe('limits', () => {
  it('outside their range are refused with field and range, and the old ones hold', async () => {
    const before = app.settings.value.limits;
    const error = await app.settings.store({ limits: { ...before, contexts: 0 } });
    expect(error?.details).toMatchObject({ field: 'limits.contexts', range: '1 to 100000' });
    expect(app.settings.value.limits).toEqual(before);
  });

  it('of a message hold before it leaves', async () => {
    const { limits } = app.settings.value;
    await app.settings.save({ limits: { ...limits, messageBytes: 1_024 } });
    const opened = app.chat.current;
    expect(await opened?.send('a'.repeat(1_025))).toBe(false);
    expect(opened?.error?.details.range).toContain('1024');
    expect(await opened?.send('a'.repeat(1_024))).toBe(true);
  });
});

describe('care', () => {
  it('comes up with the message, goes when closed, and blocks nothing', async () => {
    const opened = app.chat.current;
    expect(await opened?.send('I want to hurt myself')).toBe(true);
    expect(opened?.care?.helplines.length).toBeGreaterThan(0);
    expect(opened?.messages.at(-2)?.content).toBe('I want to hurt myself');
    // A message without a sign does not take the card away.
    await opened?.send('and the weather is grey');
    expect(opened?.care?.sign).toBe('selfHarm');
    if (opened) opened.care = null;
    await opened?.send('thank you');
    expect(opened?.care).toBeNull();
  });
});

describe('a companion that is about to expire', () => {
  it('is told of once, and has its time again by the button', async () => {
    const [context] = app.contexts.list;
    if (!context) throw new Error('no context');
    const news = { contextId: context.id, name: context.name, expiresAt: context.createdAt };
    backend.emit('contextExpiring', news);
    backend.emit('contextExpiring', news);
    expect(app.notices.list).toHaveLength(1);
    const extend = vi.spyOn(app.contexts, 'extend');
    const [notice] = app.notices.list;
    if (notice) app.notices.act(notice);
    await vi.waitFor(() => expect(app.notices.list[0]?.key).toBe('contexts.extended'));
    expect(extend).toHaveBeenCalledTimes(1);
  });
});
