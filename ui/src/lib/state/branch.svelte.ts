import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  Conversation,
  ConversationView,
  ErrorBody,
  Message,
  TokenMeter,
  Vote,
} from '../ipc/types';
import { earlierOf, mend } from './mend';
import { Reply } from './reply.svelte';

const PAGE = 50;
/** How often it is asked whether a reply begun elsewhere has ended: one that leaves nothing tells nothing. */
const LOOK_MILLIS = 2_000;
const NONE: ReadonlySet<string> = new Set();

/** The branch of a conversation that is shown, page by page from either end. */
export class Branch {
  /** `null` until it has been read, or until the first message of a new one is on disk. */
  conversation = $state.raw<Conversation | null>(null);
  messages = $state.raw<Message[]>([]);
  hasEarlier = $state(false);
  /** Newer messages are yet to be fetched, as after opening at a found one. */
  hasLater = $state(false);
  /** The message to bring into view; whoever does so sets it back. */
  target = $state<string | null>(null);
  meter = $state.raw<TokenMeter | null>(null);
  reply = $state.raw<Reply | null>(null);
  error = $state.raw<ErrorBody | null>(null);
  loading = $state(false);
  /** Nothing of it is written to disk. */
  isPrivate = $state(false);
  /** A reply is being written that another window began. */
  elsewhere = $state(false);
  /** The reply under way has been told to stop. */
  stopping = $state(false);
  protected readonly backend: Backend;
  /** The id it was opened by; `null` = a new one. */
  private readonly known: string | null;
  private look: ReturnType<typeof setTimeout> | null = null;
  private gone = false;

  constructor(backend: Backend, id: string | null) {
    this.backend = backend;
    this.known = id;
  }

  get id(): string | null {
    return this.conversation?.id ?? this.known;
  }

  /** Whether it can be written into: a new one, or one that has been read. */
  get isLoaded(): boolean {
    return this.conversation !== null || this.known === null;
  }

  /** A reply is being written, here or elsewhere. */
  get busy(): boolean {
    return this.reply !== null || this.elsewhere;
  }

  async load(): Promise<void> {
    const { id } = this;
    if (id === null) return;
    this.loading = true;
    if (!this.isLoaded) this.error = null;
    await this.attempt(async () => this.show(await this.backend.conversationOpen(id)));
    this.loading = false;
  }

  /** Shows the page around a message, and that message. */
  place(view: ConversationView, messageId: string): void {
    if (!this.messages.some((message) => message.id === messageId)) {
      this.messages = [];
      this.show(view);
    }
    this.target = messageId;
  }

  /**
   * Fetches the branch again after a change elsewhere. Earlier pages stay but for the messages
   * named; the empty id stands for any of them.
   */
  async reload(changed: ReadonlySet<string> = NONE): Promise<void> {
    const { id } = this;
    if (!this.isLoaded) return this.load();
    if (id === null || this.reply !== null) return;
    await this.attempt(async () => {
      // In the middle of a conversation the place stays; its end is fetched on the way there.
      if (this.hasLater && !this.elsewhere) return mend(this, this.backend, changed);
      const view = await this.backend.conversationOpen(id);
      if (this.reply !== null) return;
      if (this.hasLater) this.watch(view.isReplying);
      else await mend(this, this.backend, this.refresh(view, changed));
    });
  }

  /** Lets go: nothing is fetched any more of its own accord. */
  drop(): void {
    if (this.look !== null) clearTimeout(this.look);
    this.gone = true;
  }

  async earlier(): Promise<void> {
    const first = this.messages[0];
    if (!first || !this.hasEarlier || this.loading) return;
    this.loading = true;
    await this.attempt(async () => {
      const page = await earlierOf(this.backend, this.messages, PAGE);
      if (this.messages[0]?.id !== first.id) return;
      this.messages = [...page.messages, ...this.messages.slice(page.ghosts)];
      this.hasEarlier = page.hasEarlier;
    });
    this.loading = false;
  }

  async later(): Promise<void> {
    const last = this.messages.at(-1);
    if (!last || !this.hasLater || this.loading) return;
    this.loading = true;
    await this.attempt(async () => {
      const page = await this.backend.messageAfter(last.id, PAGE);
      if (this.messages.at(-1)?.id !== last.id) return;
      this.messages = [...this.messages, ...page.messages];
      this.hasLater = page.hasLater;
    });
    this.loading = false;
  }

  /** Shows the end of the branch. */
  async toNewest(): Promise<void> {
    if (this.id === null || !this.hasLater) return;
    this.hasLater = false;
    await this.load();
  }

  async selectBranch(messageId: string): Promise<void> {
    if (this.busy) return;
    await this.attempt(async () =>
      this.show(await this.backend.conversationSelectBranch(messageId)),
    );
  }

  /** Deletes one message; those after it stay. True if that was done. */
  async remove(messageId: string): Promise<boolean> {
    if (this.busy) return false;
    return this.attempt(async () => {
      const place = this.messages.findIndex((one) => one.id === messageId);
      const beside = this.messages[place + 1] ?? this.messages[place - 1];
      const middle = this.hasLater;
      const view = await this.backend.messageDelete(messageId);
      this.close(messageId);
      if (!middle) this.show(view);
      else if (beside) this.show(await this.backend.conversationOpenAt(beside.id));
    });
  }

  /** Puts a deleted message back in its place, and shows it. */
  async restore(messageId: string): Promise<boolean> {
    if (this.busy) return false;
    return this.attempt(async () => {
      const view = await this.backend.messageRestore(messageId);
      const inside = view.messages.some((one) => one.id === messageId);
      if (!inside) this.messages = [];
      this.show(inside ? view : await this.backend.conversationOpenAt(messageId));
      if (!inside) this.target = messageId;
    });
  }

  async vote(messageId: string, vote: Vote | null): Promise<void> {
    await this.attempt(async () => {
      const voted = await this.backend.messageVote(messageId, vote);
      this.messages = this.messages.map((one) => (one.id === messageId ? voted : one));
    });
  }

  /** Shows the newest page; answers with the messages before it that may be others by now. */
  private refresh(view: ConversationView, changed: ReadonlySet<string>): ReadonlySet<string> {
    const known = new Set(this.messages.map((one) => one.id));
    const came = view.messages.filter((one) => !known.has(one.id)).length;
    const expected = (this.conversation?.messageCount ?? 0) + came;
    this.show(view);
    const kept = this.messages.slice(0, -view.messages.length || undefined);
    const any = changed.has('') && view.conversation.messageCount !== expected;
    return new Set(kept.map((one) => one.id).filter((one) => any || changed.has(one)));
  }

  protected show(view: ConversationView): void {
    const first = view.messages[0];
    const joint = first ? this.messages.findIndex((message) => message.id === first.id) : -1;
    const kept = joint > 0 ? this.messages.slice(0, joint) : [];
    this.conversation = view.conversation;
    this.isPrivate = view.isPrivate;
    this.messages = [...kept, ...view.messages];
    if (kept.length === 0) this.hasEarlier = view.hasEarlier;
    this.hasLater = view.hasLater;
    this.count(view.meter);
    this.watch(view.isReplying);
  }

  /** Takes the count of the history that is shown. */
  protected count(meter: TokenMeter): void {
    this.meter = meter;
  }

  protected async attempt(task: () => Promise<unknown>): Promise<boolean> {
    try {
      await task();
      return true;
    } catch (thrown) {
      this.error = errorBody(thrown);
      return false;
    }
  }

  /** Notes whether a reply is being written that another window began, and looks for its end. */
  private watch(isReplying: boolean): void {
    if (this.look !== null) clearTimeout(this.look);
    this.elsewhere = isReplying && this.reply === null;
    if (!this.elsewhere) {
      this.stopping = false;
      if (this.error?.code === 'busy') this.error = null;
      return;
    }
    const again = async (): Promise<void> => {
      const look = this.look;
      await this.reload();
      // What could not be read is asked again.
      if (this.elsewhere && this.look === look) this.watch(true);
    };
    if (!this.gone) this.look = setTimeout(() => void again(), LOOK_MILLIS);
  }

  /** Takes a message out; those that followed it follow the one before it. */
  private close(messageId: string): void {
    const gone = this.messages.find((one) => one.id === messageId);
    const parentId = gone?.parentId ?? null;
    this.messages = this.messages
      .filter((one) => one.id !== messageId)
      .map((one) => (one.parentId === messageId ? { ...one, parentId } : one));
  }
}
