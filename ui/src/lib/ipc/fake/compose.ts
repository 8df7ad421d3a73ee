import type {
  Context,
  Message,
  Origin,
  Preview,
  ReceiptBlock,
  Role,
  SendRequest,
  StrategyChoice,
  StrategyUsed,
} from '../types';
import { tokensOf } from './replies';
import type { World } from './world';

/** A block with its text. */
interface Part extends ReceiptBlock {
  words: string;
}

/** A request as the in-memory backend would put it together. */
export interface Composed extends Preview {
  context: Context;
}

const FRAMING = 4;
const WINDOW = 8_192;

function part(kind: Part['kind'], origin: Origin, role: Role, words: string): Part {
  const tokens = tokensOf(words) + FRAMING;
  return { kind, origin, role, tokens, included: true, reason: null, text: null, words };
}

/** Leaves the oldest out, as the chosen strategy has it. */
function history(branch: Message[], choice: StrategyChoice): Part[] {
  const kept: Record<string, number> = {
    'std-full-strategy': branch.length,
    'std-extraction-strategy': Number(choice.config.lastN ?? 0),
    'std-summarization-strategy': 10,
  };
  const count = kept[choice.pluginId] ?? 24;
  const cut = Math.max(0, branch.length - count);
  const parts = branch
    .slice(cut)
    .map((one) => part('history', { from: 'message', id: one.id }, one.role, one.content));
  if (cut === 0) return parts;
  const gone = branch.slice(0, cut).reduce((sum, one) => sum + tokensOf(one.content) + FRAMING, 0);
  const earlier = part('history', { from: 'earlier', messages: cut }, 'user', '');
  const reason = 'older than the window, which keeps 60 per cent of 7,000 tokens';
  return [{ ...earlier, tokens: gone, included: false, reason }, ...parts];
}

function memory(world: World, branch: Message[], choice: StrategyChoice): Part[] {
  const first = branch[0];
  const conversationId = first?.conversationId ?? '';
  if (choice.pluginId === 'std-extraction-strategy') {
    const text = JSON.stringify({ destination: 'Lisbon', travellers: 2, date: null });
    return [{ ...part('memory', { from: 'state' }, 'system', text), text }];
  }
  const summary = world.memory.summaries.find((one) => one.conversationId === conversationId);
  if (choice.pluginId !== 'std-summarization-strategy' || !summary) return [];
  return [part('memory', { from: 'summary', id: summary.id }, 'system', summary.text)];
}

/** What is new at every turn. */
function trailing(context: Context, branch: Message[], turn: number): Part[] {
  const parts: Part[] = [];
  const { recall, goals, anchorFromTurn } = context.memory;
  const old = branch[2];
  if (recall.on && old)
    parts.push(
      part('trailing', { from: 'recalled', id: old.id }, 'user', `[12 May] ${old.content}`),
    );
  if (goals.length > 0) {
    const text = `Goals of the user:\n${goals.map((goal) => `- ${goal}`).join('\n')}`;
    parts.push({ ...part('trailing', { from: 'goals' }, 'system', text), text });
  }
  const clock = 'It is 2026-05-12 10:30 UTC; the user’s zone is Europe/Berlin.';
  parts.push({ ...part('trailing', { from: 'clock' }, 'system', clock), text: clock });
  const anchor = `${context.name} stays calm and plain-spoken and keeps a view of its own.`;
  if (context.maintainPersonality && turn >= anchorFromTurn)
    parts.push(part('trailing', { from: 'anchor', id: context.revisionId }, 'system', anchor));
  return parts;
}

function used(world: World, choice: StrategyChoice): StrategyUsed {
  const plugin = world.memory.plugins.find((one) => one.id === choice.pluginId);
  if (!plugin?.error)
    return { id: choice.pluginId, version: plugin?.version ?? '1', insteadOf: null };
  const insteadOf = `${choice.pluginId}: ${plugin.error}`;
  return { id: 'std-sliding-window-strategy', version: '1', insteadOf };
}

/** Puts a request together from the messages before it. */
export function compose(
  world: World,
  context: Context,
  branch: Message[],
  userText: { text: string; origin: Origin },
  wanted: StrategyChoice,
): Composed {
  const strategy = used(world, wanted);
  const choice = { ...wanted, pluginId: strategy.id };
  const model = context.model ??
    world.settings.defaultModel ?? { providerId: 'engine', model: 'none' };
  const persona = `${context.systemPrompt}\n\n${context.personality}`;
  const parts = [
    part('system', { from: 'revision', id: context.revisionId }, 'system', persona),
    ...memory(world, branch, choice),
    ...history(branch, choice),
    part('user', userText.origin, 'user', userText.text),
    ...trailing(context, branch, Math.floor(branch.length / 2) + 1),
  ];
  const sent = parts.filter((one) => one.included);
  const tokens = (of: Part[]): number => of.reduce((sum, one) => sum + one.tokens, 0);
  const request = tokens(sent);
  const past = tokens(sent.filter((one) => one.kind === 'history'));
  const leftOut = parts.find((one) => one.origin.from === 'earlier')?.origin;
  const messages = sent.map(({ role, words }) => ({ role, content: words }));
  const { temperature, maxTokens } = context;
  return {
    context,
    strategy,
    blocks: parts.map(({ words: _, ...block }) => block),
    texts: parts.map((one) => one.words),
    meter: {
      historyTokens: past,
      budgetTokens: Math.min(context.maxHistoryTokens, 7_000),
      requestTokens: request,
      windowTokens: WINDOW,
      leftOut: leftOut?.from === 'earlier' ? leftOut.messages : 0,
      warning: false,
      estimated: false,
      leaving: null,
    },
    model,
    providerName: world.providers.find((one) => one.id === model.providerId)?.name ?? '',
    body: JSON.stringify({
      ...{ model: model.model, messages, temperature, max_tokens: maxTokens },
      ...{ stream: true, stream_options: { include_usage: true } },
    }),
  };
}

/** What is asked by a request to send, with the branch it goes on from. */
export function composeFor(
  world: World,
  request: SendRequest,
  choice: StrategyChoice | null = null,
): Composed {
  if (request.kind === 'new') {
    const { conversationId, contextId, agentId, text } = request;
    const context = world.context(agentId ?? contextId);
    const branch = conversationId === null ? [] : world.branch(world.conversation(conversationId));
    const said = { text, origin: { from: 'userText' } as const };
    return compose(world, context, branch, said, choice ?? context.strategy);
  }
  const message = world.message(request.messageId);
  const user =
    message.role === 'assistant' && message.parentId ? world.message(message.parentId) : message;
  const context = world.context(message.contextId);
  const text = request.kind === 'edit' ? request.text : user.content;
  const said = { text, origin: { from: 'message', id: user.id } as const };
  return compose(world, context, before(world, user), said, choice ?? context.strategy);
}

/** The messages that a message follows, oldest first. */
export function before(world: World, message: Message): Message[] {
  const path: Message[] = [];
  let id = message.parentId;
  while (id !== null) {
    const one = world.message(id);
    path.unshift(one);
    id = one.parentId;
  }
  return path;
}
