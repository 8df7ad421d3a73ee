import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../ipc/error';
import { App } from './app.svelte';
import { entered, type Fake } from './entered';

let app: App;
let backend: Fake;
beforeEach(async () => {
  ({ app, backend } = await entered({ life: true }));
});
afterEach(() => vi.useRealTimers());

const texts = (): string[] => [...backend.world.drafts.values()];

function current() {
  const opened = app.chat.current;
  if (!opened) throw new Error('no conversation is shown');
  return opened;
}

describe('a draft in the vault', () => {
  it('is at most two seconds behind somebody who types without a rest', async () => {
    vi.useFakeTimers();
    let most = 0;
    for (let typed = 1; typed <= 60; typed += 1) {
      current().draft = 'x'.repeat(typed);
      await vi.advanceTimersByTimeAsync(200);
      most = Math.max(most, typed - (texts()[0]?.length ?? 0));
    }
    expect(most).toBeLessThanOrEqual(10);
    expect(texts()[0]?.length).toBeGreaterThan(50);
  });

  it('says once that it cannot be stored, and goes on trying', async () => {
    const put = vi.spyOn(backend, 'draftPut').mockRejectedValue(failure('disk_full', 'full'));
    for (const text of ['one', 'two', 'three']) {
      current().draft = text;
      await app.chat.flush();
      for (const { id } of app.notices.list.slice(1)) app.notices.dismiss(id);
    }
    expect(put).toHaveBeenCalledTimes(3);
    expect(app.notices.list.map(({ key, error }) => [key, error?.code])).toEqual([
      ['draft.unstored', 'disk_full'],
    ]);
    app.notices.clear();
    current().draft = 'four';
    await app.chat.flush();
    expect(app.notices.list).toEqual([]);
    put.mockRestore();
    // Nothing more is typed: whoever leaves tries all the same.
    await app.chat.flush();
    expect(texts()).toEqual(['four']);
  });

  it('is the newest text, however slowly the older one is stored', async () => {
    const real = backend.draftPut;
    let slow = 30;
    backend.draftPut = async (key, text) => {
      const wait = slow;
      slow = 0;
      await new Promise((done) => setTimeout(done, wait));
      await real(key, text);
    };
    current().draft = 'older';
    const first = app.chat.flush();
    current().draft = 'newer';
    await Promise.all([first, app.chat.flush()]);
    expect(texts()).toEqual(['newer']);
  });

  it('moves to a new conversation, also while it is being stored', async () => {
    app.chat.begin(app.chat.contextId ?? '');
    const { composer } = current();
    await composer.restore();
    composer.text = 'first words';
    const stored = composer.flush();
    composer.rekey({ conversation: 'fresh' });
    await stored;
    await composer.flush();
    expect([...backend.world.drafts]).toEqual([['{"conversation":"fresh"}', 'first words']]);
  });

  it('is stored before its companion goes, here or elsewhere', async () => {
    current().draft = 'half a thought';
    const id = app.chat.contextId ?? '';
    const context = app.contexts.find(id);
    if (!context) throw new Error('no context');
    await app.removal.context(context);
    expect(app.chat.contextId).not.toBe(id);
    expect(texts()).toEqual(['half a thought']);
    current().draft = 'another one';
    const next = app.chat.contextId ?? '';
    await backend.contextDelete(next);
    await app.removal.follow(new Set([next]));
    expect(texts()).toContain('another one');
  });

  it('is not written into a vault that is locked, or another one', async () => {
    const put = vi.spyOn(backend, 'draftPut');
    current().draft = 'too late';
    await app.vault.lock();
    app.leave();
    await new Promise((done) => setTimeout(done, 450));
    expect(put).not.toHaveBeenCalled();
    expect(app.notices.list).toEqual([]);
  });
});
