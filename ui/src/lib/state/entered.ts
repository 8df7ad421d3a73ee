import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';
import type { OpenConversation } from './conversation.svelte';

export type Fake = ReturnType<typeof fakeBackend>;

/** For tests: the state of a window whose vault is open, on a backend of its own. */
export async function entered(
  options: Parameters<typeof fakeBackend>[0],
): Promise<{ app: App; backend: Fake }> {
  const backend = fakeBackend(options);
  const app = new App(backend);
  await app.start();
  await app.enter();
  return { app, backend };
}

/** The conversation that is shown. */
export function current(app: App): OpenConversation {
  const opened = app.chat.current;
  if (!opened) throw new Error('no conversation is shown');
  return opened;
}
