import type { ConversationPlace, ConversationQuery } from '../ipc/life';
import type { Conversation } from '../ipc/types';
import { sendable } from './text';

/** What a list of conversations is narrowed to. */
export interface ConversationFilter {
  text: string;
  tag: string | null;
  archived: boolean;
}

export const ALL: ConversationFilter = { text: '', tag: null, archived: false };

/** The conversations of a context that a filter leaves. */
export function queryOf(contextId: string, filter: ConversationFilter): ConversationQuery {
  const { text, tag, archived } = filter;
  return { contextId, text: sendable(text.trim()) || null, tag, includeArchived: archived };
}

/** Where a conversation stands in its list: a part can begin after it. */
export function placeOf({ id, isPinned, lastActivityAt }: Conversation): ConversationPlace {
  return { id, isPinned, lastActivityAt };
}
