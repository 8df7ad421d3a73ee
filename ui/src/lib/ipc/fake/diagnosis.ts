import type { CrashInfo, DiagnosisBackend, LogLevel, LogLine, NetworkRequest } from '../diagnosis';
import { failure } from '../error';
import type { Open } from './index';
import type { World } from './world';

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const LEVELS: LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** The network journal, the log and crash reports, in memory. */
export class FakeDiagnosis {
  requests: NetworkRequest[] = [];
  lines: LogLine[] = [];
  crashes: CrashInfo[] = [];
  since = ago(95);
  /** Ids of saved reports, and how often the folder was opened. */
  saved: string[] = [];
  opened = 0;

  /** Requests here, elsewhere and refused; a few lines; a report of a crash. */
  seed(world: World): void {
    const [first, second] = world.contexts;
    const request = (minutes: number, rest: Partial<NetworkRequest>): NetworkRequest => ({
      at: ago(minutes),
      method: 'POST',
      origin: 'http://127.0.0.1:41871',
      locality: 'local',
      purpose: 'chat',
      contextId: first?.id ?? null,
      status: 200,
      failure: null,
      rule: null,
      bytesOut: 4_812,
      bytesIn: 9_377,
      millis: 2_140,
      ...rest,
    });
    const elsewhere = { origin: 'https://api.anthropic.com', locality: 'remote' } as const;
    const unreachable = { failure: 'provider_unreachable', method: 'GET' } as const;
    const nothing = { status: null, bytesOut: 0, bytesIn: 0, millis: 1 };
    this.requests = [
      request(2, {}),
      request(3, { ...elsewhere, contextId: second?.id ?? null, bytesOut: 12_040 }),
      request(9, {
        ...elsewhere,
        ...nothing,
        failure: 'local_only',
        rule: 'the companion uses models on this machine only',
      }),
      request(20, { ...nothing, ...unreachable, purpose: 'models' }),
      request(21, { purpose: 'title', bytesOut: 900, bytesIn: 410 }),
      request(94, {
        ...nothing,
        ...unreachable,
        origin: 'http://127.0.0.1:11434',
        contextId: null,
        purpose: 'detection',
      }),
    ];
    const line = (minutes: number, level: LogLevel, text: string): LogLine => ({
      at: ago(minutes),
      level,
      process: 'window',
      source: 'evenkeel_service::scheduler::run',
      text,
    });
    this.lines = [
      line(3, 'info', 'a conversation got no title code=provider_unreachable'),
      line(44, 'warn', 'a job failed job=backup code=disk_full error=…'),
      line(80, 'error', 'the global shortcut could not be bound error=…'),
      line(95, 'info', 'Evenkeel starts'),
    ];
  }

  /** A report of a crash before this start. */
  crash(): void {
    const ending = { kind: 'signal', number: 11 };
    const report = { format: 1, at: ago(130), version: '0.1.0', system: 'linux x86_64' };
    const text = JSON.stringify({ ...report, process: 'engine', thread: null, ending }, null, 2);
    this.crashes = [{ id: 'crash-1.json', at: report.at, process: 'engine', text }];
  }
}

export function diagnosisCalls(world: World, open: Open): DiagnosisBackend {
  const { diagnosis } = world;
  const find = (id: string): CrashInfo => {
    const found = diagnosis.crashes.find((one) => one.id === id);
    if (!found) throw failure('not_found', `there is no crash report ${id}`, {});
    return found;
  };
  // The vault need not be open for the log and the reports.
  const soon = <R>(work: () => R): Promise<R> => new Promise((resolve) => resolve(work()));
  return {
    networkList: (contextId, limit) =>
      open(() => {
        const meant = diagnosis.requests.filter(
          (one) => contextId === null || one.contextId === contextId,
        );
        const left = meant.filter((one) => one.locality === 'remote' && one.rule === null);
        const { since } = diagnosis;
        return { requests: meant.slice(0, limit), since, total: meant.length, left: left.length };
      }),
    logRead: (level, limit) =>
      soon(() => ({
        lines: diagnosis.lines
          .filter((line) => LEVELS.indexOf(line.level) >= LEVELS.indexOf(level))
          .slice(0, limit),
        folder: '/home/ada/.local/share/evenkeel/logs',
        bytes: diagnosis.lines.length * 120,
      })),
    logClear: () => soon(() => void (diagnosis.lines = [])),
    logOpenFolder: () => soon(() => void (diagnosis.opened += 1)),
    crashList: () => soon(() => diagnosis.crashes),
    crashSave: (id) =>
      soon(() => {
        diagnosis.saved.push(find(id).id);
        return '/home/ada/evenkeel-crash.json';
      }),
    crashDelete: (id) =>
      soon(() => {
        find(id);
        diagnosis.crashes = diagnosis.crashes.filter((one) => one.id !== id);
      }),
  };
}
