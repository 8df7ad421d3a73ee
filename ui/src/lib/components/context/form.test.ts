import { describe, expect, it } from 'vitest';
import { contextOf, presets } from '$lib/ipc/fake/seed';
import { draftOf, formOf, patchOf, problemsOf } from './form';

function context() {
  const [preset] = presets();
  if (!preset) throw new Error('no preset');
  const model = { providerId: 'provider-ollama', model: 'qwen3' };
  return { ...contextOf(preset, 'context-1', 0), model, tags: ['work'], anchor: 'Calm.' };
}

describe('what is sent of an edited companion', () => {
  it('is nothing where nothing was changed', () => {
    const before = context();
    expect(patchOf(before, draftOf(formOf(before)))).toEqual({});
  });

  it('is a changed tag alone, and not the lifetime', () => {
    const before = context();
    const form = { ...formOf(before), tags: ['work', 'home'] };
    expect(patchOf(before, draftOf(form))).toEqual({ tags: ['work', 'home'] });
    expect(patchOf(before, draftOf({ ...form, tags: [] }))).toEqual({ tags: [] });
  });

  it('says that an anchor, a lifetime or a model is taken away', () => {
    const before = context();
    const form = { ...formOf(before), anchor: ' ', never: true, model: null };
    expect(patchOf(before, draftOf(form))).toEqual({ anchor: '', expiryDays: 0, model: null });
    const other = { providerId: 'provider-ollama', model: 'gemma3' };
    expect(patchOf(before, draftOf({ ...formOf(before), model: other, days: 3 }))).toEqual({
      model: other,
      expiryDays: 3,
    });
  });
});

describe('memory and history in the form', () => {
  const strategy = (pluginId: string, config: Record<string, unknown>) => {
    return { type: 'plugin' as const, pluginId, config };
  };

  it('has no problem as it comes', () => {
    expect(problemsOf(formOf(context()))).toEqual({});
  });

  it.each([
    ['std-sliding-window-strategy', { keepPercent: 9 }, 'keepPercent'],
    ['std-sliding-window-strategy', { keepExchanges: 1.5 }, 'keepExchanges'],
    ['std-summarization-strategy', { threshold: null }, 'threshold'],
    ['std-summarization-strategy', { threshold: 3, turns: 4 }, 'turns'],
    ['std-summarization-strategy', { maxTokens: 4_001 }, 'maxTokens'],
    ['std-extraction-strategy', { lastN: -1 }, 'lastN'],
    ['std-extraction-strategy', { timeLimitMs: 99 }, 'timeLimitMs'],
    ['std-extraction-strategy', { schema: { type: 'array' } }, 'schema'],
  ])('says of %s with %j what is wrong', (id, config, field) => {
    const form = { ...formOf(context()), strategy: strategy(id, config) };
    expect(Object.keys(problemsOf(form))).toContain(`strategy.config.${field}`);
  });

  it('is not stored while its JSON is half typed, nor is what was typed', () => {
    const form = { ...formOf(context()), strategy: strategy('newest-and-first', {}) };
    form.typed = { 'strategy.config': '{"first":' };
    expect(Object.keys(problemsOf(form))).toEqual(['strategy.config']);
    expect(draftOf({ ...form, typed: {} })).not.toHaveProperty('typed');
  });

  it('drops goals in which nothing was written, and names one that is too long', () => {
    const form = formOf(context());
    form.memory.goals = [' Sleep ', ' '];
    expect([problemsOf(form), draftOf(form).memory.goals]).toEqual([{}, ['Sleep']]);
    form.memory.goals = ['x'.repeat(501)];
    expect(Object.keys(problemsOf(form))).toEqual(['memory.goals']);
  });

  it('checks the numbers of recall only where it is on', () => {
    const form = formOf(context());
    form.memory.recall = { ...form.memory.recall, count: 13, sharePercent: 51 };
    expect(problemsOf(form)).toEqual({});
    form.memory.recall.on = true;
    expect(Object.keys(problemsOf(form))).toEqual([
      ...['memory.recall.count', 'memory.recall.sharePercent'],
    ]);
  });
});
