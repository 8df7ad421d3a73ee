import type { ToolEvent } from '../ipc/tools';
import type { App } from './app.svelte';
import type { OpenConversation } from './conversation.svelte';

/** Says that a tool waits for the user's word where its question cannot be seen, until that is over. */
export function tellOfQuestion(app: App, opened: OpenConversation, event: ToolEvent): void {
  const { id, contextId, reply } = opened;
  if (id === null || reply === null) return;
  const about = `tool:${id}`;
  if (event.kind !== 'toolQuestion') {
    app.notices.over(about);
    return;
  }
  if (app.page === 'chat' && app.chat.current === opened) return;
  const name = app.contexts.find(reply.agentId)?.name ?? '';
  const run = (): void => {
    app.page = 'chat';
    app.chat.show(id, contextId);
    void app.quietly(() => app.conversations.show(contextId));
  };
  const values = { name, tool: event.call.tool };
  app.notices.ask(about, 'tool.waits', values, { key: 'action.show', run });
}
