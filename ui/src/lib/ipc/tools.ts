/** Tools of other programs that companions can use. */
import type { ProviderLocality } from './types';

export type ToolTransport =
  /** A program that is started here; no shell reads its command. */
  { kind: 'stdio'; command: string; args: string[] } | { kind: 'http'; url: string };

/** A tool in its server's words. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: unknown;
}

export interface ToolServer {
  id: string;
  name: string;
  transport: ToolTransport;
  /** Names of the variables that its environment has beside the usual few. */
  envNames: string[];
  /** The last four characters of its token. */
  tokenHint: string | null;
  locality: ProviderLocality;
  /** The tools that it listed last. */
  tools: Tool[];
  listedAt: string | null;
  createdAt: string;
}

/** What was decided of a tool for good. */
export type ToolRule = 'ask' | 'allowed' | 'denied';

/** What is said to the question whether a tool may run. To close it is to deny. */
export type ToolAnswer = 'once' | 'conversation' | 'always' | 'deny';

export interface ToolServerView {
  server: ToolServer;
  /** The whole command, or the address. */
  place: string;
  /** What was decided of each of its tools, in their order. */
  rules: ToolRule[];
}

export interface ToolServerTest {
  view: ToolServerView;
  /** Tools that are too many or too large. */
  leftOut: number;
  millis: number;
}

export interface ToolServerDraft {
  id: string | null;
  name: string;
  transport: ToolTransport;
  /** All variables; `null` keeps those that are stored. */
  env: Record<string, string> | null;
  /** `null` keeps the stored token, an empty text removes it. */
  token: string | null;
}

/** A tool that a companion uses. */
export interface ToolChoice {
  serverId: string;
  tool: string;
}

/** A call of a tool. */
export interface ToolUse {
  /** Names the call, and the question whether it may run. */
  id: string;
  /** Empty for a tool of the app itself. */
  server: string;
  tool: string;
  /** Whole, as the model wrote them. */
  arguments: string;
}

export type ToolEnd = 'done' | 'failed' | 'refused';

/** What is told of tools while a reply grows. */
export type ToolEvent =
  | {
      kind: 'toolQuestion';
      call: ToolUse;
      description: string;
      place: string;
      /** Which call of the model's answer it is, counted from 1. */
      number: number;
      /** How many calls of that answer are run, one after the other. */
      count: number;
    }
  | { kind: 'toolBegan'; call: ToolUse }
  | { kind: 'toolEnded'; call: ToolUse; end: ToolEnd; result: string };

export interface ToolBackend {
  toolServerList(): Promise<ToolServerView[]>;
  toolServerSave(draft: ToolServerDraft): Promise<ToolServerView>;
  toolServerDelete(id: string): Promise<void>;
  /** Starts it, or calls its address, and asks what it has. */
  toolServerTest(id: string): Promise<ToolServerTest>;
  toolRuleSet(choice: ToolChoice, rule: ToolRule): Promise<ToolServerView>;
  toolAnswer(id: string, answer: ToolAnswer): Promise<void>;
  contextTools(contextId: string): Promise<ToolChoice[]>;
  contextToolsSet(contextId: string, chosen: ToolChoice[]): Promise<ToolChoice[]>;
}
