import { failure } from '../error';
import type { BackupInfo, ClosedRestore, RestoreProgress, RestoreStep, VaultPhase } from '../types';
import type { UpkeepBackend } from '../upkeep';
import { ELSEWHERE, type FakeUpkeep } from './upkeep';
import type { FakeVault } from './vault';
import type { World } from './world';

const CLOSED = new Set<VaultPhase>([
  'new',
  'unavailable',
  'locked',
  'missing',
  'wrongKey',
  'damaged',
  'tooNew',
]);
const STEPS: RestoreStep[] = ['unpacking', 'checking', 'copying', 'finishing'];
/** In these only the key is lost. */
const KEYLESS = new Set<VaultPhase>(['unavailable', 'locked', 'missing', 'wrongKey']);

/** Without a key nobody knows how much is in a backup. */
function unopened(backup: BackupInfo): BackupInfo {
  return { ...backup, contexts: null, conversations: null, messages: null };
}

function pause(millis: number): Promise<void> {
  return new Promise((done) => setTimeout(done, millis));
}

/** Backups of the in-memory backend while its vault is not open. */
export function restoreCalls(world: World, upkeep: FakeUpkeep, vault: FakeVault) {
  const requireClosed = (): VaultPhase => {
    const { state } = vault.status();
    if (!CLOSED.has(state)) throw failure('vault_exists', 'The vault here can be opened.');
    return state;
  };
  const soon = <R>(work: () => R): Promise<R> => new Promise((resolve) => resolve(work()));
  const restore = async (
    path: string,
    secret: string,
    onProgress: (progress: RestoreProgress) => void,
  ): Promise<ClosedRestore> => {
    const state = requireClosed();
    const known = path === ELSEWHERE.path ? ELSEWHERE : upkeep.find(path);
    if (known.problem !== null)
      throw failure('vault_damaged', 'The backup is damaged.', { backup: known.problem });
    if (!vault.knows(secret))
      throw failure('wrong_key', 'The key does not open the backup.', { backup: 'wrongKey' });
    for (const step of STEPS) {
      onProgress({ step, done: 24_000_000, of: step === 'checking' ? 0 : 48_000_000 });
      await pause(120);
    }
    const keptDatabase = KEYLESS.has(state);
    if (state === 'new') world.seedDemo();
    vault.turn('open');
    world.onChange({ noun: 'vault', id: '' });
    const isReplaced = state === 'damaged' || state === 'tooNew';
    const setAside = isReplaced ? `${vault.status().profileDir}/vault.db.pre-restore` : null;
    return { status: vault.status(), keptDatabase, setAside };
  };
  return {
    backupListClosed: () =>
      soon(() => {
        // Where there is nothing of a vault, there is no backup either.
        return requireClosed() === 'new' ? [] : upkeep.list().map(unopened);
      }),
    backupChooseClosed: () =>
      soon(() => {
        requireClosed();
        return unopened(ELSEWHERE);
      }),
    backupRestoreClosed: restore,
  } satisfies Partial<UpkeepBackend>;
}
