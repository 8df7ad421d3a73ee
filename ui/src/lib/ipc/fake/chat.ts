import { failure } from '../error';
import type { ChatEvent, Context, Conversation, Message, SendRequest, TokenMeter } from '../types';
import { careFor } from './care';
import { pieces, scriptFor, tokensOf, type Script } from './replies';
import type { World } from './world';

/** So many of the newest messages never leave the window. */
const KEPT = 10;

/** Writes the replies of the in-memory backend, piece by piece. */
export class FakeChat {
  private readonly stopped = new Set<string>();
  private turn = 0;
  private readonly world: World;
  /** Milliseconds between two pieces; 0 yields once and goes on. */
  private readonly pace: number;

  constructor(world: World, pace: number) {
    this.world = world;
    this.pace = pace;
  }

  async send(request: SendRequest, onEvent: (event: ChatEvent) => void): Promise<void> {
    const card = request.kind === 'regenerate' ? null : careFor(this.world, request.text);
    if (card) onEvent({ kind: 'care', card });
    const user = this.accept(request);
    const conversation = this.world.conversation(user.conversationId);
    const agentId = request.kind === 'new' ? request.agentId : null;
    const context = this.world.context(agentId ?? this.agentOf(request) ?? conversation.contextId);
    const replyId = this.world.id('message');
    this.world.replying.add(conversation.id);
    this.stopped.delete(conversation.id);
    const meter = this.meter(context.id, conversation.id, '');
    onEvent({
      kind: 'started',
      conversation: { ...conversation },
      userMessage: user,
      replyId,
      meter,
    });
    const script = scriptFor(user.content, this.turn);
    this.turn += 1;
    if (/write.*plan/i.test(user.content))
      script.text = await this.world.tools.play(replyId, onEvent);
    const told = await this.stream(script, conversation, onEvent);
    this.world.replying.delete(conversation.id);
    const message = told.text === '' ? null : this.keep(script, told, user, context, replyId);
    onEvent({
      kind: 'ended',
      message,
      error: told.whole ? null : (script.breaksWith?.body ?? null),
    });
  }

  stop(conversationId: string): void {
    this.stopped.add(conversationId);
    this.world.tools.giveUp();
  }

  meter(contextId: string, conversationId: string | null, text: string): TokenMeter {
    const context = this.world.context(contextId);
    const branch =
      conversationId === null ? [] : this.world.branch(this.world.conversation(conversationId));
    const history =
      branch.reduce((sum, message) => sum + tokensOf(message.content), 0) + tokensOf(text);
    const budgetTokens = Math.min(context.maxHistoryTokens, 7_000);
    const [first, messages] = [branch[0], branch.length - KEPT];
    return {
      historyTokens: history,
      budgetTokens,
      requestTokens: history + 320,
      windowTokens: 8_192,
      leftOut: 0,
      warning: history >= budgetTokens * 0.8,
      estimated: false,
      leaving:
        first && messages > 0
          ? { messages, firstId: first.id, beginning: first.content.slice(0, 80) }
          : null,
    };
  }

  /** Commits the user's message, or finds the one to answer again. */
  private accept(request: SendRequest): Message {
    if (request.kind === 'regenerate') return this.answered(request.messageId);
    if (request.text.trim() === '') {
      throw failure(
        'invalid_parameter',
        'text is empty; it must be at least one visible character',
        { field: 'text', value: 'empty', range: 'at least one visible character' },
      );
    }
    if (request.kind === 'edit') {
      const old = this.world.message(request.messageId);
      this.takeTurn(old.conversationId);
      return this.world.store({ ...old, content: request.text });
    }
    const context = this.world.context(request.contextId);
    for (const { id, name, isActive } of [
      context,
      this.world.context(request.agentId ?? context.id),
    ])
      if (!isActive) throw failure('context_expired', `${name} has expired.`, { id, name });
    if (!(context.model ?? this.world.settings.defaultModel))
      throw failure('no_model', 'No model has been chosen yet.');
    const conversation =
      request.conversationId === null
        ? this.world.begin(context.id, request.text)
        : this.world.conversation(request.conversationId);
    this.takeTurn(conversation.id);
    this.world.settings.lastContextId = context.id;
    const { id: conversationId, activeLeafId: parentId } = conversation;
    return this.world.store({
      conversationId,
      contextId: context.id,
      parentId,
      role: 'user',
      content: request.text,
      reasoning: null,
      status: 'complete',
      model: null,
    });
  }

  private takeTurn(conversationId: string): void {
    if (this.world.replying.has(conversationId))
      throw failure('busy', 'A reply is being written.', { conversationId });
  }

  /** Who wrote the reply that is to be written again. */
  private agentOf(request: SendRequest): string | null {
    if (request.kind !== 'regenerate') return null;
    const message = this.world.message(request.messageId);
    return message.role === 'assistant' ? message.contextId : null;
  }

  private answered(messageId: string): Message {
    const message = this.world.message(messageId);
    const user =
      message.role === 'user' || message.parentId === null
        ? message
        : this.world.message(message.parentId);
    this.world.conversation(user.conversationId).activeLeafId = user.id;
    return this.world.shown(user);
  }

  private async stream(
    script: Script,
    conversation: Conversation,
    onEvent: (event: ChatEvent) => void,
  ): Promise<{ text: string; whole: boolean; stopped: boolean }> {
    for (const delta of pieces(script.reasoning ?? '')) {
      await this.pause();
      onEvent({ kind: 'reasoning', delta });
    }
    const parts = pieces(script.text);
    const end = script.breaksWith ? Math.floor(parts.length / 2) : parts.length;
    let text = '';
    for (const delta of parts.slice(0, end)) {
      await this.pause();
      if (this.stopped.has(conversation.id)) return { text, whole: true, stopped: true };
      text += delta;
      onEvent({ kind: 'text', delta });
    }
    return { text, whole: script.breaksWith === null, stopped: false };
  }

  private keep(
    script: Script,
    told: { text: string; whole: boolean; stopped: boolean },
    user: Message,
    context: Context,
    id: string,
  ): Message {
    const ended = script.truncated ? 'truncated' : 'complete';
    const status = told.stopped ? 'stopped' : told.whole ? ended : 'interrupted';
    const model = context.model ?? this.world.settings.defaultModel;
    const { conversationId } = user;
    return this.world.store(
      {
        conversationId,
        contextId: context.id,
        parentId: user.id,
        role: 'assistant',
        content: told.text,
        reasoning: script.reasoning,
        status,
        model,
      },
      id,
    );
  }

  private pause(): Promise<void> {
    return this.pace === 0 ? Promise.resolve() : new Promise((done) => setTimeout(done, this.pace));
  }
}
