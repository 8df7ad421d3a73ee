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
import type { ToolAnswer, ToolEvent } from '../ipc/tools';
import { Branch } from './branch.svelte';
import { ComposerDraft } from './draft.svelte';
import { Reply, type ShownUse } from './reply.svelte';
import { MESSAGE_BYTES, sendable, tooLong } from './text';
import { usesOf } from './uses';

const METER_MILLIS = 300;
const LATE_END_MILLIS = 1_500;

/** One conversation as it is shown: its branch, the growing reply, the draft below it. */
export class OpenConversation extends Branch {
  /** Another context that answers next; `null` = the conversation's own. */
  agentId = $state<string | null>(null);
  /** Whom to call, until the user closes it. */
  care = $state.raw<CareCard | null>(null);
  /** The wordings of messages that are being edited, by message. */
  edits = $state.raw<Record<string, string>>({});
  /** What tools did for replies, by message; of what the user did not let them do, only what was seen here. */
  uses = $state.raw<Record<string, ShownUse[]>>({});
  /** The message whose new wording could not be sent; `error` says why. */
  failedEdit = $state<string | null>(null);
  readonly contextId: string;
  readonly composer: ComposerDraft;
  /** Told when the first message gave a new conversation its id. */
  onBorn: (conversation: Conversation) => void = () => undefined;
  /** Told what is told of tools. */
  onTool: (event: ToolEvent) => void = () => undefined;
  /** The largest message, in UTF-8 bytes. */
  limit: () => number = () => MESSAGE_BYTES;
  private meterTimer: ReturnType<typeof setTimeout> | null = null;
  /** Counts the questions to the meter: an answer to an older one is not shown. */
  private asked = 0;
  private ended: (() => void) | null = null;
  /** The small window may not read the record. */
  private readonly isMain: boolean;

  constructor(backend: Backend, contextId: string, id: string | null = null, keepDraft = false) {
    super(backend, id);
    this.contextId = contextId;
    this.isMain = keepDraft;
    const key = id === null ? { context: contextId } : { conversation: id };
    this.composer = new ComposerDraft(backend, key, keepDraft);
  }

  get draft(): string {
    return this.composer.text;
  }

  set draft(text: string) {
    this.composer.text = text;
  }

  override async load(): Promise<void> {
    await super.load();
    void this.recollect();
    await this.composer.restore();
  }

  override place(view: ConversationView, messageId: string): void {
    super.place(view, messageId);
    void this.recollect();
    void this.composer.restore();
  }

  override drop(): void {
    super.drop();
    if (this.meterTimer !== null) clearTimeout(this.meterTimer);
    this.composer.drop();
  }

  /** Reads from the record what tools did; a conversation is shown all the same without. */
  private async recollect(): Promise<void> {
    const { id } = this;
    if (id === null || !this.isMain) return;
    const page = { page: 1, pageSize: 50, toolName: null };
    const read = this.backend.operationList({ conversationId: id, ...page });
    const found = await read.catch(() => null);
    if (found) this.uses = { ...usesOf(found.operations), ...this.uses };
  }

  /** Whether something was typed here that is nowhere else. */
  get holdsText(): boolean {
    return this.composer.isAlone || Object.keys(this.edits).length > 0;
  }

  /** Sends the draft. It stays in the field until the message is on disk. */
  async send(text: string = this.draft): Promise<boolean> {
    const clean = sendable(text);
    // Unread it could only become another conversation.
    if (clean.trim() === '' || this.busy || !this.isLoaded) return false;
    this.error = tooLong(clean, this.limit());
    if (this.error !== null) return false;
    if (this.hasLater) await this.toNewest();
    const { contextId, agentId } = this;
    return this.run({ kind: 'new', contextId, conversationId: this.id, text: clean, agentId });
  }

  /** What sending the draft would ask. */
  get intended(): SendRequest {
    const { contextId, agentId } = this;
    const text = sendable(this.draft);
    return { kind: 'new', contextId, conversationId: this.id, text, agentId };
  }

  /** Changes the new wording of a message; `null` gives it up. */
  reword(messageId: string, text: string | null): void {
    const { [messageId]: _old, ...others } = this.edits;
    this.edits = text === null ? others : { ...others, [messageId]: text };
    if (this.failedEdit === messageId) this.failedEdit = null;
  }

  /** Sends the new wording of a message. It stays in its form until it is on disk. */
  async edit(messageId: string, text: string = this.edits[messageId] ?? ''): Promise<boolean> {
    const clean = sendable(text);
    if (clean.trim() === '' || this.busy) return false;
    this.error = tooLong(clean, this.limit());
    const done = this.error === null && (await this.run({ kind: 'edit', messageId, text: clean }));
    this.failedEdit = done ? null : messageId;
    return done;
  }

  /** Answers whether a tool may run; a question that is over needs no answer. */
  async answerTool(answer: ToolAnswer): Promise<void> {
    const id = this.reply?.settle();
    if (id !== undefined) await this.backend.toolAnswer(id, answer).catch(() => undefined);
  }

  async regenerate(messageId: string): Promise<boolean> {
    return this.run({ kind: 'regenerate', messageId });
  }

  async stop(): Promise<void> {
    const { id } = this;
    if (!this.busy) return;
    this.stopping = true;
    // A new conversation has its id with its first event, and is stopped then.
    if (id === null) return;
    this.stopping = await this.attempt(() => this.backend.chatStop(id));
    if (!this.busy) this.stopping = false;
  }

  /** Counts the draft after a short rest in typing. */
  measure(): void {
    if (this.meterTimer !== null) clearTimeout(this.meterTimer);
    this.meterTimer = setTimeout(() => {
      const text = sendable(this.draft);
      this.asked += 1;
      const ticket = this.asked;
      const take = (meter: TokenMeter | null): void => {
        if (ticket === this.asked) this.meter = meter;
      };
      // Without a model there is nothing to measure by; sending says so.
      this.backend.chatMeter(this.contextId, this.id, text).then(take, () => take(null));
    }, METER_MILLIS);
  }

  /** The history was counted without what is typed: that is counted anew, on top of it. */
  protected override count(meter: TokenMeter): void {
    this.asked += 1;
    if (this.draft === '' || this.meter === null) this.meter = meter;
    if (this.draft !== '') this.measure();
  }

  private async run(request: SendRequest): Promise<boolean> {
    if (this.busy) return false;
    const reply = new Reply(this.answererOf(request), (event) => this.onTool(event));
    this.reply = reply;
    this.error = null;
    this.stopping = false;
    const over = new Promise<void>((resolve) => (this.ended = resolve));
    try {
      await this.backend.chatSend(request, (event) => {
        this.take(reply, event);
        if (event.kind === 'started' && request.kind === 'edit')
          this.reword(request.messageId, null);
      });
      // The channel and the command's answer travel apart: the last event may come later.
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, LATE_END_MILLIS))]);
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
    if (this.reply === reply) {
      this.reply = null;
      this.stopping = false;
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
    else if (event.kind === 'care') this.care = event.card;
    else if (event.kind === 'ended') this.end(reply, event.message, event.error);
    else reply.tool(event);
  }

  private begin(reply: Reply, event: Extract<ChatEvent, { kind: 'started' }>): void {
    const born = this.conversation === null;
    const { userMessage } = event;
    const place = this.messages.findIndex((message) => message.parentId === userMessage.parentId);
    const before = place >= 0 ? this.messages.slice(0, place) : this.messages;
    reply.id = event.replyId;
    this.messages = [...before, userMessage];
    this.hasLater = false;
    this.conversation = event.conversation;
    if (sendable(this.draft) === userMessage.content) this.draft = '';
    this.count(event.meter);
    if (born) this.composer.rekey({ conversation: event.conversation.id });
    void this.composer.flush();
    if (born) this.onBorn(event.conversation);
    if (this.stopping) void this.stop();
  }

  private end(reply: Reply, message: Message | null, error: ErrorBody | null): void {
    reply.flush();
    if (message) this.messages = [...this.messages, message];
    if (message && reply.uses.length > 0) this.uses = { ...this.uses, [message.id]: reply.uses };
    this.error = error;
    this.reply = null;
    this.ended?.();
    if (message === null) void this.reload();
    this.measure();
  }

  /** The context that writes the reply to a request. */
  private answererOf(request: SendRequest): string {
    if (request.kind === 'new') return request.agentId ?? request.contextId;
    const message = this.messages.find((one) => one.id === request.messageId);
    return message?.role === 'assistant' ? message.contextId : this.contextId;
  }
}
