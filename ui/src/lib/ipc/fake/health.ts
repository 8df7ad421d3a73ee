import { failure } from '../error';
import type { HealthBackend, RescueOffer, VaultHealth } from '../health';
import type { RestoreProgress, RestoreStep, UnlockMethod, VaultPhase } from '../types';
import type { FakeUpkeep } from './upkeep';
import type { FakeVault } from './vault';
import type { World } from './world';

type Open = <R>(work: () => R) => Promise<R>;
type Progress = (progress: RestoreProgress) => void;

const STEPS: RestoreStep[] = ['unpacking', 'checking', 'copying', 'reading', 'finishing'];
const HOUR = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR).toISOString();

function pause(millis: number): Promise<void> {
  return new Promise((done) => setTimeout(done, millis));
}

/** What a rescue would bring. */
function offerOf(world: World, upkeep: FakeUpkeep, setAside: string | null): RescueOffer {
  const backup = upkeep.backups.find((one) => one.isNewest) ?? null;
  const opens = !upkeep.spoilt;
  const beyond = backup && opens ? 12 : opens ? world.messages.length : 0;
  return {
    opens,
    messages: world.messages.length,
    newestAt: opens ? ago(0.2) : (backup?.madeAt ?? null),
    fromBackup: backup ? 31 : 0,
    hasGaps: !opens || backup === null,
    messagesLostByBackup: beyond,
    backupAt: backup?.madeAt ?? null,
    minutesLostByBackup: backup ? (opens ? 288 : 0) : null,
    setAside,
  };
}

function healthOf(upkeep: FakeUpkeep): VaultHealth {
  const job = upkeep.jobs.find((one) => one.name === 'check');
  return {
    checkedAt: job?.lastEndedAt ?? null,
    damage: upkeep.damaged ? 2 : 0,
    findings: upkeep.damaged ? ['page 12 is not what was written', 'wrong # of entries'] : [],
    isChecking: job?.isRunning ?? false,
    drill:
      upkeep.backups.length === 0
        ? null
        : { at: ago(30), madeAt: ago(53), messages: 120, unusable: 0 },
    deletionsRest: upkeep.clockJumped,
    lost: upkeep.lost,
  };
}

/** The health of the in-memory backend's vault, and its rescue. */
export function healthCalls(
  world: World,
  upkeep: FakeUpkeep,
  vault: FakeVault,
  open: Open,
  pace: number,
) {
  /** Closes an open vault meanwhile, as the core does. */
  const work = async (
    method: UnlockMethod | null,
    onProgress: Progress,
    leaves: VaultPhase,
    done: () => RescueOffer,
  ): Promise<RescueOffer> => {
    const { state } = vault.status();
    if (method === null) vault.requireOpen();
    else if (state !== 'damaged') throw failure('vault_exists', 'The vault here can be opened.');
    const secret = method?.kind === 'passphrase' ? method.passphrase : null;
    const code = method?.kind === 'recoveryCode' ? method.code : secret;
    if (code !== null && !vault.knows(code))
      throw failure('wrong_key', 'This does not open the vault.');
    if (upkeep.spoilt && upkeep.backups.length === 0)
      throw failure('vault_damaged', 'The database is damaged and there is no backup.');
    const tell = (phase: VaultPhase): void => {
      vault.turn(phase);
      world.onChange({ noun: 'vault', id: '' });
    };
    if (method === null) tell('opening');
    for (const step of STEPS) {
      onProgress({ step, done: 24_000_000, of: step === 'copying' ? 48_000_000 : 0 });
      // Reading what is left of a damaged vault takes longest.
      await pause((step === 'reading' ? 200 : 30) * pace);
    }
    const brought = done();
    tell(method === null ? 'open' : leaves);
    return brought;
  };
  return {
    vaultHealth: () => open(() => healthOf(upkeep)),
    vaultLossSeen: () =>
      open(() => {
        upkeep.lost = null;
        world.onChange({ noun: 'appState', id: 'tail_lost' });
      }),
    vaultRescuePreview: (method, onProgress) =>
      work(method, onProgress, 'damaged', () => offerOf(world, upkeep, null)),
    vaultRescue: (method, onProgress) =>
      work(method, onProgress, 'open', () => {
        upkeep.damaged = false;
        upkeep.spoilt = false;
        return offerOf(
          world,
          upkeep,
          `${vault.status().profileDir}/vault.db.pre-restore-20261122T010203Z`,
        );
      }),
  } satisfies HealthBackend;
}
