import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { AppInfo, ErrorBody, Settings } from '../ipc/types';
import type { Notices } from './notices.svelte';
import { MESSAGE_BYTES } from './text';

const BEFORE_THE_VAULT: Settings = {
  theme: 'system',
  language: 'system',
  defaultModel: null,
  quickChatShortcut: '',
  keepInTray: true,
  engineIdleMinutes: 15,
  lastContextId: null,
  aiNoticeAccepted: false,
  features: {},
  helplineRegion: '',
  notifications: true,
  notificationContent: false,
  automaticTitles: true,
  lockAfterMinutes: 0,
  lockOnSleep: false,
  lockWhenHidden: false,
  operations: { kept: 50, transientSessions: 100, transientMinutes: 60, rules: [] },
  toolRounds: 8,
  redaction: {
    emails: false,
    phones: false,
    cards: false,
    keys: false,
    own: [],
    beforeStoring: false,
    beforeSending: false,
  },
  limits: {
    contexts: 1_000,
    messagesPerContext: 1_000_000,
    messageBytes: MESSAGE_BYTES,
    vaultBytes: 50 * 1_024 ** 3,
  },
};

/** The user's settings. They live in the vault; until it opens, defaults hold. */
export class SettingsState {
  value = $state.raw<Settings>(BEFORE_THE_VAULT);
  info = $state.raw<AppInfo | null>(null);
  loaded = $state(false);
  /** The small window may not ask about the app. */
  readsInfo = true;
  private readonly backend: Backend;
  private readonly notices: Notices;
  /** Counts what was sent to be stored. */
  private sent = 0;
  /** What was sent and is not answered yet: until then the page shows the newest wish. */
  private pending = 0;
  /** The newest settings that are known to be stored. */
  private kept = { sent: 0, value: BEFORE_THE_VAULT };

  constructor(backend: Backend, notices: Notices) {
    this.backend = backend;
    this.notices = notices;
  }

  async load(): Promise<void> {
    const before = this.value;
    const [stored] = await Promise.all([this.backend.settingsGet(), this.loadInfo()]);
    // The notice is accepted before there is a vault to keep that in.
    const early = before.aiNoticeAccepted && !stored.aiNoticeAccepted;
    this.value = stored;
    this.kept = { sent: this.sent, value: stored };
    this.loaded = true;
    if (early) await this.save({ aiNoticeAccepted: true, language: before.language });
  }

  async loadInfo(): Promise<void> {
    if (this.readsInfo) this.info = await this.backend.appInfo();
  }

  /** Whether a feature is on; those of this window are on unless they were turned off. */
  has(feature: string): boolean {
    return this.value.features[feature] !== false;
  }

  /** Changes settings at once and stores them; on failure the old ones come back. */
  async save(patch: Partial<Settings>): Promise<void> {
    const error = await this.store(patch);
    if (error) this.notices.fail(error);
  }

  /** As `save`, for a form that shows the error itself. */
  async store(patch: Partial<Settings>): Promise<ErrorBody | null> {
    this.value = { ...this.value, ...patch };
    if (!this.loaded) return null;
    this.sent += 1;
    this.pending += 1;
    const sent = this.sent;
    try {
      const value = await this.backend.settingsSave(this.value);
      if (sent > this.kept.sent) this.kept = { sent, value };
    } catch (thrown) {
      return errorBody(thrown);
    } finally {
      this.pending -= 1;
      if (this.pending === 0 && this.loaded) this.value = this.kept.value;
    }
    // Only now is it known whether the shortcut works.
    return patch.quickChatShortcut === undefined ? null : this.inform();
  }

  /** Forgets what was read, as when everything was erased. */
  forget(): void {
    this.value = BEFORE_THE_VAULT;
    this.loaded = false;
  }

  private async inform(): Promise<ErrorBody | null> {
    try {
      await this.loadInfo();
      return null;
    } catch (thrown) {
      return errorBody(thrown);
    }
  }
}
