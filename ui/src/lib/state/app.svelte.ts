import { createContext } from 'svelte';
import type { Backend, Unlisten } from '../ipc/backend';
import type { Context, ContextExpiring, ModelChoice, VaultPhase } from '../ipc/types';
import { Advice } from './advice.svelte';
import { Changes } from './changes';
import { Chat } from './chat.svelte';
import { Clock } from './clock.svelte';
import { Contexts } from './contexts.svelte';
import { Conversations } from './conversations.svelte';
import { Links } from './links.svelte';
import { Notices } from './notices.svelte';
import { Presets } from './presets.svelte';
import { Providers } from './providers.svelte';
import { Removal } from './removal.svelte';
import { Search } from './search.svelte';
import { SettingsState } from './settings.svelte';
import { Trash } from './trash.svelte';
import { Upkeep } from './upkeep.svelte';
import { Vault } from './vault.svelte';

export type Page = 'chat' | 'settings' | 'trash';
const FLUSH_MILLIS = 500;
const FIRST_RUN = new Set<VaultPhase>(['new', 'confirmRecovery']);

/** All state of one window. Views take it from here; the nouns do not know each other. */
export class App {
  readonly notices = new Notices();
  readonly links: Links;
  readonly vault: Vault;
  readonly settings: SettingsState;
  readonly contexts: Contexts;
  readonly conversations: Conversations;
  readonly chat: Chat;
  readonly providers: Providers;
  readonly presets: Presets;
  readonly advice: Advice;
  readonly search: Search;
  readonly trash: Trash;
  readonly removal: Removal;
  readonly clock = new Clock();
  readonly upkeep: Upkeep;
  page = $state<Page>('chat');
  /** The part of the settings that is shown. */
  settingsTab = $state('general');
  /** Everything of the open vault has been read. */
  ready = $state(false);
  /** The first run goes on until a companion has been picked. */
  welcoming = $state(false);
  private readonly backend: Backend;
  private readonly unlisten: Unlisten[] = [];
  private readonly changes = new Changes((nouns) => void this.quietly(() => this.refetch(nouns)));

  constructor(backend: Backend) {
    this.backend = backend;
    this.links = new Links(backend, this.notices);
    this.vault = new Vault(backend);
    this.settings = new SettingsState(backend, this.notices);
    this.contexts = new Contexts(backend);
    this.conversations = new Conversations(backend);
    this.chat = new Chat(backend);
    this.providers = new Providers(backend);
    this.presets = new Presets(backend);
    this.advice = new Advice(backend);
    this.search = new Search(backend);
    this.trash = new Trash(backend);
    this.removal = new Removal(this);
    this.upkeep = new Upkeep(backend, this.settings);
    this.chat.limit = () => this.settings.value.limits.messageBytes;
    // Each status counts: the first says no more than "opening" if another window came before.
    this.vault.onStatus = ({ state }) => (this.welcoming ||= FIRST_RUN.has(state));
    this.chat.onBorn = () => void this.quietly(() => this.conversations.refresh());
  }

  /** The context whose conversations are shown. */
  get context(): Context | null {
    return this.contexts.find(this.chat.contextId);
  }

  /** The model that answers for a context. */
  modelOf(context: Context | null): ModelChoice | null {
    return context?.model ?? this.settings.value.defaultModel;
  }

  async start(): Promise<void> {
    this.clock.start();
    await this.quietly(() => this.subscribe());
    await this.quietly(() => this.settings.loadInfo());
    await this.vault.refresh();
  }

  /** Reads the open vault. */
  async enter(): Promise<void> {
    await this.quietly(async () => {
      await this.settings.load();
      await Promise.all([this.contexts.load(), this.presets.load(), this.providers.load()]);
      const unfinished =
        this.contexts.list.length === 0 && this.settings.value.defaultModel === null;
      if (unfinished) this.welcoming = true;
      const last = this.contexts.find(this.settings.value.lastContextId) ?? this.contexts.list[0];
      if (last && !this.chat.current) await this.pick(last.id);
      this.ready = true;
    });
  }

  /** Forgets what was read from the vault. */
  leave(): void {
    this.ready = false;
    this.page = 'chat';
    this.chat.clear();
    void this.conversations.show(null);
    this.contexts.clear();
    this.search.clear();
    this.trash.clear();
    this.presets.clear();
    this.advice.forget();
    this.upkeep.forget();
  }

  /** Reads everything anew after another vault took the place of the open one, or none did. */
  async begin(): Promise<void> {
    this.leave();
    await this.vault.refresh();
    this.welcoming = this.vault.phase === 'new';
    if (this.welcoming) this.settings.forget();
    if (this.vault.isOpen) await this.enter();
  }

  /** Shows a context: its newest conversation, or an empty page. */
  async pick(contextId: string): Promise<void> {
    await this.quietly(async () => {
      this.chat.begin(contextId);
      await this.conversations.show(contextId);
      const newest = this.conversations.list[0];
      const empty = this.chat.current?.draft === '' && this.chat.contextId === contextId;
      if (newest && empty) await this.chat.open(newest.id, contextId);
    });
  }

  /** Locks the vault; what is half typed is stored before, unless that takes too long. */
  async lock(): Promise<void> {
    await this.chat.flush(FLUSH_MILLIS);
    await this.vault.lock();
  }

  /** Shows a found message in its place. */
  async showMessage(messageId: string): Promise<void> {
    await this.quietly(async () => {
      const contextId = await this.chat.openAt(messageId);
      this.page = 'chat';
      await this.conversations.show(contextId);
    });
  }

  /** Shows a part of the settings. */
  openSettings(tab: string): void {
    this.settingsTab = tab;
    this.page = 'settings';
  }

  hideQuickChat(): Promise<void> {
    return this.quietly(() => this.backend.quickChatHide());
  }

  moveQuickChat(conversationId: string): Promise<void> {
    return this.quietly(() => this.backend.quickChatMove(conversationId));
  }

  /** Shows the conversation that quick chat handed to this window, if one waits. */
  async followMove(): Promise<void> {
    // Nothing can be shown before the vault has been read; whoever reads it asks again.
    if (!this.ready) return;
    await this.quietly(async () => {
      const moved = await this.backend.quickChatMoved();
      if (moved === null) return;
      const { conversation } = await this.backend.conversationOpen(moved);
      this.page = 'chat';
      await this.chat.open(conversation.id, conversation.contextId);
      await this.conversations.show(conversation.contextId);
    });
  }

  onFocus(handler: () => void): Promise<Unlisten> {
    return this.backend.onFocus(handler);
  }

  /** Runs a task; what fails is shown at the edge of the window. */
  async quietly(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (thrown) {
      this.notices.fail(thrown);
    }
  }

  stop(): void {
    this.clock.stop();
    for (const end of this.unlisten) end();
    this.unlisten.length = 0;
  }

  private async subscribe(): Promise<void> {
    this.unlisten.push(
      await this.backend.listen('change', ({ noun }) => this.changes.note(noun)),
      await this.backend.listen('navigate', () => void this.followMove()),
      await this.backend.listen('engine', (news) => {
        if (news.kind === 'crashed') this.notices.say('engine.crashed');
      }),
      await this.backend.listen('contextExpiring', (news) => this.warn(news)),
      await this.backend.onFileDrop((paths) => void this.drop(paths)),
    );
  }

  private warn({ contextId, name }: ContextExpiring): void {
    const extend = async (): Promise<void> => {
      if (!this.contexts.find(contextId)) return;
      await this.contexts.extend(contextId);
      this.notices.say('contexts.extended', { name });
    };
    const offer = { key: 'chat.extend', run: () => this.quietly(extend) } as const;
    this.notices.ask(contextId, 'contexts.expiring', { name }, offer);
  }

  private async drop(paths: string[]): Promise<void> {
    // Whatever is dropped is offered to the core: it says why something is no model file.
    for (const path of paths) {
      await this.quietly(async () => {
        const model = await this.providers.addFile(path);
        this.notices.say('models.added', { name: model.name });
        await this.providers.stock();
      });
    }
  }

  private async refetch(nouns: ReadonlySet<string>): Promise<void> {
    if (nouns.has('vault')) await this.vault.refresh();
    if (!this.ready) return;
    if (nouns.has('context')) await this.contexts.refresh();
    if (nouns.has('preset')) await this.presets.load();
    if (this.page === 'trash') await this.trash.follow(nouns);
    if (nouns.has('conversation') || nouns.has('message')) {
      await this.conversations.refresh();
      await this.chat.current?.reload();
    }
    if (nouns.has('provider') || nouns.has('model')) await this.providers.load();
    if (nouns.has('settings')) await this.settings.load();
    await this.upkeep.follow(nouns);
  }
}

export const [getApp, setApp] = createContext<App>();
