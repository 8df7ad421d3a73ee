import type { ToolEnd, ToolEvent, ToolUse } from '../ipc/tools';
import type { ErrorBody } from '../ipc/types';

/** A call of a tool as it is shown. */
export interface ShownUse {
  call: ToolUse;
  /** `null` while it runs. */
  end: ToolEnd | null;
  result: string;
}

/** A reply while it grows. Text arrives faster than frames, so it is shown once a frame. */
export class Reply {
  text = $state('');
  reasoning = $state('');
  notice = $state.raw<ErrorBody | null>(null);
  id: string | null = $state(null);
  /** What tools did for it, in order. */
  uses = $state.raw<ShownUse[]>([]);
  /** A tool waits for the user's word. */
  question = $state.raw<Extract<ToolEvent, { kind: 'toolQuestion' }> | null>(null);
  /** The context that writes it. */
  readonly agentId: string;
  private readonly onTool: (event: ToolEvent) => void;
  private waitingText = '';
  private waitingReasoning = '';
  private scheduled = false;

  constructor(agentId: string, onTool: (event: ToolEvent) => void = () => undefined) {
    this.agentId = agentId;
    this.onTool = onTool;
  }

  append(delta: string): void {
    this.waitingText += delta;
    this.schedule();
  }

  reason(delta: string): void {
    this.waitingReasoning += delta;
    this.schedule();
  }

  /** Notes what is told of a tool. */
  tool(event: ToolEvent): void {
    this.onTool(event);
    if (event.kind === 'toolQuestion') {
      this.question = event;
      return;
    }
    const { call } = event;
    if (this.question?.call.id === call.id) this.question = null;
    const use: ShownUse =
      event.kind === 'toolBegan'
        ? { call, end: null, result: '' }
        : { call, end: event.end, result: event.result };
    this.uses = [...this.uses.filter((one) => one.call.id !== call.id), use];
  }

  /** Closes the question; gives the id of its call. */
  settle(): string | undefined {
    const id = this.question?.call.id;
    this.question = null;
    return id;
  }

  /** Shows all that has arrived. */
  flush(): void {
    this.scheduled = false;
    if (this.waitingText !== '') this.text += this.waitingText;
    if (this.waitingReasoning !== '') this.reasoning += this.waitingReasoning;
    this.waitingText = '';
    this.waitingReasoning = '';
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // Hidden windows get no frames, but the text must not pile up.
    if (document.visibilityState === 'visible') requestAnimationFrame(() => this.flush());
    else setTimeout(() => this.flush(), 200);
  }
}
