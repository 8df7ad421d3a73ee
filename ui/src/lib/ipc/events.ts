/** What the shell tells the windows of. */
import type { Noun } from './bindings';
import type { ContextExpiring } from './upkeep';

/** Something was written; what shows it fetches again. The vault itself is told of by the shell. */
export interface Change {
  noun: Noun | 'vault';
  /** Empty where any of the noun may have changed. */
  id: string;
}

export interface EngineNews {
  kind: 'started' | 'crashed' | 'unloaded';
  message: string;
}

/** Events of the shell, by name. */
export interface ShellEvents {
  change: Change;
  /** A conversation waits to be shown; `quickChatMoved` gives it. */
  navigate: null;
  engine: EngineNews;
  contextExpiring: ContextExpiring;
}
