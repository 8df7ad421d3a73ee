import type { Backend } from '../ipc/backend';
import type { AppInfo, Settings } from '../ipc/types';
import type { Notices } from './notices.svelte';

const BEFORE_THE_VAULT: Settings = {
  theme: 'system',
  language: 'system',
  defaultModel: null,
  quickChatShortcut: '',
  keepInTray: true,
  engineIdleMinutes: 15,
  lastContextId: null,
  aiNoticeAccepted: false,
};

/** The user's settings. They live in the vault; until it opens, defaults hold. */
export class SettingsState {
  value = $state.raw<Settings>(BEFORE_THE_VAULT);
  info = $state.raw<AppInfo | null>(null);
  loaded = $state(false);
  private readonly backend: Backend;
  private readonly notices: Notices;

  constructor(backend: Backend, notices: Notices) {
    this.backend = backend;
    this.notices = notices;
  }

  async load(): Promise<void> {
    const before = this.value;
    const stored = await this.backend.settingsGet();
    // The notice is accepted before there is a vault to keep that in.
    const early = before.aiNoticeAccepted && !stored.aiNoticeAccepted;
    this.value = stored;
    this.loaded = true;
    if (early) await this.save({ aiNoticeAccepted: true, language: before.language });
  }

  async loadInfo(): Promise<void> {
    this.info = await this.backend.appInfo();
  }

  /** Changes settings at once and stores them; on failure the old ones come back. */
  async save(patch: Partial<Settings>): Promise<void> {
    const before = this.value;
    this.value = { ...before, ...patch };
    if (!this.loaded) return;
    try {
      this.value = await this.backend.settingsSave(this.value);
    } catch (thrown) {
      this.value = before;
      this.notices.fail(thrown);
    }
  }
}
