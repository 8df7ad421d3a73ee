import type { Context, Preset, Provider, Settings } from '../types';

/** The moment the in-memory world begins; later times are counted from it. */
export const EPOCH = Date.UTC(2026, 4, 12, 8, 30);

/** ISO time `minutes` after the epoch. */
export function at(minutes: number): string {
  return new Date(EPOCH + minutes * 60_000).toISOString();
}

/** The end of a lifetime that begins now: by the real clock, which the window goes by too. */
export function expiry(days: number | null): string | null {
  return days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString();
}

const rows: [string, string, string, number, number, number, boolean][] = [
  [
    'calm-counselor',
    'Calm Counselor',
    'Composure and objectivity in emotional situations',
    0.6,
    1200,
    14,
    false,
  ],
  ['rational-advisor', 'Rational Advisor', 'Guidance from logic and facts', 0.5, 1000, 7, false],
  [
    'supportive-guide',
    'Supportive Guide',
    'Empathy balanced with constructive direction',
    0.8,
    1500,
    10,
    false,
  ],
  [
    'professional-assistant',
    'Professional Assistant',
    'Business-like composure and efficiency',
    0.7,
    1000,
    7,
    false,
  ],
  [
    'decision-making-supporter',
    'Decision Making Supporter',
    'Organises options, merits, risks and returns',
    0.4,
    1500,
    14,
    true,
  ],
  [
    'search-key-advisor',
    'Search Key Advisor',
    'Keywords and strategy for a search',
    0.6,
    1200,
    10,
    true,
  ],
];

/** The six built-in presets, with short prompts. */
export function presets(): Preset[] {
  return rows.map(
    ([slug, name, description, temperature, maxTokens, expiryDays, experimental]) => ({
      id: `preset-${slug}`,
      name,
      description,
      systemPrompt: `${name} answers calmly and stays the same however upset the other person is.`,
      defaultPersonality: 'Calm, attentive, plain-spoken.',
      defaultSettings: { temperature, maxTokens, maxHistoryTokens: 15_000, expiryDays },
      createdAt: at(-10_000),
      updatedAt: at(-10_000),
      isActive: true,
      metadata: JSON.stringify({ experimental }),
      useCount: 0,
      thumbsUp: 0,
      thumbsDown: 0,
      isBuiltIn: true,
      isEdited: false,
    }),
  );
}

/** The providers of the in-memory world: the engine, a local server, one elsewhere. */
export function providers(): Provider[] {
  const base = {
    keyHint: null,
    extraHeaders: {},
    manualModels: [],
    windowOverride: null,
    timeoutSeconds: 120,
  };
  return [
    { ...base, id: 'engine', kind: 'engine', name: 'Built in', baseUrl: '', locality: 'local' },
    {
      ...base,
      id: 'provider-ollama',
      kind: 'ollama',
      name: 'Ollama',
      baseUrl: 'http://127.0.0.1:11434',
      locality: 'local',
    },
    {
      ...base,
      id: 'provider-cloud',
      kind: 'openai-compatible',
      name: 'OpenAI',
      baseUrl: 'https://api.openai.com/v1',
      locality: 'remote',
      keyHint: '4f2a',
    },
  ];
}

/** Settings as a new vault has them. */
export function settings(): Settings {
  return {
    theme: 'system',
    language: 'system',
    defaultModel: null,
    quickChatShortcut: 'CommandOrControl+Shift+Space',
    keepInTray: true,
    engineIdleMinutes: 15,
    lastContextId: null,
    aiNoticeAccepted: false,
    features: {},
    helplineRegion: '',
    notifications: true,
    notificationContent: false,
    automaticTitles: true,
    lockAfterMinutes: 0,
    lockOnSleep: false,
    lockWhenHidden: false,
    operations: { kept: 50, transientSessions: 100, transientMinutes: 60, rules: [] },
    toolRounds: 8,
    redaction: {
      emails: false,
      phones: false,
      cards: false,
      keys: false,
      own: [],
      beforeStoring: false,
      beforeSending: false,
    },
    limits: {
      contexts: 1_000,
      messagesPerContext: 1_000_000,
      messageBytes: 1_048_576,
      vaultBytes: 50 * 1_024 ** 3,
    },
  };
}

/** A context made from a preset at a minute of the world. */
export function contextOf(preset: Preset, id: string, minute: number): Context {
  const { temperature, maxTokens, maxHistoryTokens, expiryDays } = preset.defaultSettings;
  return {
    id,
    name: preset.name,
    systemPrompt: preset.systemPrompt,
    personality: preset.defaultPersonality,
    revisionId: `revision-${id}`,
    temperature,
    maxTokens,
    maxHistoryTokens,
    expiryDays,
    model: null,
    localOnly: false,
    maintainPersonality: true,
    presetId: preset.id,
    createdAt: at(minute),
    updatedAt: at(minute),
    lastInteractionAt: at(minute),
    expiresAt: expiry(expiryDays),
    isActive: true,
    anchor: null,
    deletedAt: null,
    tags: [],
    strategy: { type: 'plugin', pluginId: 'std-sliding-window-strategy', config: {} },
    memory: {
      recall: { on: false, count: 5, sharePercent: 15, embedder: null, linked: [] },
      goals: [],
      anchorFromTurn: 3,
    },
  };
}
