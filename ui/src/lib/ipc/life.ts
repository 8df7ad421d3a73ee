/**
 * The life of contexts, presets, conversations and messages: what its commands take and give.
 * Mirrors `crates/domain`, like `types.ts`.
 */
import type {
  Context,
  ContextDraft,
  ContextPatch,
  Conversation,
  ConversationPage,
  ConversationView,
  EarlierMessages,
  Message,
  ModelChoice,
  Preset,
  PresetOverrides,
  Role,
  Vote,
} from './types';

export type ContextSort = 'lastInteraction' | 'name' | 'created' | 'expiresSoon';

/** What is left out takes its default: no expired ones, last used first, ten a page. */
export interface ContextQuery {
  includeExpired?: boolean;
  /** What is in the trash, and nothing else. */
  onlyDeleted?: boolean;
  tag?: string | null;
  text?: string | null;
  sort?: ContextSort;
  /** From 1. */
  page?: number;
  /** 1 to 500. */
  pageSize?: number;
  /** Pages are counted from after this one. */
  after?: ContextPlace | null;
}

/** Where a context stands in lists; it stays good when others come and go. */
export type ContextPlace = Pick<
  Context,
  'id' | 'name' | 'createdAt' | 'lastInteractionAt' | 'expiresAt'
>;

export interface ContextPage {
  contexts: Context[];
  totalCount: number;
}

/** One immutable wording of a persona. */
export interface Revision {
  id: string;
  name: string;
  systemPrompt: string;
  personality: string;
  anchor: string | null;
  createdAt: string;
}

/** A wording as one context used it. */
export interface RevisionUse {
  revision: Revision;
  usedAt: string;
  messageCount: number;
}

/** The part of a draft that advice is given on. */
export interface PersonaDraft {
  name: string;
  systemPrompt: string;
  personality: string;
  /** Tokens of a reply; null = nothing is to be said of them. */
  maxTokens: number | null;
}

/** What could be better about a persona. */
export interface PersonaAdvice {
  code: string;
  field: 'systemPrompt' | 'personality' | 'maxTokens';
  /** The passage meant. */
  quote: string | null;
  message: string;
  details: Record<string, string>;
}

export interface RecommendedHistory {
  window: number;
  maxHistoryTokens: number;
}

export interface PresetQuery {
  includeInactive?: boolean;
  page?: number;
  pageSize?: number;
}

export interface PresetPage {
  presets: Preset[];
  totalCount: number;
}

export interface PresetDraft {
  name: string;
  description: string;
  systemPrompt: string;
  defaultPersonality: string;
  defaultSettings: Preset['defaultSettings'];
  /** Any JSON, as text. */
  metadata: string;
}

/** What is left out takes its default: every context, no archived ones, newest first. */
export interface ConversationQuery {
  contextId?: string | null;
  includeArchived?: boolean;
  /** What is in the trash, and nothing else. */
  onlyDeleted?: boolean;
  tag?: string | null;
  text?: string | null;
  oldestFirst?: boolean;
  /** 1 to 500. */
  limit?: number;
  offset?: number;
  /** Begins after this one. */
  after?: ConversationPlace | null;
}

/** Where a conversation stands in lists; it stays good when others come and go. */
export type ConversationPlace = Pick<Conversation, 'id' | 'isPinned' | 'lastActivityAt'>;

export interface AgentShare {
  contextId: string;
  name: string;
  messages: number;
}

export interface ConversationStatistics {
  messages: number;
  userMessages: number;
  assistantMessages: number;
  startedAt: string | null;
  lastActivityAt: string | null;
  durationMs: number;
  agents: AgentShare[];
  tokens: number;
  promptTokens: number;
  completionTokens: number;
}

export type ExportFormat = 'markdown' | 'json' | 'text';

/** What a text in the composer is for: a conversation, or the next one with a context. */
export type DraftKey = { conversation: string } | { context: string };

export interface LaterMessages {
  messages: Message[];
  hasLater: boolean;
}

export interface SearchQuery {
  text: string;
  contextId?: string | null;
  from?: string | null;
  until?: string | null;
  /** 1 to 100. */
  limit?: number;
  /** The `cursor` of the last hit of the page before. */
  before?: string | null;
}

export interface SnippetPart {
  text: string;
  isMatch: boolean;
}

export interface SearchHit {
  messageId: string;
  conversationId: string;
  contextId: string;
  conversationTitle: string;
  role: Role;
  snippet: SnippetPart[];
  createdAt: string;
  cursor: string;
}

export type TrashId = { context: string } | { conversation: string };

export interface TrashItem {
  id: TrashId;
  /** Name of the context, or title of the conversation. */
  title: string;
  /** The context that a conversation belongs to, which may lie in the trash too. */
  contextId: string | null;
  /** Its name. */
  contextName: string | null;
  /** What counts of it against the share of a vault that goes by itself in one run. */
  weight: number;
  /** It is too much to go by itself: it goes only by the user's word. */
  waits: boolean;
  deletedAt: string;
  shownAt: string | null;
  purgeDueRunningMs: number | null;
}

/** What lies in the trash, in short. */
export interface TrashSummary {
  /** A context stands for its conversations. */
  count: number;
  /** When the first of them was deleted. */
  oldest: string | null;
}

/** The part of the backend that knows the life of these nouns. */
export interface LifeBackend {
  contextList(query: ContextQuery): Promise<ContextPage>;
  /** One in the trash too. */
  contextGet(id: string): Promise<Context>;
  contextCreate(draft: ContextDraft): Promise<Context>;
  contextCreateFromPreset(presetId: string, overrides: PresetOverrides): Promise<Context>;
  contextUpdate(id: string, patch: ContextPatch): Promise<Context>;
  contextDuplicate(id: string): Promise<Context>;
  /** To the trash. */
  contextDelete(id: string): Promise<void>;
  contextRestore(id: string): Promise<Context>;
  /** For good. */
  contextPurge(id: string): Promise<void>;
  contextExtend(id: string): Promise<Context>;
  /** The newest first. */
  contextRevisions(id: string): Promise<RevisionUse[]>;
  contextRestoreRevision(id: string, revisionId: string): Promise<Context>;
  contextAdvice(draft: PersonaDraft, model: ModelChoice | null): Promise<PersonaAdvice[]>;
  contextRecommendedHistory(model: ModelChoice | null): Promise<RecommendedHistory>;
  /** Contexts and conversations; marks them as shown. */
  trashList(): Promise<TrashItem[]>;
  /** How much there is; marks it as shown. */
  trashSummary(): Promise<TrashSummary>;
  trashEmpty(): Promise<void>;

  presetList(query: PresetQuery): Promise<PresetPage>;
  presetCreate(draft: PresetDraft): Promise<Preset>;
  presetUpdate(id: string, draft: PresetDraft): Promise<Preset>;
  presetSetActive(id: string, isActive: boolean): Promise<Preset>;
  presetDelete(id: string): Promise<void>;
  presetDuplicate(id: string): Promise<Preset>;
  presetReset(id: string): Promise<Preset>;
  presetFromContext(contextId: string, name: string): Promise<Preset>;

  conversationList(query: ConversationQuery): Promise<ConversationPage>;
  conversationOpen(id: string): Promise<ConversationView>;
  /** The branch and page that hold a message. */
  conversationOpenAt(messageId: string): Promise<ConversationView>;
  conversationEarlier(messageId: string, limit: number): Promise<EarlierMessages>;
  messageAfter(messageId: string, limit: number): Promise<LaterMessages>;
  conversationRename(id: string, title: string): Promise<void>;
  conversationSelectBranch(messageId: string): Promise<ConversationView>;
  conversationSetPinned(id: string, isPinned: boolean): Promise<Conversation>;
  conversationSetArchived(id: string, isArchived: boolean): Promise<Conversation>;
  conversationSetTags(id: string, tags: string[]): Promise<Conversation>;
  /** To the trash, all or none; answers with those that went. */
  conversationDelete(ids: string[]): Promise<string[]>;
  /** Pinned ones stay. */
  conversationDeleteOlder(contextId: string | null, before: string): Promise<string[]>;
  conversationClear(contextId: string): Promise<string[]>;
  conversationRestore(ids: string[]): Promise<string[]>;
  /** For good, from the trash. */
  conversationPurge(ids: string[]): Promise<string[]>;
  conversationStatistics(id: string): Promise<ConversationStatistics>;
  conversationExport(id: string, format: ExportFormat): Promise<string>;
  /** Opens the system's dialog; `null` where it was closed. */
  conversationSave(id: string, format: ExportFormat): Promise<string | null>;

  /** A conversation that is never written to disk. */
  privateBegin(contextId: string, title: string): Promise<Conversation>;
  /** The last used first. */
  privateList(contextId: string): Promise<Conversation[]>;
  /** Nothing of it is left. */
  privateEnd(id: string): Promise<void>;

  messageDelete(id: string): Promise<ConversationView>;
  messageRestore(id: string): Promise<ConversationView>;
  messageVote(id: string, vote: Vote | null): Promise<Message>;

  draftGet(key: DraftKey): Promise<string>;
  /** An empty text is forgotten. */
  draftPut(key: DraftKey, text: string): Promise<void>;
  searchMessages(query: SearchQuery): Promise<SearchHit[]>;
}
