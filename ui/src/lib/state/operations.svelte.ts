import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  LongOperationSettings,
  LongOperationStatus,
  Operation,
  OperationRule,
  OperationTool,
} from '../ipc/operations';
import type { ErrorBody } from '../ipc/types';
import type { Gathered } from './changes';

/** Operations that are read at once. */
const PAGE = 20;

/** What tools did in one conversation, the newest first. */
export class Operations {
  conversationId = $state<string | null>(null);
  list = $state.raw<Operation[]>([]);
  /** Those whose result is longer than it is shown. */
  shortened = $state.raw<ReadonlySet<string>>(new Set());
  tools = $state.raw<OperationTool[]>([]);
  total = $state(0);
  /** Only those of this tool. */
  toolName = $state<string | null>(null);
  loaded = $state(false);
  /** Who is told of long operations; `null` until that was read. */
  long = $state.raw<LongOperationStatus | null>(null);
  /** Why they could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  /** Why the last thing that was asked for was not done. */
  failure = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private pages = 1;
  private latest = 0;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async open(conversationId: string): Promise<void> {
    this.forget();
    this.conversationId = conversationId;
    await this.load();
  }

  /** Reads all pages that are shown anew. */
  async load(): Promise<void> {
    const { conversationId, toolName } = this;
    if (conversationId === null) return;
    this.latest += 1;
    const ticket = this.latest;
    const numbers = Array.from({ length: this.pages }, (_, at) => at + 1);
    try {
      const pages = await Promise.all(
        numbers.map((page) =>
          this.backend.operationList({ conversationId, page, pageSize: PAGE, toolName }),
        ),
      );
      if (ticket !== this.latest) return;
      this.list = pages.flatMap((page) => page.operations);
      this.shortened = new Set(pages.flatMap((page) => page.shortened));
      this.tools = pages[0]?.tools ?? [];
      this.total = pages[0]?.totalCount ?? 0;
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      if (ticket === this.latest) this.error = errorBody(thrown);
    }
  }

  /** Reads the next older ones too. */
  async more(): Promise<void> {
    if (this.list.length >= this.total) return;
    this.pages += 1;
    await this.load();
  }

  async choose(toolName: string | null): Promise<void> {
    this.toolName = toolName;
    this.pages = 1;
    await this.load();
  }

  /** Shows the whole of one that is shortened. */
  async showWhole(id: string): Promise<void> {
    const { conversationId } = this;
    if (conversationId === null) return;
    await this.attempt(async () => {
      const whole = await this.backend.operationGet(conversationId, id);
      this.list = this.list.map((one) => (one.id === id ? whole : one));
      this.shortened = new Set([...this.shortened].filter((one) => one !== id));
    });
  }

  async clear(): Promise<void> {
    const { conversationId } = this;
    if (conversationId === null) return;
    await this.attempt(() => this.backend.operationClear(conversationId));
    this.toolName = null;
    await this.load();
  }

  /** Writes them into a file; gives its path, or `null` where there is none. */
  async save(): Promise<string | null> {
    let path: string | null = null;
    await this.attempt(async () => {
      path = await this.backend.operationSave(this.conversationId);
    });
    return path;
  }

  /** Writes those of all conversations into a file; rejects where that fails. */
  saveAll(): Promise<string | null> {
    return this.backend.operationSave(null);
  }

  /** Who is told of long operations; rejects where that cannot be read. */
  async loadLong(): Promise<void> {
    this.long = await this.backend.operationLongStatus();
  }

  /** Sets it; gives why not. */
  async saveLong(settings: LongOperationSettings): Promise<ErrorBody | null> {
    try {
      this.long = await this.backend.operationLongSave(settings);
      return null;
    } catch (thrown) {
      return errorBody(thrown);
    }
  }

  /** What a rule finds in a result; rejects where it cannot be read. */
  tryRule(rule: OperationRule, result: string): Promise<string[]> {
    return this.backend.operationTryRule(rule, result);
  }

  /** Reads them again after a tool did something, or a message was deleted or brought back. */
  async follow(changed: Gathered): Promise<void> {
    const { conversationId } = this;
    if (conversationId === null) return;
    const ids = [changed.get('operation'), changed.get('conversation')];
    if (ids.some((some) => some?.has('') || some?.has(conversationId))) await this.load();
  }

  forget(): void {
    this.latest += 1;
    this.pages = 1;
    this.conversationId = this.toolName = null;
    this.list = [];
    this.shortened = new Set();
    this.tools = [];
    this.total = 0;
    this.loaded = false;
    this.error = this.failure = null;
  }

  private async attempt(task: () => Promise<void>): Promise<void> {
    this.failure = null;
    try {
      await task();
    } catch (thrown) {
      this.failure = errorBody(thrown);
    }
  }
}
