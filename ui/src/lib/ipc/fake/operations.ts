import { failure } from '../error';
import type {
  LongOperationStatus,
  Operation,
  OperationBackend,
  OperationMetadata,
} from '../operations';
import type { Open } from './index';
import type { World } from './world';

/** Characters of a result that a list gives. */
const SHOWN = 4_000;

const NOTHING: OperationMetadata = {
  ids: [],
  created: [],
  updated: [],
  deleted: [],
  statusChanges: [],
  counts: [],
  errors: [],
  selected: [],
  deselected: [],
  files: [],
  values: [],
  isCut: false,
};

type Part = Pick<Operation, 'toolName' | 'arguments' | 'result'> &
  Partial<Omit<Operation, 'metadata'>> & { metadata?: Partial<OperationMetadata> };

const DONE: Part[] = [
  {
    toolName: 'write_file',
    query: 'Write down what we packed.',
    arguments: { path: '/home/ada/packing.txt', content: 'Tent\nStove\nTwo blankets' },
    result: 'Successfully wrote to /home/ada/packing.txt',
    metadata: { files: [{ path: '/home/ada/packing.txt', bytes: 24 }] },
    durationMs: 14,
  },
  {
    toolName: 'update_survey_answers',
    source: 'survey',
    query: 'Take rain off the list of worries.',
    arguments: { surveyId: 'sv-7', deselected: [{ id: 'a-2', text: 'Rain' }] },
    result: { surveyId: 'sv-7', updated: true, totalCount: 4 },
    metadata: {
      ids: [{ key: 'surveyId', id: 'sv-7' }],
      updated: ['sv-7'],
      counts: [{ name: 'totalCount', count: 4 }],
      selected: [{ id: 'a-1', text: 'Cold nights' }],
      deselected: [{ id: 'a-2', text: 'Rain' }],
      statusChanges: [{ id: 'sv-7', from: 'draft', to: 'submitted' }],
    },
    durationMs: 230,
  },
  {
    toolName: 'read_file',
    query: 'What did the log say?',
    arguments: { path: '/home/ada/journey.log' },
    result: 'The path was dry and the evening calm. '.repeat(400),
    metadata: { files: [{ path: '/home/ada/journey.log', bytes: 15_600 }] },
    durationMs: 1_840,
  },
  {
    toolName: 'read_file',
    query: 'And the map?',
    arguments: { path: '/home/ada/map.txt' },
    result: 'ENOENT: no such file or directory',
    metadata: { errors: ['ENOENT: no such file or directory'] },
    error: {
      code: 'not_found',
      message: 'The tool failed: ENOENT: no such file or directory',
      details: {},
    },
    durationMs: 6,
  },
];

/** What tools did, in memory. */
export class FakeOperations {
  list: Operation[] = [];
  long: LongOperationStatus = {
    settings: { seconds: 30, notifies: false, webhook: '' },
    failure: null,
  };

  /** A few in a conversation, the newest first. */
  seed(world: World, conversationId: string): void {
    for (const part of DONE) this.add(world, conversationId, part);
  }

  add(world: World, conversationId: string, part: Part): Operation {
    const operation: Operation = {
      id: world.id('operation'),
      conversationId,
      contextId: world.conversation(conversationId).contextId,
      messageId: null,
      at: new Date(Date.now() - (20 - this.list.length) * 60_000).toISOString(),
      query: '',
      source: 'files',
      durationMs: 10,
      error: null,
      ...part,
      metadata: { ...NOTHING, ...part.metadata },
    };
    this.list.unshift(operation);
    world.onChange({ noun: 'operation', id: conversationId });
    return operation;
  }
}

export function operationCalls(world: World, open: Open): OperationBackend {
  const { operations } = world;
  const of = (conversationId: string): Operation[] =>
    operations.list.filter((one) => one.conversationId === conversationId);
  return {
    operationList: ({ conversationId, page, pageSize, toolName }) =>
      open(() => {
        const all = of(conversationId);
        const counts = new Map<string, number>();
        for (const { toolName: name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
        const fitting = all.filter((one) => toolName === null || one.toolName === toolName);
        const shown = fitting.slice((page - 1) * pageSize, page * pageSize);
        return {
          operations: shown.map((one) => ({ ...one, result: shortened(one.result) })),
          shortened: shown.filter((one) => isLong(one.result)).map((one) => one.id),
          totalCount: fitting.length,
          tools: [...counts].sort().map(([name, count]) => ({ name, count })),
        };
      }),
    operationGet: (conversationId, id) =>
      open(() => {
        const found = of(conversationId).find((one) => one.id === id);
        if (!found) throw failure('not_found', `There is no operation ${id}.`, { id });
        return found;
      }),
    operationClear: (conversationId) =>
      open(() => {
        operations.list = operations.list.filter((one) => one.conversationId !== conversationId);
        world.onChange({ noun: 'operation', id: conversationId });
      }),
    operationSave: () => open(() => '/home/ada/operations.jsonl'),
    operationLongStatus: () => open(() => operations.long),
    operationLongSave: (settings) =>
      open(() => {
        if (settings.webhook.startsWith('http://') && !settings.webhook.includes('127.0.0.1'))
          throw failure('provider_address_refused', 'Beyond this machine only https is allowed.');
        operations.long = { settings, failure: null };
        return operations.long;
      }),
    operationTryRule: (rule, result) => open(() => tried(rule.path, result)),
  };
}

const isLong = (result: unknown): result is string =>
  typeof result === 'string' && result.length > SHOWN;

function shortened(result: unknown): unknown {
  return isLong(result) ? `${result.slice(0, SHOWN)}…` : result;
}

/** As much of JSONPath as the tests of the page need: names, one after the other. */
function tried(path: string, result: string): string[] {
  if (!path.startsWith('$'))
    throw failure('invalid_parameter', `${path} is no JSONPath.`, {
      field: 'operations.rules.path',
      value: path,
      range: 'a JSONPath such as $.items[*].id',
    });
  let value: unknown;
  try {
    value = JSON.parse(result);
  } catch {
    throw failure('invalid_parameter', 'The sample is no JSON.', {
      field: 'result',
      sample: 'text',
    });
  }
  for (const name of path.split('.').slice(1))
    value = (value as Record<string, unknown> | undefined)?.[name];
  return value === undefined ? [] : [JSON.stringify(value)];
}
