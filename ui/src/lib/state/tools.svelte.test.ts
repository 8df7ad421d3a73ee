import { describe, expect, it } from 'vitest';
import { fakeBackend } from '../ipc/fake';
import { current, entered } from './entered';
import { Reply } from './reply.svelte';
import { Tools } from './tools.svelte';

const draft = (name: string) => ({
  id: null,
  name,
  transport: { kind: 'stdio' as const, command: 'npx', args: ['server'] },
  env: null,
  token: null,
});

describe('servers of tools', () => {
  it('are tested when they are added, and listed with what was decided', async () => {
    const backend = fakeBackend({ demo: true });
    const tools = new Tools(backend);
    await tools.load();
    const before = tools.list.length;
    expect(await tools.save(draft('Files'))).toBeNull();
    await expect.poll(() => tools.list[before]?.server.tools.length).toBe(2);
    const added = tools.list[before]?.server.id ?? '';
    await tools.decide(added, 'write_file', 'allowed');
    expect(tools.list[before]?.rules).toEqual(['ask', 'allowed']);
    await tools.remove(added);
    expect(tools.list.length).toBe(before);
  });

  it('stay in the list when they do not answer, with the reason', async () => {
    const tools = new Tools(fakeBackend({ demo: true }));
    await tools.save(draft('broken'));
    await tools.save(draft('Files'));
    const [broken, files] = tools.list.map((view) => view.server.id);
    const ended = (id = ''): string | null | undefined =>
      tools.trials[id] && (tools.trials[id].error?.code ?? null);
    await expect.poll(() => ended(broken)).toBe('tool_failed');
    await expect.poll(() => ended(files)).toBeNull();
    expect([tools.testing.size, tools.failure]).toEqual([0, null]);
    expect(tools.list[0]?.server.listedAt).toBeNull();
  });
});

describe('a growing reply', () => {
  it('closes the question about a call that is over', () => {
    const reply = new Reply('context');
    const call = { id: '1', server: 'Files', tool: 'write_file', arguments: '{}' };
    const about = { description: 'Writes.', place: 'npx server', number: 1, count: 1 };
    reply.tool({ kind: 'toolQuestion', call, ...about });
    expect(reply.question?.call.id).toBe('1');
    reply.tool({ kind: 'toolEnded', call, end: 'refused', result: 'not run' });
    expect(reply.question).toBeNull();
    expect(reply.uses.map((use) => use.end)).toEqual(['refused']);
  });

  it('is told of where its question cannot be seen, until that is answered', async () => {
    const { app } = await entered({ demo: true });
    const waiting = (): string[] =>
      app.notices.list.flatMap(({ key }) => (key === 'tool.waits' ? [key] : []));
    const asking = current(app);
    const sending = asking.send('Write the plan down');
    app.page = 'settings';
    await expect.poll(waiting).toEqual(['tool.waits']);
    app.chat.begin(asking.contextId);
    const [notice] = app.notices.list;
    if (notice) app.notices.act(notice);
    expect([app.page, app.chat.current === asking, waiting()]).toEqual(['chat', true, []]);
    await asking.answerTool('once');
    expect(await sending).toBe(true);
    app.stop();
  });

  it('shows a call once, from its begin to its end', () => {
    const reply = new Reply('context');
    const call = { id: '1', server: 'Files', tool: 'read', arguments: '{}' };
    reply.tool({ kind: 'toolBegan', call });
    expect(reply.uses.map((use) => use.end)).toEqual([null]);
    reply.tool({ kind: 'toolEnded', call, end: 'done', result: 'text' });
    expect(reply.uses.map((use) => use.end)).toEqual(['done']);
  });
});
