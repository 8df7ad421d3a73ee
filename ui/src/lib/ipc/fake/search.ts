import type { LifeBackend, SnippetPart } from '../life';
import type { Message } from '../types';
import type { Open } from './index';
import type { World } from './world';

const AROUND = 60;

/** A word as a pattern that finds nothing else. */
function literally(word: string): string {
  return word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The text around the first word found, in parts. */
function snippet(text: string, words: string[]): SnippetPart[] {
  const first = Math.min(...words.map((word) => text.toLowerCase().indexOf(word)));
  const start = Math.max(0, first - AROUND);
  const piece = text.slice(start, first + 2 * AROUND);
  const split = new RegExp(`(${words.map(literally).join('|')})`, 'i');
  return piece
    .split(split)
    .map((part) => ({ text: part, isMatch: words.includes(part.toLowerCase()) }))
    .filter((part) => part.text !== '');
}

/** Search and composer drafts of the in-memory backend. */
export function searchCalls(world: World, open: Open) {
  const key = (wanted: object): string => JSON.stringify(wanted);
  return {
    searchMessages: (query) =>
      open(() => {
        const words = query.text.toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (message: Message): boolean => {
          const conversation = world.conversation(message.conversationId);
          if (conversation.deletedAt !== null || world.privates.has(conversation.id)) return false;
          if (query.contextId && conversation.contextId !== query.contextId) return false;
          if (query.from && message.createdAt < query.from) return false;
          if (query.until && message.createdAt >= query.until) return false;
          return words.every((word) => message.content.toLowerCase().includes(word));
        };
        const place = (message: Message): number => world.messages.indexOf(message);
        return world.messages
          .filter((message) => !query.before || place(message) < Number(query.before))
          .filter(fits)
          .reverse()
          .slice(0, query.limit ?? 20)
          .map((message) => ({
            messageId: message.id,
            conversationId: message.conversationId,
            contextId: message.contextId,
            conversationTitle: world.conversation(message.conversationId).title,
            role: message.role,
            snippet: snippet(message.content, words),
            createdAt: message.createdAt,
            cursor: String(place(message)),
          }));
      }),
    draftGet: (wanted) => open(() => world.drafts.get(key(wanted)) ?? ''),
    draftPut: (wanted, text) =>
      open(() => {
        if (text === '') world.drafts.delete(key(wanted));
        else world.drafts.set(key(wanted), text);
      }),
  } satisfies Partial<LifeBackend>;
}
