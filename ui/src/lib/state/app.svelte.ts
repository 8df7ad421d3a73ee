import { createContext } from 'svelte';
import type { Backend, Unlisten } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { Context, ErrorBody, ModelChoice, VaultPhase } from '../ipc/types';
import { Advice } from './advice.svelte';
import { tellOfQuestion } from './asked';
import { Chat } from './chat.svelte';
import { Clock } from './clock.svelte';
import { Connections } from './connections.svelte';
import { Tools } from './tools.svelte';
import { Contexts } from './contexts.svelte';
import { Conversations } from './conversations.svelte';
import { readFirst, readRest } from './entry';
import { Keys } from './keys.svelte';
import { Links } from './links.svelte';
import { News } from './news';
import { Notices } from './notices.svelte';
import { Presets } from './presets.svelte';
import { Prompting } from './prompting.svelte';
import { Providers } from './providers.svelte';
import { QuickChat } from './quick.svelte';
import { Removal } from './removal.svelte';
import { Rescue } from './rescue.svelte';
import { Restore } from './restore.svelte';
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
  readonly keys: Keys;
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
  readonly restore: Restore;
  readonly rescue: Rescue;
  readonly clock = new Clock();
  readonly upkeep: Upkeep;
  readonly prompting: Prompting;
  readonly connections: Connections;
  readonly tools: Tools;
  readonly quick: QuickChat;
  /** This is the small window, which may ask little. */
  readonly isQuick: boolean;
  page = $state<Page>('chat');
  /** The part of the settings that is shown. */
  settingsTab = $state('general');
  /** Everything of the open vault has been read. */
  ready = $state(false);
  /** Why the open vault could not be read. */
  private failure = $state.raw<ErrorBody | null>(null);
  /** The first run goes on until a companion has been picked. */
  welcoming = $state(false);
  private readonly backend: Backend;
  private readonly news: News;

  constructor(backend: Backend, isQuick = false) {
    this.backend = backend;
    this.isQuick = isQuick;
    this.links = new Links(backend, this.notices);
    this.vault = new Vault(backend);
    const locks = () => this.vault.isOpen && this.settings.value.lockAfterMinutes > 0;
    this.keys = new Keys(backend, locks);
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
    this.restore = new Restore(backend, this);
    this.upkeep = new Upkeep(backend, this.settings);
    this.rescue = new Rescue(this, backend);
    this.prompting = new Prompting(backend);
    this.connections = new Connections(backend);
    this.tools = new Tools(backend);
    this.news = new News(this);
    this.quick = new QuickChat(this, backend);
    this.chat.keepsDrafts = this.settings.readsInfo = !isQuick;
    this.chat.limit = () => this.settings.value.limits.messageBytes;
    this.chat.onTool = (opened, event) => tellOfQuestion(this, opened, event);
    this.chat.onUnstored = (error) => this.notices.fail(error, 'draft.unstored');
    // Each status counts: the first says no more than "opening" if another window came before.
    this.vault.onStatus = ({ state }) => (this.welcoming ||= FIRST_RUN.has(state));
    this.chat.onBorn = ({ id }) =>
      void this.quietly(() => this.conversations.follow(new Set([id])));
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
    this.keys.presence.start();
    await this.quietly(() => this.news.listen(this.backend));
    await this.quietly(() => this.settings.loadInfo());
    await this.vault.refresh();
  }

  /** Reads the open vault. */
  async enter(): Promise<void> {
    this.failure = null;
    try {
      await readFirst(this);
      this.ready = true;
    } catch (thrown) {
      this.failure = errorBody(thrown);
      return;
    }
    await readRest(this);
  }

  /** Why nothing can be shown, though nobody has to open the vault first. */
  get trouble(): ErrorBody | null {
    if (this.vault.phase === null) return this.vault.error;
    return this.vault.isOpen ? this.failure : null;
  }

  /** Tries again what `trouble` is about. */
  async retry(): Promise<void> {
    this.vault.clearError();
    if (this.vault.phase === null) await this.vault.refresh();
    else await this.enter();
    if (!this.isQuick) await this.followMove();
  }

  /** Forgets what was read from the vault. */
  leave(): void {
    this.ready = false;
    this.failure = null;
    this.page = 'chat';
    // What is said at the edge of the window may name someone.
    this.notices.clear();
    this.links.cancel();
    this.chat.clear();
    void this.conversations.show(null);
    for (const noun of [this.contexts, this.search, this.trash, this.presets]) noun.clear();
    const { advice, upkeep, prompting, keys, connections, tools } = this;
    for (const noun of [advice, upkeep, prompting, keys, connections, tools]) noun.forget();
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
      const newest = await this.turnTo(contextId);
      if (newest !== null) await this.chat.open(newest, contextId);
    });
  }

  /** Turns to a context: an empty page, unless it has a conversation to be shown in its place. */
  async turnTo(contextId: string): Promise<string | null> {
    this.chat.begin(contextId);
    await this.conversations.show(contextId);
    const empty = this.chat.current?.draft === '' && this.chat.contextId === contextId;
    return (empty && this.conversations.list[0]?.id) || null;
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
      await this.chat.current?.composer.refetch();
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
    this.keys.presence.stop();
    this.news.end();
  }
}

export const [getApp, setApp] = createContext<App>();
