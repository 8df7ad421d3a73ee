import type { Message } from '../ipc/types';

/** A place where a context answers under another wording of its persona than before. */
export interface PersonaChange {
  contextId: string;
  before: string;
  after: string;
}

/** Those places on a branch, by the message that is the first of the new wording. */
export function changes(messages: Message[]): Map<string, PersonaChange> {
  const last = new Map<string, string>();
  const found = new Map<string, PersonaChange>();
  for (const { id, role, contextId, revisionId } of messages) {
    if (role !== 'assistant' || revisionId === null) continue;
    const before = last.get(contextId);
    if (before !== undefined && before !== revisionId)
      found.set(id, { contextId, before, after: revisionId });
    last.set(contextId, revisionId);
  }
  return found;
}
