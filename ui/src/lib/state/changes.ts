import type { Change } from '../ipc/types';

const REST_MILLIS = 120;

/** What changed: the ids of each noun; the empty id stands for any of them. */
export type Gathered = ReadonlyMap<Change['noun'], ReadonlySet<string>>;

/** Gathers what changed: several writes make one round of fetching. */
export class Changes {
  private nouns = new Map<Change['noun'], Set<string>>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly tell: (changed: Gathered) => void;

  constructor(tell: (changed: Gathered) => void) {
    this.tell = tell;
  }

  note({ noun, id }: Change): void {
    const ids = this.nouns.get(noun) ?? new Set();
    this.nouns.set(noun, ids.add(id));
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const gathered = this.nouns;
      this.nouns = new Map();
      this.tell(gathered);
    }, REST_MILLIS);
  }
}
