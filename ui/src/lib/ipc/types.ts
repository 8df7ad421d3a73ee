/** What crosses the border to Rust, in serde's wording. Mirrors `crates/domain` and the commands. */
import type { ArchiveErrorCode } from './archive';
import type { CareCard } from './care';
import type { LockSettings } from './keys';
import type { Citation, Redaction } from './memory';
import type { ModelInfo } from './models';
import type { OperationSettings } from './operations';
import type { ToolEvent } from './tools';
import type { UpkeepSettings } from './upkeep';

export type * from './archive';
export type * from './care';
export type * from './events';
export type * from './health';
export type * from './keys';
export type * from './memory';
export type * from './models';
export type * from './upkeep';

export type ErrorCode =
  | 'invalid_parameter'
  | 'not_found'
  | 'limit_reached'
  | 'busy'
  | 'context_expired'
  | 'not_permitted'
  | 'no_model'
  | 'local_only'
  | 'prompt_too_large'
  | 'provider_unauthorized'
  | 'provider_model_not_found'
  | 'provider_rate_limited'
  | 'provider_rejected'
  | 'provider_failed'
  | 'provider_unreachable'
  | 'provider_timeout'
  | 'provider_broken_off'
  | 'provider_malformed'
  | 'provider_address_refused'
  | 'tool_failed'
  | 'engine_unavailable'
  | 'engine_crashed'
  | 'model_file_invalid'
  | 'model_file_missing'
  | 'keychain_unavailable'
  | 'keychain_locked'
  | 'keychain_waiting'
  | 'keychain_missing'
  | 'wrong_key'
  | 'vault_damaged'
  | 'vault_too_new'
  | 'vault_locked'
  | 'vault_exists'
  | 'vault_away'
  | 'move_refused'
  | 'vault_in_use'
  | 'place_refused'
  | ArchiveErrorCode
  | 'storage'
  | 'not_writable'
  | 'disk_full'
  | 'internal';

/** The one error shape: what kind, what happened in English, facts for the sentence. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  details: Record<string, string>;
}

export type VaultPhase =
  | 'new'
  | 'opening'
  | 'confirmRecovery'
  | 'open'
  | 'unavailable'
  | 'locked'
  | 'waiting'
  | 'missing'
  | 'wrongKey'
  | 'damaged'
  | 'tooNew'
  | 'lockedByUser';

export interface VaultStatus {
  state: VaultPhase;
  profileDir: string;
  hasKeychainSlot: boolean;
  hasPassphrase: boolean;
  /** Whether its key slots can be read; without them only a backup helps. */
  hasKeySlots: boolean;
  keychainAvailable: boolean;
  error: ErrorBody | null;
}

/** The recovery code, shown once. `askGroups` are zero-based positions in `groups`. */
export interface RecoverySheet {
  groups: string[];
  askGroups: number[];
  /** When the code was made. */
  createdAt: string;
}

/** What stands around the recovery code in a file. */
export interface RecoveryWords {
  title: string;
  notes: string[];
}

export type UnlockMethod =
  | { kind: 'keychain' }
  | { kind: 'recoveryCode'; code: string }
  | { kind: 'passphrase'; passphrase: string };

export interface ModelChoice {
  providerId: string;
  model: string;
}

/** A strategy by its id; what is absent from `config` has the strategy's default. */
export interface StrategyChoice {
  type: 'plugin';
  pluginId: string;
  config: Record<string, unknown>;
}

/** What a context remembers beside its history. */
export interface MemorySettings {
  recall: {
    on: boolean;
    /** Most messages that are brought back, 1–12. */
    count: number;
    /** Per cent of the request that they may take, 1–50. */
    sharePercent: number;
    /** `null` = words alone are compared. */
    embedder: ModelChoice | null;
    /** Other contexts whose messages may be brought back too. */
    linked: string[];
  };
  goals: string[];
  /** The turn from which the anchor is sent. */
  anchorFromTurn: number;
}

export interface Context {
  id: string;
  name: string;
  systemPrompt: string;
  personality: string;
  revisionId: string;
  temperature: number;
  maxTokens: number;
  maxHistoryTokens: number;
  expiryDays: number | null;
  model: ModelChoice | null;
  localOnly: boolean;
  maintainPersonality: boolean;
  presetId: string | null;
  createdAt: string;
  updatedAt: string;
  lastInteractionAt: string;
  expiresAt: string | null;
  isActive: boolean;
  /** Own anchor text; `null` = made from name and personality. */
  anchor: string | null;
  /** Since when it lies in the trash. */
  deletedAt: string | null;
  tags: string[];
  strategy: StrategyChoice;
  memory: MemorySettings;
}

export interface ContextDraft {
  name: string;
  systemPrompt: string;
  personality: string;
  temperature: number;
  maxTokens: number;
  maxHistoryTokens: number;
  expiryDays: number | null;
  model: ModelChoice | null;
  localOnly: boolean;
  maintainPersonality: boolean;
  presetId: string | null;
  anchor: string | null;
  tags: string[];
  strategy: StrategyChoice;
  memory: MemorySettings;
}

/**
 * A field that is absent stays; `expiryDays: 0` means never, an empty `anchor` none of its own,
 * `model: null` the default of the settings.
 */
export type ContextPatch = Partial<Omit<ContextDraft, 'presetId'>>;

export interface PresetOverrides {
  name?: string;
  temperature?: number;
  maxTokens?: number;
  maxHistoryTokens?: number;
  expiryDays?: number;
}

export interface Preset {
  id: string;
  name: string;
  description: string;
  systemPrompt: string;
  defaultPersonality: string;
  defaultSettings: {
    temperature: number;
    maxTokens: number;
    maxHistoryTokens: number;
    expiryDays: number | null;
  };
  createdAt: string;
  updatedAt: string;
  isActive: boolean;
  /** Any JSON, as text. */
  metadata: string;
  useCount: number;
  thumbsUp: number;
  thumbsDown: number;
  isBuiltIn: boolean;
  /** A built-in one that the user changed or hid. */
  isEdited: boolean;
}

export interface Conversation {
  id: string;
  contextId: string;
  title: string;
  activeLeafId: string | null;
  messageCount: number;
  createdAt: string;
  lastActivityAt: string;
  titleSource: 'beginning' | 'model' | 'user';
  isPinned: boolean;
  isArchived: boolean;
  tags: string[];
  deletedAt: string | null;
}

export interface ConversationPage {
  items: Conversation[];
  totalCount: number;
}

export type Role = 'user' | 'assistant' | 'system';
export type Vote = 'up' | 'down';
export type MessageStatus = 'complete' | 'stopped' | 'interrupted' | 'truncated';

export interface Message {
  id: string;
  conversationId: string;
  contextId: string;
  parentId: string | null;
  role: Role;
  content: string;
  reasoning: string | null;
  status: MessageStatus;
  tokenCount: { tokens: number; tokenizer: string } | null;
  revisionId: string | null;
  model: ModelChoice | null;
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number | null } | null;
  createdAt: string;
  siblingIds: string[];
  vote: Vote | null;
  /** Older messages that were sent with the question, those that are still there. */
  citations: Citation[];
  /** The program that wrote it; `null` for the user. */
  source: string | null;
}

export interface TokenMeter {
  historyTokens: number;
  budgetTokens: number;
  requestTokens: number;
  windowTokens: number;
  leftOut: number;
  warning: boolean;
  estimated: boolean;
  /** The oldest in the window: at least so many go when it next moves. */
  leaving: { messages: number; firstId: string; beginning: string } | null;
}

export interface ConversationView {
  conversation: Conversation;
  messages: Message[];
  hasEarlier: boolean;
  /** There are newer messages on this branch than those given. */
  hasLater: boolean;
  meter: TokenMeter;
  /** A reply is being written in it, whichever window began it. */
  isReplying: boolean;
  /** It is never written to disk. */
  isPrivate: boolean;
}

export interface EarlierMessages {
  messages: Message[];
  hasEarlier: boolean;
}

export type SendRequest =
  | {
      kind: 'new';
      contextId: string;
      conversationId: string | null;
      text: string;
      /** Another context that answers this once, with its own persona. */
      agentId: string | null;
    }
  | { kind: 'edit'; messageId: string; text: string }
  | { kind: 'regenerate'; messageId: string };

export type ChatEvent =
  | {
      kind: 'started';
      conversation: Conversation;
      userMessage: Message;
      replyId: string;
      meter: TokenMeter;
    }
  /** Whom to call: what was written is a sign of danger. It may come before an error. */
  | { kind: 'care'; card: CareCard }
  | { kind: 'text'; delta: string }
  | { kind: 'reasoning'; delta: string }
  | { kind: 'notice'; error: ErrorBody }
  | ToolEvent
  | { kind: 'ended'; message: Message | null; error: ErrorBody | null };

export type ProviderKind = 'engine' | 'openai-compatible' | 'anthropic' | 'ollama';
export type ProviderLocality = 'local' | 'remote';

export interface Provider {
  id: string;
  kind: ProviderKind;
  name: string;
  baseUrl: string;
  locality: ProviderLocality;
  /** The last four characters of the stored key. */
  keyHint: string | null;
  extraHeaders: Record<string, string>;
  manualModels: string[];
  windowOverride: number | null;
  timeoutSeconds: number;
}

export interface ProviderDraft {
  id: string | null;
  kind: ProviderKind;
  name: string;
  baseUrl: string;
  /** `null` keeps the stored key. */
  key: string | null;
  extraHeaders: Record<string, string>;
  manualModels: string[];
  windowOverride: number | null;
  timeoutSeconds: number;
}

export interface ProviderTest {
  models: ModelInfo[];
  millis: number;
}

export type Theme = 'system' | 'light' | 'dark';

export interface Settings extends LockSettings, UpkeepSettings {
  theme: Theme;
  /** BCP 47 tag, or `system`. */
  language: string;
  defaultModel: ModelChoice | null;
  quickChatShortcut: string;
  keepInTray: boolean;
  engineIdleMinutes: number;
  lastContextId: string | null;
  aiNoticeAccepted: boolean;
  /** How often a model may ask for tools before it has to answer, 1–32. */
  toolRounds: number;
  /** Absent = nothing is taken out. */
  redaction: Redaction;
  operations: OperationSettings;
}

export interface AppInfo {
  version: string;
  profileDir: string;
  globalShortcut: 'ok' | 'off' | 'unsupported' | 'failed';
  quickChatCommand: string;
}
