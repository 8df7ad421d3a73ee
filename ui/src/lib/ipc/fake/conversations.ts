import type { ConversationPlace, ConversationQuery, ExportFormat, LifeBackend } from '../life';
import type { Conversation, ConversationView, Message } from '../types';
import { FakeChat } from './chat';
import type { Open } from './index';
import type { World } from './world';

const PAGE = 50;

/** Pinned ones first, then by activity. */
function order(query: ConversationQuery) {
  const turn = query.oldestFirst ? -1 : 1;
  return (a: ConversationPlace, b: ConversationPlace): number => {
    const pinned = Number(b.isPinned) - Number(a.isPinned);
    return pinned || turn * b.lastActivityAt.localeCompare(a.lastActivityAt);
  };
}

/** What stands after a place, also where the one that stood there has gone. */
function beyond(all: Conversation[], query: ConversationQuery): Conversation[] {
  const { after } = query;
  if (!after) return all;
  const at = all.findIndex((one) => one.id === after.id);
  if (at >= 0) return all.slice(at + 1);
  return all.filter((one) => order(query)(after, one) < 0);
}

/** Which conversations a query means, in its order. */
function listed(world: World, query: ConversationQuery): Conversation[] {
  const part = (query.text ?? '').toLowerCase();
  return world.conversations
    .filter((one) => !world.privates.has(one.id))
    .filter((one) => (one.deletedAt !== null) === (query.onlyDeleted ?? false))
    .filter((one) => !query.contextId || one.contextId === query.contextId)
    .filter((one) => query.onlyDeleted || query.includeArchived || !one.isArchived)
    .filter((one) => !query.tag || one.tags.includes(query.tag))
    .filter((one) => one.title.toLowerCase().includes(part))
    .sort(order(query));
}

/** The last page of a branch, or the one around a message. */
export function viewOf(world: World, id: string, around: string | null = null): ConversationView {
  const conversation = world.conversation(id);
  const branch = world.branch(conversation);
  const place = branch.findIndex((message) => message.id === around);
  const start = Math.max(0, place < 0 ? branch.length - PAGE : place - PAGE / 2);
  return {
    conversation,
    messages: branch.slice(start, start + PAGE),
    hasEarlier: start > 0,
    hasLater: start + PAGE < branch.length,
    meter: new FakeChat(world, 0).meter(conversation.contextId, id, ''),
    isReplying: world.replying.has(id),
    isPrivate: world.privates.has(id),
  };
}

/** Conversations and messages of the in-memory backend. */
export function conversationCalls(world: World, open: Open) {
  const change = (id: string, fields: Partial<Conversation>): Conversation => {
    const conversation = Object.assign(world.conversation(id), fields);
    world.onChange({ noun: 'conversation', id });
    return conversation;
  };
  return {
    conversationList: (query) =>
      open(() => {
        const all = listed(world, query);
        const offset = query.offset ?? 0;
        const items = beyond(all, query).slice(offset, offset + (query.limit ?? 50));
        return { items, totalCount: all.length };
      }),
    conversationRename: (id, title) => open(() => void change(id, { title, titleSource: 'user' })),
    conversationSetPinned: (id, isPinned) => open(() => change(id, { isPinned })),
    conversationSetArchived: (id, isArchived) => open(() => change(id, { isArchived })),
    conversationSetTags: (id, tags) => open(() => change(id, { tags })),
    conversationStatistics: (id) => open(() => statistics(world, id)),
    conversationExport: (id, format) => open(() => exported(world, id, format)),
    conversationSave: (id, format) =>
      open(() => `~/${world.conversation(id).title}.${format === 'json' ? 'json' : 'md'}`),
    ...pageCalls(world, open),
    ...batchCalls(world, open),
    ...privateCalls(world, open),
    ...messageCalls(world, open),
  } satisfies Partial<LifeBackend>;
}

function pageCalls(world: World, open: Open) {
  const branchOf = (messageId: string): Message[] =>
    world.branch(world.conversation(world.message(messageId).conversationId));
  return {
    conversationOpen: (id) => open(() => viewOf(world, id)),
    conversationOpenAt: (messageId) =>
      open(() => {
        const { conversationId } = world.message(messageId);
        if (!branchOf(messageId).some((message) => message.id === messageId)) {
          world.conversation(conversationId).activeLeafId = world.leafBelow(messageId);
        }
        return viewOf(world, conversationId, messageId);
      }),
    conversationEarlier: (messageId, limit) =>
      open(() => {
        const branch = branchOf(messageId);
        const end = branch.findIndex((message) => message.id === messageId);
        const start = Math.max(0, end - limit);
        return { messages: branch.slice(start, end), hasEarlier: start > 0 };
      }),
    messageAfter: (messageId, limit) =>
      open(() => {
        const branch = branchOf(messageId);
        const start = branch.findIndex((message) => message.id === messageId) + 1;
        const messages = branch.slice(start, start + limit);
        return { messages, hasLater: start + limit < branch.length };
      }),
    conversationSelectBranch: (messageId) =>
      open(() => {
        const message = world.message(messageId);
        world.conversation(message.conversationId).activeLeafId = world.leafBelow(messageId);
        return viewOf(world, message.conversationId);
      }),
  } satisfies Partial<LifeBackend>;
}

function batchCalls(world: World, open: Open) {
  const trash = (gone: Conversation[]): string[] => {
    for (const one of gone) one.deletedAt = new Date().toISOString();
    world.onChange({ noun: 'conversation', id: '' });
    return gone.map((one) => one.id);
  };
  const alive = (): Conversation[] => world.conversations.filter((one) => one.deletedAt === null);
  return {
    conversationDelete: (ids) => open(() => trash(alive().filter((one) => ids.includes(one.id)))),
    conversationDeleteOlder: (contextId, before) =>
      open(() => {
        const old = alive().filter((one) => !one.isPinned && one.lastActivityAt < before);
        return trash(old.filter((one) => contextId === null || one.contextId === contextId));
      }),
    conversationClear: (contextId) =>
      open(() => trash(alive().filter((one) => one.contextId === contextId))),
    conversationRestore: (ids) =>
      open(() => {
        for (const id of ids) world.conversation(id).deletedAt = null;
        world.onChange({ noun: 'conversation', id: '' });
        return ids;
      }),
    conversationPurge: (ids) =>
      open(() => {
        for (const id of ids)
          world.conversations.splice(world.conversations.indexOf(world.conversation(id)), 1);
        world.onChange({ noun: 'conversation', id: '' });
        return ids;
      }),
  } satisfies Partial<LifeBackend>;
}

function privateCalls(world: World, open: Open) {
  return {
    privateBegin: (contextId, title) =>
      open(() => {
        const conversation = world.begin(contextId, title);
        world.privates.add(conversation.id);
        world.onChange({ noun: 'conversation', id: conversation.id });
        return conversation;
      }),
    privateList: (contextId) =>
      open(() =>
        world.conversations
          .filter((one) => world.privates.has(one.id) && one.contextId === contextId)
          .sort((a, b) => b.lastActivityAt.localeCompare(a.lastActivityAt)),
      ),
    privateEnd: (id) =>
      open(() => {
        world.conversations.splice(world.conversations.indexOf(world.conversation(id)), 1);
        world.privates.delete(id);
        world.onChange({ noun: 'conversation', id });
      }),
  } satisfies Partial<LifeBackend>;
}

function messageCalls(world: World, open: Open) {
  const told = ({ id, conversationId }: Message): void => {
    world.onChange({ noun: 'message', id });
    world.onChange({ noun: 'conversation', id: conversationId });
  };
  return {
    messageDelete: (id) =>
      open(() => {
        const message = world.message(id);
        const children = world.messages.filter((one) => one.parentId === id);
        world.deleted.push({ message, childIds: children.map((one) => one.id) });
        for (const child of children) child.parentId = message.parentId;
        world.messages.splice(world.messages.indexOf(message), 1);
        const conversation = world.conversation(message.conversationId);
        if (conversation.activeLeafId === id) conversation.activeLeafId = message.parentId;
        conversation.messageCount -= 1;
        told(message);
        return viewOf(world, conversation.id);
      }),
    messageRestore: (id) =>
      open(() => {
        const place = world.deleted.findIndex((one) => one.message.id === id);
        const [kept] = world.deleted.splice(place, 1);
        if (!kept) return viewOf(world, world.message(id).conversationId);
        const { message, childIds } = kept;
        world.messages.push(message);
        for (const childId of childIds) world.message(childId).parentId = id;
        const conversation = world.conversation(message.conversationId);
        if (childIds.length === 0) conversation.activeLeafId = id;
        conversation.messageCount += 1;
        told(message);
        return viewOf(world, conversation.id);
      }),
    messageVote: (id, vote) =>
      open(() => {
        const message = world.message(id);
        const preset = world.presets.find(
          (one) => one.id === world.context(message.contextId).presetId,
        );
        const count = (which: typeof vote, by: number): void => {
          if (preset && which === 'up') preset.thumbsUp += by;
          if (preset && which === 'down') preset.thumbsDown += by;
        };
        count(message.vote, -1);
        count(vote, 1);
        message.vote = vote;
        world.onChange({ noun: 'message', id });
        return world.shown(message);
      }),
  } satisfies Partial<LifeBackend>;
}

function statistics(world: World, id: string) {
  const all = world.messages.filter((message) => message.conversationId === id);
  const replies = all.filter((message) => message.role === 'assistant');
  const agents = [...new Set(replies.map((message) => message.contextId))].map((contextId) => ({
    contextId,
    name: world.context(contextId).name,
    messages: replies.filter((message) => message.contextId === contextId).length,
  }));
  const startedAt = all[0]?.createdAt ?? null;
  const lastActivityAt = all.at(-1)?.createdAt ?? null;
  const tokens = all.reduce((sum, message) => sum + (message.tokenCount?.tokens ?? 0), 0);
  return {
    messages: all.length,
    userMessages: all.length - replies.length,
    assistantMessages: replies.length,
    startedAt,
    lastActivityAt,
    durationMs: Date.parse(lastActivityAt ?? '0') - Date.parse(startedAt ?? '0') || 0,
    agents: agents.sort((a, b) => b.messages - a.messages),
    tokens,
    promptTokens: tokens * 6,
    completionTokens: Math.round(tokens * 0.7),
  };
}

function exported(world: World, id: string, format: ExportFormat): string {
  const conversation = world.conversation(id);
  const messages = world.branch(conversation);
  if (format === 'json') return JSON.stringify({ conversation, messages }, null, 2);
  const said = messages.map((message) => {
    const who = message.role === 'user' ? 'You' : world.context(message.contextId).name;
    return format === 'text' ? `${who}:\n${message.content}` : `**${who}**\n\n${message.content}`;
  });
  if (format === 'text') return `${conversation.title}\n\n${said.join('\n\n')}\n`;
  return `# ${conversation.title}\n\n${said.join('\n\n---\n\n')}\n`;
}
