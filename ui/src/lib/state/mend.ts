import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { EarlierMessages, Message } from '../ipc/types';

/** So many in a row may be gone before something else must be wrong. */
const MOST_GHOSTS = 8;

/** The branch as it is shown. */
interface Shown {
  messages: Message[];
  hasEarlier: boolean;
  hasLater: boolean;
}

/** What comes before the first of these that is still there, and how many before it are not. */
export async function earlierOf(
  backend: Backend,
  messages: Message[],
  limit: number,
): Promise<EarlierMessages & { ghosts: number }> {
  for (let ghosts = 0; ; ghosts += 1) {
    try {
      const page = await backend.conversationEarlier(messages[ghosts]?.id ?? '', limit);
      return { ...page, ghosts };
    } catch (thrown) {
      const last = ghosts + 1 >= Math.min(MOST_GHOSTS, messages.length);
      if (last || errorBody(thrown).code !== 'not_found') throw thrown;
    }
  }
}

/** Reads the places again at which messages changed, or were deleted, elsewhere. */
export async function mend(
  shown: Shown,
  backend: Backend,
  changed: ReadonlySet<string>,
): Promise<void> {
  const left = new Set(changed);
  for (let run = lastRun(shown.messages, left); run; run = lastRun(shown.messages, left)) {
    const { messages } = shown;
    for (const { id } of messages.slice(run.start, run.end)) left.delete(id);
    if (run.end < messages.length) await mendBefore(shown, backend, run);
    else await mendEnd(shown, backend, run);
  }
}

interface Run {
  start: number;
  end: number;
}

/** The last unbroken row of messages that are meant. */
function lastRun(messages: Message[], ids: ReadonlySet<string>): Run | null {
  const end = messages.findLastIndex((one) => ids.has(one.id)) + 1;
  if (end === 0) return null;
  return { start: messages.slice(0, end).findLastIndex((one) => !ids.has(one.id)) + 1, end };
}

/** One more than was there reaches the message before, which shows where the two join. */
async function mendBefore(shown: Shown, backend: Backend, { start, end }: Run): Promise<void> {
  const after = shown.messages.slice(end);
  const page = await earlierOf(backend, after, end - start + 1);
  // Meanwhile more may have been fetched at either end.
  const next = place(shown.messages, after[page.ghosts]);
  if (next < 0) return;
  const joint = place(shown.messages, page.messages[0]);
  const before = joint < 0 ? [] : shown.messages.slice(0, joint);
  shown.messages = [...before, ...page.messages, ...shown.messages.slice(next)];
  if (before.length === 0) shown.hasEarlier = page.hasEarlier;
}

async function mendEnd(shown: Shown, backend: Backend, { start, end }: Run): Promise<void> {
  const { messages } = shown;
  const last = messages[start - 1];
  if (!last) return;
  const page = await backend.messageAfter(last.id, end - start);
  // More has come to the end meanwhile, and was read later than this.
  if (shown.messages !== messages) return;
  shown.messages = [...messages.slice(0, start), ...page.messages];
  shown.hasLater = page.hasLater;
}

function place(messages: Message[], message: Message | undefined): number {
  return messages.findIndex((one) => one.id === message?.id);
}
