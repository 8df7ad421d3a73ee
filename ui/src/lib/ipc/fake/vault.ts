import { failure } from '../error';
import type {
  ErrorBody,
  ErrorCode,
  RecoverySheet,
  RecoveryWords,
  UnlockMethod,
  VaultPhase,
  VaultStatus,
} from '../types';
import { at } from './seed';

const SHEET: RecoverySheet = {
  groups: ['K7QM', 'X2PD', '9RTA', 'WH4C', 'B6NE', 'V3JS', 'T8YF', 'G5LU'],
  askGroups: [1, 4, 6],
  createdAt: at(0),
};

const awayError = (path: string): ErrorBody => ({
  code: 'vault_away',
  message: `The data was moved to ${path}, which cannot be reached.`,
  details: { path },
});

/** The vault of the in-memory backend. */
export class FakeVault {
  private phase: VaultPhase;
  private hasKeychainSlot = true;
  private hasPassphrase = true;
  /** Whether the key slots are whole. */
  hasKeySlots = true;
  private readonly keychainAvailable: boolean;

  /** The file with the recovery code, as it was written last. */
  saved: { path: string; text: string } | null = null;
  private readonly place: string;
  /** Why it does not open, while it is unavailable. */
  trouble: ErrorCode = 'keychain_unavailable';
  /** The folder on a drive that is not connected; empty = the data is here. */
  private away: string;

  constructor(phase: VaultPhase, keychainAvailable: boolean, place: string, away = '') {
    this.phase = away === '' ? phase : 'unavailable';
    this.place = place;
    this.away = away;
    this.keychainAvailable = keychainAvailable;
  }

  status(): VaultStatus {
    return {
      state: this.phase,
      profileDir: '~/.local/share/evenkeel',
      // A vault that has no key in the keychain does not find it there.
      hasKeychainSlot: this.hasKeychainSlot && this.trouble !== 'not_found',
      hasPassphrase: this.hasPassphrase,
      hasKeySlots: this.hasKeySlots,
      keychainAvailable: this.keychainAvailable,
      error: this.obstacle(),
    };
  }

  private obstacle(): ErrorBody | null {
    if (this.away !== '') return awayError(this.away);
    return this.phase === 'unavailable' ? failure(this.trouble, 'It does not open.').body : null;
  }

  requireOpen(): void {
    if (this.phase !== 'open')
      throw failure('vault_locked', 'The vault is locked. Unlock it first.');
  }

  create(useKeychain: boolean, passphrase: string | null): RecoverySheet {
    if (this.phase !== 'new' && this.phase !== 'confirmRecovery') {
      throw failure('vault_exists', 'There is a vault already.');
    }
    if (useKeychain && !this.keychainAvailable) {
      throw failure('keychain_unavailable', 'No keychain service can be reached.');
    }
    this.hasKeychainSlot = useKeychain;
    this.hasPassphrase = passphrase !== null;
    this.phase = 'confirmRecovery';
    return SHEET;
  }

  /** A code that was never typed back is made anew. */
  renew(): RecoverySheet {
    if (this.phase !== 'confirmRecovery')
      throw failure('invalid_parameter', 'No recovery code is waiting to be typed back.');
    return SHEET;
  }

  /** Writes the code to the place that the user of this world always chooses. */
  save(words: RecoveryWords): string | null {
    if (this.phase !== 'confirmRecovery' && this.phase !== 'open')
      throw failure('invalid_parameter', 'No recovery code is waiting to be typed back.');
    if (this.place === '') return null;
    if (this.place.startsWith('~/.local/share/evenkeel'))
      throw failure('place_refused', `${this.place} is inside the profile folder.`);
    this.saved = {
      path: this.place,
      text: [words.title, '', SHEET.groups.join('-'), '', ...words.notes].join('\n'),
    };
    return this.place;
  }

  /** The code that is shown. */
  sheet(): RecoverySheet {
    return SHEET;
  }

  checkAnswers(answers: string[]): void {
    const wrong = SHEET.askGroups.findIndex(
      (group, index) => answers[index]?.trim().toUpperCase() !== SHEET.groups[group],
    );
    if (wrong >= 0) {
      const range = `group ${(SHEET.askGroups[wrong] ?? 0) + 1} as it was shown`;
      const details = { field: 'answers', value: `answer ${wrong + 1}`, range };
      throw failure('invalid_parameter', 'This is not that group.', details);
    }
  }

  requireCode(code: string): void {
    if (!this.knows(code)) throw failure('wrong_key', 'This is not the recovery code.');
  }

  /** Sets what opens it beside the recovery code. */
  setWays(keychain: boolean, passphrase: boolean): void {
    this.hasKeychainSlot = keychain;
    this.hasPassphrase = passphrase;
  }

  confirm(answers: string[]): VaultStatus {
    this.checkAnswers(answers);
    this.phase = 'open';
    return this.status();
  }

  /** Whether this is the recovery code or the passphrase. */
  knows(secret: string): boolean {
    const code = secret.replaceAll(/[^A-Z0-9]/gi, '').toUpperCase();
    return secret === 'correct horse' || code === SHEET.groups.join('');
  }

  unlock(method: UnlockMethod): VaultStatus {
    const opens =
      (method.kind === 'keychain' && ['lockedByUser', 'waiting', 'locked'].includes(this.phase)) ||
      (method.kind === 'passphrase' && this.knows(method.passphrase)) ||
      (method.kind === 'recoveryCode' && this.knows(method.code));
    if (!opens) {
      if (method.kind === 'keychain') return this.status();
      throw failure('wrong_key', 'This does not open the vault. Nothing was changed.');
    }
    this.phase = 'open';
    return this.status();
  }

  cancelWaiting(): void {
    if (this.phase === 'waiting') this.phase = 'locked';
  }

  /** Opens or locks it from elsewhere. */
  turn(phase: VaultPhase): void {
    this.phase = phase;
  }

  /** The drive with the data is connected again. */
  comeBack(): void {
    this.away = '';
    this.phase = 'open';
  }

  erase(): void {
    this.phase = 'new';
  }

  lock(): VaultStatus {
    this.phase = 'lockedByUser';
    return this.status();
  }
}
