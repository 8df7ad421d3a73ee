/**
 * What decides over a request, and what is left of it: receipts, previews, summaries, extracted
 * values, installed strategies. Mirrors `crates/domain`, like `types.ts`.
 */
import type {
  ErrorBody,
  Message,
  ModelChoice,
  ProviderKind,
  Role,
  SendRequest,
  StrategyChoice,
  TokenMeter,
} from './types';

/** Where a block stands; the order is the order in the prompt. */
export type BlockKind = 'system' | 'tools' | 'memory' | 'history' | 'user' | 'trailing';

/** What a block's text comes from. */
export type Origin =
  | { from: 'revision'; id: string }
  | { from: 'anchor'; id: string }
  | { from: 'message'; id: string }
  | { from: 'earlier'; messages: number }
  | { from: 'userText' }
  | { from: 'clock' }
  | { from: 'summary'; id: string }
  | { from: 'state' }
  | { from: 'recalled'; id: string }
  | { from: 'goals' }
  | { from: 'tools' }
  | { from: 'provider'; name: string };

/** A replaced part of a stored text, in bytes. */
export interface TextEdit {
  start: number;
  end: number;
  with: string;
}

export interface ReceiptBlock {
  kind: BlockKind;
  origin: Origin;
  role: Role;
  tokens: number;
  /** Whether it was sent. */
  included: boolean;
  /** Why it was left out, or sent although space was short. */
  reason: string | null;
  /** The text where nothing else holds it. */
  text: string | null;
  prefix?: string;
  /** What was replaced before it was sent. */
  edits?: TextEdit[];
}

export interface StrategyUsed {
  id: string;
  version: string;
  /** Why it is not the one that was chosen. */
  insteadOf: string | null;
}

/** How a prompt is written down: with the trailing text last, or with the user's. */
export type PromptForm = 'messages' | 'userLast';

/** What was sent for one reply. */
export interface Receipt {
  version: number;
  replyId: string;
  userMessageId: string;
  createdAt: string;
  revisionId: string;
  speaker: string;
  model: ModelChoice;
  providerName: string;
  providerKind: ProviderKind;
  temperature: number;
  maxTokens: number;
  strategy: StrategyUsed;
  form: PromptForm;
  blocks: ReceiptBlock[];
  meter: TokenMeter;
  /** SHA-256 of the body; empty where the request never left. */
  requestHash: string;
  requestBytes: number;
  usage: Message['usage'];
  /** The requests after the first, where the model asked for tools. */
  rounds: ReceiptRound[];
}

/** A further request for the same reply: the one before it, and what was said since. */
export interface ReceiptRound {
  messages: RoundMessage[];
  /** Tokens of what was added. */
  tokens: number;
  toolsAreOver: boolean;
  requestHash: string;
  requestBytes: number;
  /** What was added is no longer stored. */
  forgotten: boolean;
}

/** What was added to a request between two rounds, as it was sent. */
export type RoundMessage =
  | { from: 'model'; text: string; calls: RoundCall[]; tokens: number }
  | { from: 'tool'; call: RoundCall; text: string; tokens: number }
  | { from: 'app'; text: string; tokens: number };

export interface RoundCall {
  id: string;
  /** The tool's name as the model knows it. */
  name: string;
  arguments: string;
  /** Empty for a tool of the app itself. */
  server: string;
  tool: string;
}

/** A further request of a receipt, put together again. */
export interface RoundText {
  /** Empty where a text of it is forgotten. */
  body: string;
  curl: string;
  matches: boolean;
}

/** The request of a receipt, put together again from what is stored. */
export interface ReceiptRequest {
  /** As it went over the wire. */
  body: string;
  /** The same as a command, without the key. */
  curl: string;
  address: string;
  /** It has the hash of what was sent. */
  matches: boolean;
  /** Blocks whose text is no longer stored. */
  missing: ReceiptBlock[];
  /** The text of each block, in the order of the receipt's. */
  texts: string[];
  /** The requests after the first. */
  rounds: RoundText[];
}

/** What would be sent. */
export interface Preview {
  strategy: StrategyUsed;
  blocks: ReceiptBlock[];
  texts: string[];
  meter: TokenMeter;
  model: ModelChoice;
  providerName: string;
  body: string;
}

/** What one strategy would make of a message. */
export interface StrategyOutcome {
  strategy: StrategyChoice;
  preview: Preview | null;
  error: ErrorBody | null;
}

export interface Summary {
  id: string;
  conversationId: string;
  /** The newest message it covers. */
  upToId: string;
  messageIds: string[];
  text: string;
  tokens: { tokens: number; tokenizer: string };
  model: ModelChoice | null;
  /** How often a summary was made from the one before. */
  round: number;
  createdAt: string;
  isEdited: boolean;
  /** A message it covers was edited or deleted since. */
  isStale: boolean;
}

/** A value taken from what the user said. */
export interface StateValue {
  id: string;
  contextId: string;
  conversationId: string;
  name: string;
  /** JSON. */
  value: string;
  /** The message it rests on. */
  evidenceId: string | null;
  validFrom: string;
  /** Until when it held; `null` = it holds. */
  validTo: string | null;
  isPinned: boolean;
  isEdited: boolean;
  source: string;
}

/** A strategy that was installed. */
export interface Plugin {
  id: string;
  name: string;
  version: string;
  description: string;
  /** Why it cannot be used. */
  error: ErrorBody | null;
}

/** An older message that a reply was given with. */
export interface Citation {
  messageId: string;
  conversationId: string;
  beginning: string;
  createdAt: string;
}

/** What is taken out of texts, and when. */
export interface Redaction {
  emails: boolean;
  phones: boolean;
  /** Payment cards and IBANs. */
  cards: boolean;
  keys: boolean;
  /** At most 200 words of 2 to 200 characters. */
  own: string[];
  beforeStoring: boolean;
  beforeSending: boolean;
}

export interface MemoryBackend {
  /** `null` for a reply from before there were receipts. */
  receiptGet(messageId: string): Promise<Receipt | null>;
  receiptRequest(messageId: string): Promise<ReceiptRequest>;
  /** Sends and stores nothing. */
  chatPreview(request: SendRequest): Promise<Preview>;
  chatCompare(request: SendRequest, strategies: StrategyChoice[]): Promise<StrategyOutcome[]>;

  summaryList(conversationId: string): Promise<Summary[]>;
  summaryEdit(id: string, text: string): Promise<void>;
  summaryRemove(id: string): Promise<void>;
  stateGet(conversationId: string, includeSuperseded: boolean): Promise<StateValue[]>;
  /** The value is JSON. */
  stateSet(conversationId: string, name: string, value: string): Promise<void>;
  statePin(id: string, isPinned: boolean): Promise<void>;
  /** The value, and those of the same name before it. */
  stateForget(id: string): Promise<void>;

  pluginList(): Promise<Plugin[]>;
  /** Lets the user choose a folder; `null` where the dialog was closed. */
  pluginPick(): Promise<string | null>;
  pluginInstall(path: string, replace: boolean): Promise<void>;
  pluginRemove(id: string): Promise<void>;
}
