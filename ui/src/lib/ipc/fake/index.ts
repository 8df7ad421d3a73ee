import type { Backend } from '../backend';
import { failure } from '../error';
import type {
  ContextExpiring,
  ErrorCode,
  ModelInfo,
  ModelOffer,
  ShellEvents,
  VaultPhase,
} from '../types';
import type { Call } from '../quick';
import { archiveCalls } from './archive';
import { careCalls } from './care';
import { FakeChat } from './chat';
import { connectionCalls } from './connections';
import { diagnosisCalls } from './diagnosis';
import { contextCalls } from './contexts';
import { conversationCalls } from './conversations';
import { seedLife } from './demo';
import { playElsewhere } from './elsewhere';
import { healthCalls } from './health';
import { keyCalls, type FakeKeys } from './keys';
import { memoryCalls } from './memory';
import { modelCalls, SMALL } from './models';
import { narrowed } from './narrow';
import { operationCalls } from './operations';
import { presetCalls } from './presets';
import { searchCalls } from './search';
import { toolCalls } from './tools';
import { trashCalls } from './trash';
import { checkLimits, FakeUpkeep, upkeepCalls, type FakeBackups } from './upkeep';
import { FakeVault } from './vault';
import { World } from './world';

/** How the in-memory backend begins. */
export interface FakeOptions {
  vault?: VaultPhase;
  demo?: boolean;
  /** On top of the demo: companions and conversations in every state of their life. */
  life?: boolean;
  keychain?: boolean;
  /** What the user chooses in the dialog for the recovery code; empty = closes it. */
  place?: string;
  /** The folder of data whose drive is not connected; empty = the data is here. */
  away?: string;
  /** Milliseconds between two pieces of a reply. */
  pace?: number;
  backups?: FakeBackups;
}

/** A model that is served here, as far as nothing else is said. */
const SERVED: ModelInfo = {
  ...SMALL,
  name: 'example-model',
  window: null,
  sizeBytes: null,
  forTryingOut: false,
};

const MODELS: Record<string, ModelInfo[]> = {
  'provider-ollama': [
    { ...SERVED, name: 'qwen3:8b', window: 32_768, sizeBytes: 5_200_000_000 },
    { ...SERVED, name: 'gpt-oss:120b-cloud', window: 131_072, locality: 'remote' },
    { ...SERVED, name: 'nomic-embed-text', embedding: true },
  ],
  'provider-cloud': [{ ...SERVED, name: 'gpt-5-mini', window: 400_000, locality: 'remote' }],
};

const OFFER: ModelOffer = {
  kind: 'cloud',
  name: '',
  model: null,
  choice: null,
  server: null,
  recommendation: null,
  forTryingOut: false,
  fits: true,
};

const OFFERS: ModelOffer[] = [
  {
    ...OFFER,
    kind: 'localServer',
    name: 'Ollama',
    server: {
      kind: 'ollama',
      name: 'Ollama',
      baseUrl: 'http://127.0.0.1:11434',
      models: [
        { ...SERVED, name: 'nomic-embed-text', sizeBytes: 270_000_000, embedding: true },
        { ...SERVED, name: 'qwen3:8b', sizeBytes: 5_200_000_000 },
      ],
    },
  },
  {
    ...OFFER,
    kind: 'localServer',
    name: 'LM Studio',
    server: {
      kind: 'openai-compatible',
      name: 'LM Studio',
      baseUrl: 'http://127.0.0.1:1234/v1',
      models: [],
    },
  },
  {
    ...OFFER,
    kind: 'recommended',
    recommendation: {
      fromBillions: 3,
      toBillions: 4,
      needsGigabytes: 4,
      freeGigabytes: 9,
      tokensPerSecond: 4,
    },
  },
  {
    ...OFFER,
    kind: 'builtIn',
    name: 'SmolLM2 135M',
    model: SMALL,
    choice: { providerId: 'engine', model: SMALL.name },
    forTryingOut: true,
  },
  OFFER,
];

type Handlers = { [N in keyof ShellEvents]: Set<(payload: ShellEvents[N]) => void> };

function noHandlers(): Handlers {
  return {
    change: new Set(),
    navigate: new Set(),
    engine: new Set(),
    contextExpiring: new Set(),
  };
}

/** A backend in memory, as lively as the real one; `emit` plays the shell. */
export function fakeBackend(options: FakeOptions = {}): Backend & {
  world: World;
  vault: FakeVault;
  upkeep: FakeUpkeep;
  keys: FakeKeys;
  emit<N extends keyof ShellEvents>(name: N, payload: ShellEvents[N]): void;
} {
  const world = new World();
  if (options.demo ?? options.life ?? false) world.seedDemo();
  if (options.life ?? false) seedLife(world);
  const vault = new FakeVault(
    options.vault ?? 'open',
    options.keychain ?? true,
    options.place ?? '/home/ada/evenkeel-recovery-code.txt',
    options.away ?? '',
  );
  const chat = new FakeChat(world, options.pace ?? 0);
  const upkeep = new FakeUpkeep(world, options.backups ?? 'some');
  const handlers = noHandlers();
  const emit = <N extends keyof ShellEvents>(name: N, payload: ShellEvents[N]): void => {
    for (const handler of handlers[name]) handler(payload);
  };
  world.onChange = (change) => emit('change', change);
  const open = <R>(work: () => R): Promise<R> =>
    new Promise((resolve) => {
      vault.requireOpen();
      resolve(structuredClone(work()));
    });

  return {
    world,
    vault,
    upkeep,
    emit,
    ...vaultCalls(vault),
    ...contextCalls(world, open),
    ...presetCalls(world, open),
    ...conversationCalls(world, open),
    ...trashCalls(world, open),
    ...searchCalls(world, open),
    chatSend: (request, onEvent) => open(() => undefined).then(() => chat.send(request, onEvent)),
    chatStop: (id) => open(() => chat.stop(id)),
    chatMeter: (contextId, conversationId, text) =>
      open(() => chat.meter(contextId, conversationId, text)),
    ...providerCalls(world, open),
    ...modelCalls(world, open),
    ...memoryCalls(world, open),
    ...operationCalls(world, open),
    ...connectionCalls(world, open),
    ...toolCalls(world, open),
    ...diagnosisCalls(world, open),
    ...careCalls(world),
    ...archiveCalls(world, open),
    ...upkeepCalls(world, upkeep, vault, open),
    ...healthCalls(world, upkeep, vault, open, options.pace ?? 0),
    ...keyCalls(world, vault, upkeep, open),
    ...settingsCalls(world, open),
    ...shellCalls(world, vault, handlers),
  };
}

/** Runs work on the world where the vault is open, and answers with a copy. */
export type Open = <R>(work: () => R) => Promise<R>;

function vaultCalls(vault: FakeVault) {
  const soon = <R>(work: () => R): Promise<R> => new Promise((resolve) => resolve(work()));
  return {
    vaultStatus: () => soon(() => vault.status()),
    vaultCreate: (useKeychain, passphrase) => soon(() => vault.create(useKeychain, passphrase)),
    vaultRenewRecovery: () => soon(() => vault.renew()),
    vaultConfirmRecovery: (answers) => soon(() => vault.confirm(answers)),
    vaultUnlock: (method) => soon(() => vault.unlock(method)),
    vaultCancelWaiting: () => soon(() => vault.cancelWaiting()),
    vaultLock: () => soon(() => vault.lock()),
    vaultSaveRecovery: (words) => soon(() => vault.save(words)),
  } satisfies Partial<Backend>;
}

function settingsCalls(world: World, open: Open) {
  return {
    settingsGet: () => open(() => world.settings),
    settingsSave: (settings) =>
      open(() => {
        checkLimits(settings.limits);
        return (world.settings = settings);
      }),
  } satisfies Partial<Backend>;
}

/** What the shell does and tells. */
function shellCalls(
  world: World,
  vault: FakeVault,
  handlers: Handlers,
): Pick<
  Backend,
  | 'appInfo'
  | 'openExternal'
  | 'quickChatHide'
  | 'quickChatMove'
  | 'quickChatMoved'
  | 'listen'
  | 'onFileDrop'
  | 'onFocus'
> {
  return {
    appInfo: () =>
      Promise.resolve({
        version: '0.1.0',
        profileDir: vault.status().profileDir,
        globalShortcut: 'unsupported',
        quickChatCommand: 'evenkeel quick',
      }),
    openExternal: () => Promise.resolve(),
    quickChatHide: () =>
      Promise.resolve(document.body.setAttribute('data-hidden-by', 'quick-chat')),
    quickChatMove: (id) => Promise.resolve(document.body.setAttribute('data-moved', id)),
    quickChatMoved: () => {
      const id = world.moved;
      world.moved = null;
      return Promise.resolve(id);
    },
    listen: (name, handler) => {
      handlers[name].add(handler);
      return Promise.resolve(() => handlers[name].delete(handler));
    },
    onFileDrop: (handler) => {
      const heard = (event: Event): void => handler((event as CustomEvent<string[]>).detail);
      window.addEventListener('fake-drop', heard);
      return Promise.resolve(() => window.removeEventListener('fake-drop', heard));
    },
    onFocus: (handler) => {
      window.addEventListener('focus', handler);
      return Promise.resolve(() => window.removeEventListener('focus', handler));
    },
  };
}

function providerCalls(world: World, open: Open) {
  const models = (id: string): ModelInfo[] => {
    const provider = world.providers.find((one) => one.id === id);
    if (provider?.locality === 'remote' && provider.keyHint === null)
      throw failure('provider_unauthorized', 'The provider answered 401: invalid key.', {
        provider: provider.name,
      });
    return (id === 'engine' ? world.engineModels : MODELS[id]) ?? [SERVED];
  };
  return {
    providerList: () => open(() => world.providers),
    providerSave: (draft) =>
      open(() => {
        const { key, ...rest } = draft;
        const old = world.providers.find((one) => one.id === draft.id);
        const local = /^https?:\/\/(127\.|localhost|\[::1\])/.test(draft.baseUrl);
        const hint = key === null ? (old?.keyHint ?? null) : key.slice(-4) || null;
        const saved = {
          ...rest,
          id: old?.id ?? world.id('provider'),
          locality: local ? ('local' as const) : ('remote' as const),
          keyHint: hint,
        };
        if (old) Object.assign(old, saved);
        else world.providers.push(saved);
        world.onChange({ noun: 'provider', id: saved.id });
        return saved;
      }),
    providerDelete: (id) =>
      open(() => {
        world.providers.splice(
          world.providers.findIndex((one) => one.id === id),
          1,
        );
        world.onChange({ noun: 'provider', id });
      }),
    providerModels: (id) => open(() => models(id)),
    modelOffers: () => open(() => OFFERS),
    providerTest: (id) => open(() => ({ models: models(id), millis: 42 })),
  } satisfies Partial<Backend>;
}

/** The backend of the fake build, set up by the page's address (`?vault=locked&seed=demo&pace=5`). */
export function fakeBackendFromAddress(
  search: string,
  calls: readonly Call[] | null = null,
): Backend {
  const wish = new URLSearchParams(search);
  const backend = fakeBackend({
    vault: (wish.get('vault') as VaultPhase | null) ?? (wish.has('seed') ? 'open' : 'new'),
    demo: wish.has('seed'),
    life: wish.get('seed') === 'life',
    keychain: wish.get('keychain') !== 'none',
    place: wish.get('place') ?? undefined,
    away: wish.get('away') ?? undefined,
    pace: Number(wish.get('pace') ?? 24),
    backups: (wish.get('backups') as FakeBackups | null) ?? 'some',
  });
  // Tests look into this world, and change it.
  Object.assign(globalThis, { fake: backend });
  backend.upkeep.fall(wish.get('health'));
  const trouble = wish.get('trouble') as ErrorCode | null;
  if (trouble) backend.vault.trouble = trouble;
  // The vault is closed for erasing, and then it cannot be erased.
  if (wish.get('erase') === 'fails')
    backend.dataErase = async () => {
      backend.vault.turn('lockedByUser');
      backend.emit('change', { noun: 'vault', id: '' });
      await new Promise((done) => setTimeout(done, 600));
      throw failure('storage', 'The key file could not be removed.');
    };
  // The vault is locked and opened elsewhere: by the tray, or in the other window.
  const turns = { 'fake-lock': 'lockedByUser', 'fake-unlock': 'open' } as const;
  for (const [event, phase] of Object.entries(turns)) {
    window.addEventListener(event, () => {
      backend.vault.turn(phase);
      backend.emit('change', { noun: 'vault', id: '' });
    });
  }
  window.addEventListener('fake-plugged', () => backend.vault.comeBack());
  // Tests play the shell by events of the page.
  window.addEventListener('fake-expiring', (event) =>
    backend.emit('contextExpiring', (event as CustomEvent<ContextExpiring>).detail),
  );
  playElsewhere(backend);
  return calls === null ? backend : narrowed(backend, calls);
}
