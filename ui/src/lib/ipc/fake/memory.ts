import { errorBody, failure } from '../error';
import type { MemoryBackend } from '../memory';
import type { Plugin, Receipt, RoundMessage, StateValue, StrategyChoice, Summary } from '../types';
import { composeFor } from './compose';
import type { Open } from './index';
import type { World } from './world';

/** What the in-memory backend remembers beside messages. */
export class FakeMemory {
  summaries: Summary[] = [];
  values: StateValue[] = [];
  plugins: Plugin[] = [];
  /** Messages whose text is forgotten: requests that held them cannot be put together again. */
  readonly forgotten = new Set<string>();
  /** Replies from before there were receipts. */
  readonly unrecorded = new Set<string>();
  /** What the user chooses in the dialog for a plug-in; `null` = closes it. */
  folder: string | null = '/home/ada/Downloads/newest-and-first';
}

const PLUGINS: Plugin[] = [
  {
    id: 'newest-and-first',
    name: 'Newest and first',
    version: '1.2.0',
    description: 'Sends the first exchange of a conversation and as many of the newest as fit.',
    error: null,
  },
  {
    id: 'topic-clusters',
    name: 'Topic clusters',
    version: '0.3.1',
    description: 'Groups messages by topic and sends the groups that the question is about.',
    error: {
      code: 'invalid_parameter',
      message:
        'the plug-in topic-clusters was made for version 2 of the plug-in interface (plugin.json), this app has version 1; look for a fitting version',
      details: {},
    },
  },
];

/** A long conversation with summaries and values. */
export function seedMemory(world: World): void {
  const { memory } = world;
  memory.plugins = structuredClone(PLUGINS);
  const talk = world.conversations.find((one) => one.title === 'Ninety small steps');
  if (!talk) return;
  const branch = world.branch(talk);
  const { id: conversationId, contextId } = talk;
  const ids = (from: number, to: number): string[] => branch.slice(from, to).map(({ id }) => id);
  const summary = (id: string, upTo: number, text: string, rest: Partial<Summary>): Summary => {
    const messageIds = ids(0, upTo);
    const tokens = { tokens: Math.ceil(text.length / 4), tokenizer: 'o200k' };
    const model = { providerId: 'engine', model: world.settings.defaultModel?.model ?? '' };
    return {
      ...{ id, conversationId, upToId: messageIds.at(-1) ?? '', messageIds, text, tokens, model },
      ...{ round: 1, createdAt: branch[upTo]?.createdAt ?? talk.createdAt },
      ...{ isEdited: false, isStale: false, ...rest },
    };
  };
  memory.summaries = [
    summary('summary-2', 120, SUMMARY, { round: 4 }),
    summary('summary-1', 60, 'Facts about the user: works in a small team [1].', { isStale: true }),
  ];
  const value = (name: string, json: unknown, at: number, rest: Partial<StateValue> = {}): void => {
    const said = branch[at];
    if (!said) return;
    memory.values.push({
      ...{ id: `value-${memory.values.length}`, contextId, conversationId, name },
      ...{ value: JSON.stringify(json), evidenceId: said.id, validFrom: said.createdAt },
      ...{ validTo: null, isPinned: false, isEdited: false, source: 'extraction', ...rest },
    });
  };
  value('preferredName', 'Ada', 4, { isPinned: true });
  value('deadline', '2026-05-20', 10, { validTo: branch[60]?.createdAt ?? null });
  value('deadline', '2026-06-01', 60);
  value('sleepsWell', false, 32);
  value('peopleInTheTeam', ['Mira', 'Jonas', 'Yusuf'], 44, { isEdited: true });
}

const SUMMARY = `Facts about the user
- Works in a small team and is preparing a release [3, 17]
- Sleeps badly before deadlines [41]

Open threads
- Whether to ask Mira for help with the report [88]

Commitments
- To look at one step at a time [12]

Tone
- The user was tense at first and calmer later; answers stay short and matter-of-fact`;

/** Receipts, previews, memory and plug-ins of the in-memory backend. */
export function memoryCalls(world: World, open: Open): MemoryBackend {
  return {
    ...receiptCalls(world, open),
    ...ledgerCalls(world, open),
    ...pluginCalls(world, open),
  };
}

/** A number that looks like a hash and is the same for the same text. */
function hash(text: string): string {
  let seed = 2_166_136_261;
  for (const letter of text) seed = Math.imul(seed ^ letter.charCodeAt(0), 16_777_619) >>> 0;
  return Array.from({ length: 8 }, (_, place) =>
    (Math.imul(seed + place, 2_654_435_761) >>> 0).toString(16).padStart(8, '0'),
  ).join('');
}

function receiptOf(world: World, messageId: string): Receipt | null {
  const reply = world.message(messageId);
  if (reply.role !== 'assistant' || world.memory.unrecorded.has(messageId)) return null;
  const made = composeFor(world, { kind: 'regenerate', messageId });
  const { blocks, meter, model, providerName, strategy, context, body } = made;
  const provider = world.providers.find((one) => one.id === model.providerId);
  return {
    version: 1,
    replyId: reply.id,
    userMessageId: reply.parentId ?? '',
    createdAt: reply.createdAt,
    revisionId: reply.revisionId ?? context.revisionId,
    speaker: context.name,
    ...{ model, providerName, providerKind: provider?.kind ?? 'engine' },
    temperature: context.temperature,
    maxTokens: context.maxTokens,
    strategy,
    form: 'messages',
    ...{ blocks, meter },
    requestHash: hash(body),
    requestBytes: new TextEncoder().encode(body).length,
    usage: {
      promptTokens: meter.requestTokens + 6,
      completionTokens: Math.ceil(reply.content.length / 4),
      cachedTokens: Math.round(meter.requestTokens * 0.94),
    },
    rounds: world.tools.rounds.get(reply.id) ?? [],
  };
}

/** A request with what a further round has added. */
function continued(body: string, added: RoundMessage[]): string {
  const request = JSON.parse(body) as { messages: unknown[] };
  return JSON.stringify({ ...request, messages: [...request.messages, ...added] });
}

function receiptCalls(world: World, open: Open) {
  const outcome = (request: Parameters<typeof composeFor>[1], strategy: StrategyChoice) => {
    const plugin = world.memory.plugins.find((one) => one.id === strategy.pluginId);
    try {
      if (plugin?.id === 'newest-and-first')
        throw failure('internal', 'the plug-in newest-and-first was stopped after 500 ms');
      const { context: _, ...preview } = composeFor(world, request, strategy);
      return { strategy, preview, error: null };
    } catch (thrown) {
      return { strategy, preview: null, error: errorBody(thrown) };
    }
  };
  return {
    receiptGet: (messageId) => open(() => receiptOf(world, messageId)),
    receiptRequest: (messageId) =>
      open(() => {
        const { blocks, texts, body, model } = composeFor(world, { kind: 'regenerate', messageId });
        const lost = ({ origin }: (typeof blocks)[number]): boolean =>
          'id' in origin && world.memory.forgotten.has(origin.id);
        const missing = blocks.filter(lost);
        const provider = world.providers.find((one) => one.id === model.providerId);
        const address = `${provider?.baseUrl || 'http://127.0.0.1:8080'}/chat/completions`;
        const curl = `curl ${address} \\\n  -H 'Content-Type: application/json' \\\n  -H "Authorization: Bearer $API_KEY" \\\n  -d '${body.replaceAll("'", `'\\''`)}'`;
        return {
          ...{ body, curl, address, missing, matches: missing.length === 0 },
          rounds: (world.tools.rounds.get(messageId) ?? []).map(({ messages }) => ({
            ...{ body: continued(body, messages), curl, matches: missing.length === 0 },
          })),
          texts: texts.map((text, place) => {
            const block = blocks[place];
            return block && lost(block) ? '' : text;
          }),
        };
      }),
    chatPreview: (request) =>
      open(() => {
        const { context: _, ...preview } = composeFor(world, request);
        return preview;
      }),
    chatCompare: (request, strategies) =>
      open(() => strategies.map((strategy) => outcome(request, strategy))),
  } satisfies Partial<MemoryBackend>;
}

function ledgerCalls(world: World, open: Open) {
  const { memory } = world;
  const told = (id: string): void => world.onChange({ noun: 'conversation', id });
  const value = (id: string): StateValue => {
    const found = memory.values.find((one) => one.id === id);
    if (!found) throw failure('not_found', `There is no value ${id}.`, { noun: 'state', id });
    return found;
  };
  return {
    summaryList: (id) => open(() => memory.summaries.filter((one) => one.conversationId === id)),
    summaryEdit: (id, text) =>
      open(() => {
        if (text.trim() === '')
          throw failure('invalid_parameter', 'text is empty', {
            field: 'text',
            range: '1 or more',
          });
        const summary = memory.summaries.find((one) => one.id === id);
        if (summary) Object.assign(summary, { text, isEdited: true, isStale: false });
      }),
    summaryRemove: (id) =>
      open(() => void (memory.summaries = memory.summaries.filter((one) => one.id !== id))),
    stateGet: (id, past) =>
      open(() =>
        memory.values.filter((one) => one.conversationId === id && (past || one.validTo === null)),
      ),
    stateSet: (conversationId, name, json) =>
      open(() => {
        const now = world.now();
        const same = memory.values.filter((one) => one.conversationId === conversationId);
        const old = same.find((one) => one.name === name && one.validTo === null);
        if (old) old.validTo = now;
        const { contextId } = world.conversation(conversationId);
        const made = { id: world.id('value'), contextId, conversationId, name, value: json };
        const rest = { evidenceId: null, validFrom: now, validTo: null, isEdited: true };
        memory.values.push({ ...made, ...rest, isPinned: old?.isPinned ?? false, source: 'user' });
        told(conversationId);
      }),
    statePin: (id, isPinned) => open(() => void (value(id).isPinned = isPinned)),
    stateForget: (id) =>
      open(() => {
        const { name, conversationId } = value(id);
        memory.values = memory.values.filter(
          (one) => one.name !== name || one.conversationId !== conversationId,
        );
      }),
  } satisfies Partial<MemoryBackend>;
}

function pluginCalls(world: World, open: Open) {
  const { memory } = world;
  return {
    pluginList: () => open(() => memory.plugins),
    pluginPick: () => open(() => memory.folder),
    pluginInstall: (path, replace) =>
      open(() => {
        const id = path.split('/').at(-1) ?? '';
        const installed = memory.plugins.find((one) => one.id === id);
        const version = installed ? '1.3.0' : '1.0.0';
        if (installed && !replace)
          throw failure('invalid_parameter', `the plug-in ${id} is installed already`, {
            ...{ field: 'replace', value: 'false', range: 'true' },
            ...{ installed: installed.version, offered: version },
          });
        if (!/^[a-z0-9-]{3,64}$/.test(id))
          throw failure('invalid_parameter', `the plug-in ${id} has no usable id`, {
            ...{ field: 'plugin', value: id, range: 'a folder with plugin.json and a .wasm file' },
          });
        const fresh = { id, name: id, version, description: '', error: null };
        if (installed) Object.assign(installed, { version, error: null });
        else memory.plugins.push(fresh);
      }),
    pluginRemove: (id) =>
      open(() => void (memory.plugins = memory.plugins.filter((one) => one.id !== id))),
  } satisfies Partial<MemoryBackend>;
}
