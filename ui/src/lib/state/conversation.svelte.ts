import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  CareCard,
  ChatEvent,
  Conversation,
  ConversationView,
  ErrorBody,
  Message,
  SendRequest,
  TokenMeter,
} from '../ipc/types';
import { Reply } from './reply.svelte';
import { MESSAGE_BYTES, sendable, utf8Bytes } from './text';

const PAGE = 50;
const METER_MILLIS = 300;
const LATE_END_MILLIS = 1_500;

/** One conversation as it is shown: its branch, the growing reply, the draft below it. */
export class OpenConversation {
  /** `null` until the first message of a new conversation is on disk. */
  conversation = $state.raw<Conversation | null>(null);
  messages = $state.raw<Message[]>([]);
  hasEarlier = $state(false);
  meter = $state.raw<TokenMeter | null>(null);
  reply = $state.raw<Reply | null>(null);
  error = $state.raw<ErrorBody | null>(null);
  loading = $state(false);
  draft = $state('');
  /** Whom to call, until the user closes it. */
  care = $state.raw<CareCard | null>(null);
  readonly contextId: string;
  /** Told when the first message gave a new conversation its id. */
  onBorn: (conversation: Conversation) => void = () => undefined;
  /** The largest message, in UTF-8 bytes. */
  limit: () => number = () => MESSAGE_BYTES;
  private readonly backend: Backend;
  private meterTimer: ReturnType<typeof setTimeout> | null = null;
  private ended: (() => void) | null = null;

  constructor(backend: Backend, contextId: string) {
    this.backend = backend;
    this.contextId = contextId;
  }

  get id(): string | null {
    return this.conversation?.id ?? null;
  }

  async load(id: string): Promise<void> {
    this.loading = true;
    await this.attempt(async () => this.show(await this.backend.conversationOpen(id)));
    this.loading = false;
  }

  /** Fetches the branch again after a change elsewhere; earlier pages stay. */
  async reload(): Promise<void> {
    const id = this.id;
    if (id === null || this.reply !== null) return;
    await this.attempt(async () => {
      const view = await this.backend.conversationOpen(id);
      if (this.reply === null) this.show(view);
    });
  }

  async earlier(): Promise<void> {
    const first = this.messages[0];
    if (!first || !this.hasEarlier || this.loading) return;
    this.loading = true;
    await this.attempt(async () => {
      const page = await this.backend.conversationEarlier(first.id, PAGE);
      if (this.messages[0]?.id !== first.id) return;
      this.messages = [...page.messages, ...this.messages];
      this.hasEarlier = page.hasEarlier;
    });
    this.loading = false;
  }

  /** Sends the draft. It stays in the field until the message is on disk. */
  async send(text: string = this.draft): Promise<boolean> {
    const clean = sendable(text);
    if (clean.trim() === '' || this.reply !== null) return false;
    const most = this.limit();
    if (utf8Bytes(clean) > most) {
      const details = {
        field: 'text',
        value: `${utf8Bytes(clean)} bytes`,
        range: `at most ${most} bytes`,
      };
      this.error = { code: 'invalid_parameter', message: 'The message is too long.', details };
      return false;
    }
    return this.run({
      kind: 'new',
      contextId: this.contextId,
      conversationId: this.id,
      text: clean,
    });
  }

  async edit(messageId: string, text: string): Promise<boolean> {
    const clean = sendable(text);
    if (clean.trim() === '') return false;
    return this.run({ kind: 'edit', messageId, text: clean });
  }

  async regenerate(messageId: string): Promise<boolean> {
    return this.run({ kind: 'regenerate', messageId });
  }

  async stop(): Promise<void> {
    const id = this.id;
    if (this.reply === null || id === null) return;
    this.reply.stopping = true;
    await this.attempt(() => this.backend.chatStop(id));
  }

  async selectBranch(messageId: string): Promise<void> {
    if (this.reply !== null) return;
    await this.attempt(async () =>
      this.show(await this.backend.conversationSelectBranch(messageId)),
    );
  }

  /** Counts the draft after a short rest in typing. */
  measure(): void {
    if (this.meterTimer !== null) clearTimeout(this.meterTimer);
    this.meterTimer = setTimeout(() => {
      const text = sendable(this.draft);
      this.backend
        .chatMeter(this.contextId, this.id, text)
        .then((meter) => (this.meter = meter))
        // Without a model there is nothing to measure by; sending says so.
        .catch(() => (this.meter = null));
    }, METER_MILLIS);
  }

  private show(view: ConversationView): void {
    const first = view.messages[0];
    const joint = first ? this.messages.findIndex((message) => message.id === first.id) : -1;
    const kept = joint > 0 ? this.messages.slice(0, joint) : [];
    this.conversation = view.conversation;
    this.messages = [...kept, ...view.messages];
    if (kept.length === 0) this.hasEarlier = view.hasEarlier;
    this.meter = view.meter;
  }

  private async run(request: SendRequest): Promise<boolean> {
    if (this.reply !== null) return false;
    const reply = new Reply();
    this.reply = reply;
    this.error = null;
    const over = new Promise<void>((resolve) => (this.ended = resolve));
    try {
      await this.backend.chatSend(request, (event) => this.take(reply, event));
      // The channel and the command's answer travel apart: the last event may come later.
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, LATE_END_MILLIS))]);
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
    if (this.reply === reply) {
      this.reply = null;
      await this.reload();
    }
    return reply.id !== null;
  }

  private take(reply: Reply, event: ChatEvent): void {
    if (this.reply !== reply) return;
    if (event.kind === 'text') reply.append(event.delta);
    else if (event.kind === 'reasoning') reply.reason(event.delta);
    else if (event.kind === 'notice') reply.notice = event.error;
    else if (event.kind === 'started') this.begin(reply, event);
    else this.end(reply, event.message, event.error);
  }

  private begin(reply: Reply, event: Extract<ChatEvent, { kind: 'started' }>): void {
    const born = this.conversation === null;
    const { userMessage } = event;
    const place = this.messages.findIndex((message) => message.parentId === userMessage.parentId);
    const before = place >= 0 ? this.messages.slice(0, place) : this.messages;
    reply.id = event.replyId;
    this.messages = [...before, userMessage];
    this.conversation = event.conversation;
    this.meter = event.meter;
    this.care = event.care ?? this.care;
    if (sendable(this.draft) === userMessage.content) this.draft = '';
    if (born) this.onBorn(event.conversation);
  }

  private end(reply: Reply, message: Message | null, error: ErrorBody | null): void {
    reply.flush();
    if (message) this.messages = [...this.messages, message];
    this.error = error;
    this.reply = null;
    this.ended?.();
    if (message === null) void this.reload();
    this.measure();
  }

  private async attempt(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }
}
