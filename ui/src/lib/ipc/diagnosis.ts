/** What the app says about itself: requests it has made, its log, and reports of crashes. No content in any of them. */
import type { ErrorCode, ProviderLocality } from './types';

export type RequestPurpose =
  | 'chat'
  | 'title'
  | 'summary'
  | 'extraction'
  | 'readAhead'
  | 'tool'
  | 'webhook'
  | 'embedding'
  | 'models'
  | 'detection'
  | 'engine';

export interface NetworkRequest {
  /** When it was over. */
  at: string;
  method: string;
  /** Scheme, host and port. */
  origin: string;
  locality: ProviderLocality;
  purpose: RequestPurpose;
  contextId: string | null;
  /** `null` = no answer came. */
  status: number | null;
  failure: ErrorCode | null;
  /** The rule that kept it from leaving, in English; nothing was sent then. */
  rule: string | null;
  bytesOut: number;
  bytesIn: number;
  millis: number;
}

export interface NetworkPage {
  /** The newest first. */
  requests: NetworkRequest[];
  since: string;
  total: number;
  /** How many went beyond this machine. */
  left: number;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  at: string;
  level: LogLevel;
  /** `window`, `mcp`, `cli` or `engine`. */
  process: string;
  source: string;
  text: string;
}

export interface LogPage {
  /** The newest first. */
  lines: LogLine[];
  folder: string;
  bytes: number;
}

export interface CrashInfo {
  id: string;
  at: string;
  process: string;
  /** The whole report, as it is saved. */
  text: string;
}

export interface DiagnosisBackend {
  /** The newest requests, of one companion or of all. */
  networkList(contextId: string | null, limit: number): Promise<NetworkPage>;
  /** The newest lines that are at least as grave. */
  logRead(level: LogLevel, limit: number): Promise<LogPage>;
  logClear(): Promise<void>;
  logOpenFolder(): Promise<void>;
  crashList(): Promise<CrashInfo[]>;
  /** Opens the system's dialog; gives the file, or `null` where it was closed. */
  crashSave(id: string): Promise<string | null>;
  crashDelete(id: string): Promise<void>;
}
