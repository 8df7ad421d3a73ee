import type {
  Change,
  Context,
  Conversation,
  Message,
  ModelInfo,
  Preset,
  Provider,
  Settings,
} from '../types';
import { failure } from '../error';
import type { RevisionUse } from '../life';
import { FakeConnections } from './connections';
import { FakeTools } from './tools';
import { FakeDiagnosis } from './diagnosis';
import { FakeMemory } from './memory';
import { SMALL } from './models';
import { FakeOperations } from './operations';
import { at, contextOf, expiry, presets, providers, settings } from './seed';

/** Everything the in-memory backend remembers. */
export class World {
  readonly presets: Preset[] = presets();
  readonly providers: Provider[] = providers();
  readonly contexts: Context[] = [];
  readonly conversations: Conversation[] = [];
  readonly messages: Message[] = [];
  /** Messages whose deletion can be undone, with those that followed them. */
  readonly deleted: { message: Message; childIds: string[] }[] = [];
  /** The wordings of each context, oldest first. */
  readonly revisions = new Map<string, RevisionUse[]>();
  /** The conversations that are never written to disk. */
  readonly privates = new Set<string>();
  /** When what lies in the trash was shown there first, by id. */
  readonly shownInTrash = new Map<string, string>();
  /** What is too much to leave the trash by itself. */
  readonly waiting = new Set<string>();
  /** Texts in composers, by key. */
  readonly drafts = new Map<string, string>();
  /** The conversations in which a reply is being written. */
  readonly replying = new Set<string>();
  settings: Settings = settings();
  /** Summaries, values and plug-ins. */
  readonly memory = new FakeMemory();
  /** Other programs that have used the companions. */
  readonly connections = new FakeConnections();
  readonly tools = new FakeTools();
  readonly diagnosis = new FakeDiagnosis();
  /** What tools did. */
  readonly operations = new FakeOperations();
  engineModels: ModelInfo[] = [SMALL];
  /** Where the files behind added models are, by name. */
  readonly modelPaths = new Map<string, string>();
  /** The conversation that quick chat handed over. */
  moved: string | null = null;
  onChange: (change: Change) => void = () => undefined;
  private count = 0;
  private minute = 0;

  /** A fresh id of the given noun. */
  id(noun: string): string {
    this.count += 1;
    return `${noun}-${this.count}`;
  }

  /** The time of the next event; every call is a minute later. */
  now(): string {
    this.minute += 1;
    return at(this.minute);
  }

  context(id: string): Context {
    const found = this.contexts.find((context) => context.id === id);
    if (!found) throw failure('not_found', `There is no context ${id}.`, { noun: 'context', id });
    return found;
  }

  conversation(id: string): Conversation {
    const found = this.conversations.find((conversation) => conversation.id === id);
    if (!found)
      throw failure('not_found', `There is no conversation ${id}.`, { noun: 'conversation', id });
    return found;
  }

  preset(id: string): Preset {
    const found = this.presets.find((preset) => preset.id === id);
    if (!found) throw failure('not_found', `There is no preset ${id}.`, { noun: 'preset', id });
    return found;
  }

  message(id: string): Message {
    const found = this.messages.find((message) => message.id === id);
    if (!found) throw failure('not_found', `There is no message ${id}.`, { noun: 'message', id });
    return found;
  }

  /** Stores a message and makes its branch the active one. */
  store(
    message: Omit<
      Message,
      | 'id'
      | 'createdAt'
      | 'siblingIds'
      | 'tokenCount'
      | 'revisionId'
      | 'usage'
      | 'vote'
      | 'citations'
      | 'source'
    >,
    id = this.id('message'),
  ): Message {
    const stored: Message = {
      ...message,
      id,
      createdAt: this.now(),
      siblingIds: [],
      tokenCount: { tokens: Math.ceil(message.content.length / 4), tokenizer: 'o200k' },
      revisionId: message.role === 'assistant' ? this.context(message.contextId).revisionId : null,
      usage: null,
      vote: null,
      citations: [],
      source: null,
    };
    this.messages.push(stored);
    this.touch(this.context(message.contextId), stored.createdAt);
    const conversation = this.conversation(stored.conversationId);
    conversation.activeLeafId = stored.id;
    conversation.messageCount += 1;
    conversation.lastActivityAt = stored.createdAt;
    this.onChange({ noun: 'message', id: stored.id });
    this.onChange({ noun: 'conversation', id: conversation.id });
    this.onChange({ noun: 'context', id: message.contextId });
    return this.shown(stored);
  }

  /** A context and its first wording. */
  join(context: Context): Context {
    this.contexts.push(context);
    this.reword(context);
    return context;
  }

  /** Keeps the wording of a context's persona, if it is a new one. */
  reword(context: Context): void {
    const { name, systemPrompt, personality, anchor } = context;
    const uses = this.revisions.get(context.id) ?? [];
    const text = JSON.stringify([name, systemPrompt, personality, anchor]);
    const known = uses.find(({ revision: one }) => {
      return JSON.stringify([one.name, one.systemPrompt, one.personality, one.anchor]) === text;
    });
    const createdAt = this.now();
    const fresh = { id: this.id('revision'), name, systemPrompt, personality, anchor, createdAt };
    const revision = known?.revision ?? fresh;
    if (!known) uses.push({ revision, usedAt: createdAt, messageCount: 0 });
    this.revisions.set(context.id, uses);
    context.revisionId = revision.id;
  }

  /** A lifetime begins anew. */
  touch(context: Context, time: string): void {
    context.lastInteractionAt = time;
    context.expiresAt = expiry(context.expiryDays);
  }

  /** A copy of a message with its siblings filled in. */
  shown(message: Message): Message {
    const siblings = this.messages.filter(
      (other) =>
        other.conversationId === message.conversationId && other.parentId === message.parentId,
    );
    return { ...message, siblingIds: siblings.map((sibling) => sibling.id) };
  }

  /** The active branch of a conversation, oldest first. */
  branch(conversation: Conversation): Message[] {
    const path: Message[] = [];
    let id = conversation.activeLeafId;
    while (id !== null) {
      const message = this.message(id);
      path.unshift(this.shown(message));
      id = message.parentId;
    }
    return path;
  }

  /** The newest leaf below a message. */
  leafBelow(id: string): string {
    const child = this.messages.filter((message) => message.parentId === id).at(-1);
    return child ? this.leafBelow(child.id) : id;
  }

  begin(contextId: string, title: string): Conversation {
    const time = this.now();
    const conversation: Conversation = {
      id: this.id('conversation'),
      contextId,
      title: title.slice(0, 80),
      activeLeafId: null,
      messageCount: 0,
      createdAt: time,
      lastActivityAt: time,
      titleSource: 'beginning',
      isPinned: false,
      isArchived: false,
      tags: [],
      deletedAt: null,
    };
    this.conversations.push(conversation);
    return conversation;
  }

  /** Nothing is left, as before there was a vault. */
  erase(): void {
    this.contexts.length = 0;
    this.conversations.length = 0;
    this.messages.length = 0;
    this.deleted.length = 0;
    this.revisions.clear();
    this.drafts.clear();
    this.settings = settings();
  }

  /** Two companions and a few conversations, as after a week of use. */
  seedDemo(): void {
    this.settings.aiNoticeAccepted = true;
    this.settings.defaultModel = { providerId: 'engine', model: SMALL.name };
    for (const [index, preset] of this.presets.slice(0, 2).entries()) {
      this.join(contextOf(preset, `context-${preset.id}`, index));
    }
    this.connections.seed(this);
    this.tools.seed();
    this.diagnosis.seed(this);
    const first = this.contexts[0];
    if (!first) return;
    this.settings.lastContextId = first.id;
    for (const title of [
      'The team meeting yesterday',
      'Sleeping badly before deadlines',
      'A letter to my landlord',
    ]) {
      this.talk(first.id, title, 3);
    }
    this.talk(first.id, 'Ninety small steps', 90);
  }

  /** A conversation of so many questions and answers. */
  talk(contextId: string, title: string, turns: number): Conversation {
    const conversation = this.begin(contextId, title);
    const base = {
      conversationId: conversation.id,
      contextId,
      reasoning: null,
      status: 'complete' as const,
      model: null,
    };
    let parentId: string | null = null;
    for (let turn = 1; turn <= turns; turn += 1) {
      const content =
        turn === 1 ? `${title}: I keep thinking about it.` : `And then, number ${turn}?`;
      const user = this.store({ ...base, role: 'user', content, parentId });
      const reply = `That is worth a calm look. Let us take it **one piece at a time** (${turn}).`;
      const model = this.settings.defaultModel;
      parentId = this.store({
        ...base,
        role: 'assistant',
        content: reply,
        parentId: user.id,
        model,
      }).id;
    }
    return conversation;
  }
}
