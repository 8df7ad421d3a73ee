import { beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { fakeBackend } from '../ipc/fake';
import { App } from './app.svelte';
import { candidates, mostOf, numberOf, standardOf, SUMMARY, WINDOW } from './strategy';

let app: App;
let backend: ReturnType<typeof fakeBackend>;

beforeEach(async () => {
  backend = fakeBackend({ life: true });
  app = new App(backend);
  await app.start();
  await app.enter();
});

const titled = (title: string) => {
  const found = backend.world.conversations.find((one) => one.title === title);
  if (!found) throw new Error(title);
  return found;
};
const lastReply = (title: string): string => titled(title).activeLeafId ?? '';

describe('a receipt', () => {
  it('is shown before its request is put together again', async () => {
    const { receipts } = app.prompting;
    let go = (): void => undefined;
    const real = backend.receiptRequest;
    backend.receiptRequest = async (id) => {
      await new Promise<void>((done) => (go = done));
      return real(id);
    };
    const shown = receipts.show(lastReply('A letter to my landlord'));
    await vi.waitFor(() => expect(receipts.open?.sheet).not.toBeNull());
    expect([receipts.open?.loading, receipts.open?.texts]).toEqual([false, null]);
    go();
    await shown;
    expect(receipts.open?.texts?.length).toBe(receipts.open?.sheet?.blocks.length);
    expect(receipts.open?.request?.matches).toBe(true);
  });

  it('that is absent or cannot be read is told apart, and is read again', async () => {
    const { receipts } = app.prompting;
    const id = lastReply('A letter to my landlord');
    backend.world.memory.unrecorded.add(id);
    await receipts.show(id);
    expect([receipts.open?.absent, receipts.open?.error]).toEqual([true, null]);
    const real = backend.receiptGet;
    backend.receiptGet = () => Promise.reject(failure('storage', 'gone'));
    await receipts.show(id);
    expect([receipts.open?.absent, receipts.open?.error?.code]).toEqual([false, 'storage']);
    backend.receiptGet = real;
    backend.world.memory.unrecorded.clear();
    if (receipts.open) await receipts.fill(receipts.open);
    expect([receipts.open?.error, receipts.open?.sheet?.receipt?.replyId]).toEqual([null, id]);
  });

  it('is still shown where its request cannot be put together', async () => {
    const { receipts } = app.prompting;
    backend.receiptRequest = () => Promise.reject(failure('storage', 'gone'));
    await receipts.show(lastReply('A letter to my landlord'));
    expect(receipts.open?.sheet).not.toBeNull();
    expect(receipts.open?.requestError?.code).toBe('storage');
  });

  it('goes with the vault', async () => {
    await app.prompting.receipts.show(lastReply('A letter to my landlord'));
    app.leave();
    expect(app.prompting.receipts.open).toBeNull();
  });
});

describe('a preview', () => {
  it('holds what is written, with the companion that is to answer', async () => {
    const opened = app.chat.current;
    if (!opened) throw new Error('no conversation');
    opened.draft = 'And tomorrow?';
    opened.agentId = 'context-preset-rational-advisor';
    await app.prompting.receipts.preview(opened.intended);
    const shown = app.prompting.receipts.open;
    expect(shown?.texts).toContain('And tomorrow?');
    expect(shown?.body).toContain('Rational Advisor');
    expect([shown?.replyId, opened.draft]).toEqual([null, 'And tomorrow?']);
  });

  it('that fails says why', async () => {
    backend.chatPreview = () => Promise.reject(failure('no_model', 'none'));
    await app.prompting.receipts.preview({ kind: 'regenerate', messageId: 'x' });
    const { open } = app.prompting.receipts;
    expect([open?.error?.code, open?.loading]).toEqual(['no_model', false]);
  });
});

describe('strategies', () => {
  it('are compared with the chosen one as it is set, each once', () => {
    const chosen = { type: 'plugin' as const, pluginId: SUMMARY, config: { threshold: 20 } };
    const all = candidates(chosen, backend.world.memory.plugins);
    expect(all[0]).toBe(chosen);
    const ids = all.map((one) => one.pluginId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain('newest-and-first');
    expect(ids).not.toContain('topic-clusters');
  });

  it('have numbers with their usual values, and turns no more than the threshold', () => {
    const choice = { type: 'plugin' as const, pluginId: SUMMARY, config: { threshold: 4 } };
    const setting = (name: string) => {
      const found = standardOf(SUMMARY)?.numbers.find((one) => one.name === name);
      if (!found) throw new Error(name);
      return found;
    };
    expect([numberOf(choice, setting('threshold')), numberOf(choice, setting('turns'))]).toEqual([
      4, 5,
    ]);
    expect([mostOf(choice, setting('turns')), mostOf(choice, setting('maxTokens'))]).toEqual([
      4, 4_000,
    ]);
    const empty = { ...choice, config: { threshold: null } };
    expect([numberOf(empty, setting('threshold')), mostOf(empty, setting('turns'))]).toEqual([
      null,
      500,
    ]);
    expect(standardOf(WINDOW)?.numbers.map((one) => one.usual)).toEqual([60, 5]);
  });
});

describe('the memory of a conversation', () => {
  it('is read anew after a change, with earlier values on request', async () => {
    const { memory } = app.prompting;
    const { id } = titled('Ninety small steps');
    await memory.open(id);
    expect(memory.values.map((one) => one.name)).toEqual([
      ...['deadline', 'peopleInTheTeam', 'preferredName', 'sleepsWell'],
    ]);
    expect(memory.summaries.map((one) => one.isStale)).toEqual([false, true]);
    expect(await memory.set('deadline', '"2026-07-01"')).toBeNull();
    await memory.showPast(true);
    const deadlines = memory.values.filter((one) => one.name === 'deadline');
    expect(deadlines.map((one) => [one.value, one.validTo === null])).toEqual([
      ['"2026-07-01"', true],
      ['"2026-06-01"', false],
      ['"2026-05-20"', false],
    ]);
    backend.world.memory.summaries = [];
    backend.emit('change', { noun: 'message', id: '' });
    await vi.waitFor(() => expect(memory.summaries).toEqual([]));
  });

  it('keeps what is shown where a change fails', async () => {
    const { memory } = app.prompting;
    await memory.open(titled('Ninety small steps').id);
    expect((await memory.editSummary('summary-2', ' '))?.code).toBe('invalid_parameter');
    expect((await memory.pin('nothing', true))?.code).toBe('not_found');
    expect([memory.summaries.length, memory.error]).toEqual([2, null]);
  });

  it('of another conversation never shows the one before', async () => {
    const { memory } = app.prompting;
    const slow = memory.open(titled('Ninety small steps').id);
    await memory.open(titled('A letter to my landlord').id);
    await slow;
    expect([memory.summaries, memory.values, memory.loaded]).toEqual([[], [], true]);
  });
});

describe('installed strategies', () => {
  it('take the place of another version only by the user’s word', async () => {
    const { plugins } = app.prompting;
    await plugins.load();
    expect(await plugins.add()).toBe(false);
    expect([plugins.conflict?.installed, plugins.conflict?.offered]).toEqual(['1.2.0', '1.3.0']);
    expect([plugins.failure, plugins.find('newest-and-first')?.version]).toEqual([null, '1.2.0']);
    expect(await plugins.replace()).toBe(true);
    expect([plugins.conflict, plugins.find('newest-and-first')?.version]).toEqual([null, '1.3.0']);
  });

  it('that are refused say why; a closed dialog is no failure', async () => {
    const { plugins } = app.prompting;
    backend.world.memory.folder = '/tmp/Not one';
    expect(await plugins.add()).toBe(false);
    expect(plugins.failure?.code).toBe('invalid_parameter');
    backend.world.memory.folder = null;
    expect(await plugins.add()).toBe(false);
    expect([plugins.failure, plugins.busy]).toEqual([null, false]);
  });
});
