import { failure } from '../error';
import type { LifeBackend, PresetDraft } from '../life';
import type { Preset } from '../types';
import type { Open } from './index';
import { presets as shipped } from './seed';
import type { World } from './world';

function experimental(preset: Preset): boolean {
  return preset.metadata.includes('"experimental":true');
}

/** Presets of the in-memory backend. */
export function presetCalls(world: World, open: Open) {
  const told = (preset: Preset): Preset => {
    world.onChange({ noun: 'preset', id: preset.id });
    return preset;
  };
  const add = (draft: PresetDraft): Preset => {
    const time = world.now();
    const counts = { useCount: 0, thumbsUp: 0, thumbsDown: 0 };
    const state = { isActive: true, isBuiltIn: false, isEdited: false };
    const times = { createdAt: time, updatedAt: time };
    const made = { ...draft, ...counts, ...state, ...times, id: world.id('preset') };
    world.presets.push(made);
    return told(made);
  };
  const change = (id: string, fields: Partial<Preset>): Preset => {
    const preset = world.preset(id);
    return told(Object.assign(preset, fields, { isEdited: preset.isBuiltIn }));
  };
  return {
    presetList: (query) =>
      open(() => {
        const all = world.presets
          .filter((one) => one.isActive || (query.includeInactive ?? false))
          .sort((a, b) => Number(experimental(b)) - Number(experimental(a)));
        return { presets: all, totalCount: all.length };
      }),
    presetCreate: (draft) => open(() => add(checked(draft))),
    presetUpdate: (id, draft) => open(() => change(id, checked(draft))),
    presetSetActive: (id, isActive) => open(() => change(id, { isActive })),
    presetDelete: (id) =>
      open(() => {
        const preset = world.preset(id);
        if (preset.isBuiltIn) preset.isActive = false;
        else world.presets.splice(world.presets.indexOf(preset), 1);
        world.onChange({ noun: 'preset', id });
      }),
    presetDuplicate: (id) =>
      open(() => add({ ...world.preset(id), name: `${world.preset(id).name} (2)` })),
    presetReset: (id) =>
      open(() => {
        const original = shipped().find((one) => one.id === id);
        const { useCount, thumbsUp, thumbsDown } = world.preset(id);
        return told(Object.assign(world.preset(id), original, { useCount, thumbsUp, thumbsDown }));
      }),
    presetFromContext: (contextId, name) =>
      open(() => {
        const context = world.context(contextId);
        const { temperature, maxTokens, maxHistoryTokens, expiryDays, systemPrompt } = context;
        return add({
          name,
          description: '',
          systemPrompt,
          defaultPersonality: context.personality,
          defaultSettings: { temperature, maxTokens, maxHistoryTokens, expiryDays },
          metadata: '{}',
        });
      }),
  } satisfies Partial<LifeBackend>;
}

function checked(draft: PresetDraft): PresetDraft {
  try {
    JSON.parse(draft.metadata);
  } catch {
    const details = { field: 'metadata', value: draft.metadata.slice(0, 80), range: 'valid JSON' };
    throw failure('invalid_parameter', 'metadata is no JSON', details);
  }
  return draft;
}
