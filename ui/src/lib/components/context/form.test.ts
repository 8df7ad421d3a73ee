import { describe, expect, it } from 'vitest';
import { contextOf, presets } from '$lib/ipc/fake/seed';
import { draftOf, formOf, patchOf } from './form';

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
