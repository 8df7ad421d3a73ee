/** What tools did in conversations. */
import type { ErrorBody } from './types';

export interface FoundId {
  /** The name that it stood under; `text` for one in a text. */
  key: string;
  id: string;
}

export interface StatusChange {
  id: string | null;
  from: string | null;
  to: string;
}

export interface FoundAnswer {
  id: string | null;
  text: string | null;
}

/** What matters of an operation. */
export interface OperationMetadata {
  ids: FoundId[];
  created: string[];
  updated: string[];
  deleted: string[];
  statusChanges: StatusChange[];
  counts: { name: string; count: number }[];
  errors: string[];
  selected: FoundAnswer[];
  deselected: FoundAnswer[];
  files: { path: string; bytes: number | null }[];
  /** What the user's own rules found. */
  values: { rule: string; value: unknown }[];
  /** There was more than is kept. */
  isCut: boolean;
}

/** One execution of a tool. */
export interface Operation {
  id: string;
  conversationId: string;
  contextId: string;
  messageId: string | null;
  at: string;
  /** What the user had asked. */
  query: string;
  /** Which server the tool is of. */
  source: string;
  toolName: string;
  arguments: unknown;
  result: unknown;
  metadata: OperationMetadata;
  durationMs: number;
  error: ErrorBody | null;
}

export interface OperationTool {
  name: string;
  count: number;
}

export interface OperationPageQuery {
  conversationId: string;
  /** Counted from 1. */
  page: number;
  pageSize: number;
  toolName: string | null;
}

export interface OperationPage {
  /** The newest first. */
  operations: Operation[];
  /** Those whose arguments or result are longer than given here. */
  shortened: string[];
  totalCount: number;
  /** All tools of the conversation. */
  tools: OperationTool[];
}

/** What the user wants to have taken out of the results of some tools. */
export interface OperationRule {
  name: string;
  /** `*` stands for any characters, `?` for one. */
  toolPattern: string;
  /** A JSONPath. */
  path: string;
}

export interface OperationSettings {
  /** Newest operations that a conversation keeps. */
  kept: number;
  transientSessions: number;
  /** 0 = never. */
  transientMinutes: number;
  rules: OperationRule[];
}

/** Who is told of the end of an operation that took long. */
export interface LongOperationSettings {
  /** From which on it has taken long. */
  seconds: number;
  notifies: boolean;
  /** Address that a note without content is sent to; empty = none. */
  webhook: string;
}

/** A note that did not arrive. */
export interface WebhookFailure {
  at: string;
  /** `null` = no answer came. */
  status: number | null;
}

export interface LongOperationStatus {
  settings: LongOperationSettings;
  failure: WebhookFailure | null;
}

export interface OperationBackend {
  operationList(query: OperationPageQuery): Promise<OperationPage>;
  /** One of them, whole. */
  operationGet(conversationId: string, id: string): Promise<Operation>;
  operationClear(conversationId: string): Promise<void>;
  /** Writes those of a conversation, or all, into a file; `null` where the dialog was closed. */
  operationSave(conversationId: string | null): Promise<string | null>;
  operationLongStatus(): Promise<LongOperationStatus>;
  operationLongSave(settings: LongOperationSettings): Promise<LongOperationStatus>;
  /** What a rule finds in a result, each value as JSON. */
  operationTryRule(rule: OperationRule, result: string): Promise<string[]>;
}
