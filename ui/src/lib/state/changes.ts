const REST_MILLIS = 120;

/** Gathers what changed: several writes make one round of fetching. */
export class Changes {
  private readonly nouns = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly tell: (nouns: ReadonlySet<string>) => void;

  constructor(tell: (nouns: ReadonlySet<string>) => void) {
    this.tell = tell;
  }

  note(noun: string): void {
    this.nouns.add(noun);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const gathered = new Set(this.nouns);
      this.nouns.clear();
      this.tell(gathered);
    }, REST_MILLIS);
  }
}
