import type { Conversation, ConversationPage } from '../ipc/types';

/**
 * A list with its first page read anew, the rest as it was. `null` where that page does not tell
 * all: a changed row is further down or gone, or rows came or went that nobody named.
 */
export function merged(
  list: Conversation[],
  totalCount: number,
  page: ConversationPage,
  changed: ReadonlySet<string>,
): Conversation[] | null {
  const first = new Set(page.items.map((one) => one.id));
  const rest = list.filter((one) => !first.has(one.id));
  if (rest.some((one) => changed.has(one.id))) return null;
  const came = rest.length + page.items.length - list.length;
  return page.totalCount === totalCount + came ? [...page.items, ...rest] : null;
}
