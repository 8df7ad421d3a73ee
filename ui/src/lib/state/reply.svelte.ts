import type { ErrorBody } from '../ipc/types';

/** A reply while it grows. Text arrives faster than frames, so it is shown once a frame. */
export class Reply {
  text = $state('');
  reasoning = $state('');
  notice = $state.raw<ErrorBody | null>(null);
  id: string | null = $state(null);
  /** The context that writes it. */
  readonly agentId: string;
  private waitingText = '';
  private waitingReasoning = '';
  private scheduled = false;

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  append(delta: string): void {
    this.waitingText += delta;
    this.schedule();
  }

  reason(delta: string): void {
    this.waitingReasoning += delta;
    this.schedule();
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
