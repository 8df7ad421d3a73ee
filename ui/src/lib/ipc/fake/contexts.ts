import { failure } from '../error';
import type { ContextQuery, LifeBackend, PersonaAdvice, PersonaDraft } from '../life';
import type { Context, ContextPatch, ModelChoice } from '../types';
import type { Open } from './index';
import { contextOf, expiry } from './seed';
import type { World } from './world';

const PERSONA = ['name', 'systemPrompt', 'personality', 'anchor'] as const;

/** Which contexts a query means, in its order. */
function listed(world: World, query: ContextQuery): Context[] {
  const has = (text: string, part: string): boolean =>
    text.toLowerCase().includes(part.toLowerCase());
  const alive = (one: Context): boolean =>
    one.isActive && (one.expiresAt === null || new Date(one.expiresAt).getTime() > Date.now());
  return world.contexts
    .filter((one) => (one.deletedAt !== null) === (query.onlyDeleted ?? false))
    .filter((one) => query.onlyDeleted || query.includeExpired || alive(one))
    .filter((one) => !query.tag || one.tags.includes(query.tag))
    .filter((one) => !query.text || has(one.name, query.text) || has(one.personality, query.text))
    .sort((a, b) => b.lastInteractionAt.localeCompare(a.lastInteractionAt));
}

/** What the core says about a persona, in short. */
function advise(draft: PersonaDraft, window: number): PersonaAdvice[] {
  const { name, systemPrompt } = draft;
  const advice: PersonaAdvice[] = [];
  const say = (code: string, quote: string | null, details: Record<string, string> = {}): void => {
    advice.push({ code, field: 'systemPrompt', quote, message: code, details });
  };
  if (systemPrompt.trim() === '') return [];
  if (systemPrompt.length > 8_000) {
    const tokens = String(Math.ceil(systemPrompt.length / 4));
    say('too_long_for_window', null, { tokens, window: '8192' });
  }
  if ((draft.maxTokens ?? 0) > window / 2) {
    const details = { tokens: String(window / 2), window: String(window) };
    const code = 'reply_too_long';
    advice.push({ code, field: 'maxTokens', quote: null, message: code, details });
  }
  const second = /\byou (?:are|must|will|should)\b[^.]*/i.exec(systemPrompt);
  if (second) say('second_person', second[0]);
  else if (name !== '' && !systemPrompt.includes(name)) say('name_missing', null);
  if (!/calm|stays|view of|holds/i.test(systemPrompt)) say('no_stance', null);
  const hostile = /\b(?:insults?|threatens?|manipulates?)\b[^.]*/i.exec(systemPrompt);
  if (hostile) say('instructs_hostility', hostile[0]);
  return advice;
}

function windowOf(world: World, model: ModelChoice | null): number {
  const choice = model ?? world.settings.defaultModel;
  return choice?.providerId === 'engine' || choice === null ? 8_192 : 32_768;
}

/** Contexts of the in-memory backend. */
export function contextCalls(world: World, open: Open) {
  const told = (context: Context): Context => {
    world.onChange({ noun: 'context', id: context.id });
    return context;
  };
  return {
    contextList: (query) =>
      open(() => {
        const all = listed(world, query);
        const size = query.pageSize ?? 10;
        const { after } = query;
        const rest = after ? all.slice(all.findIndex((one) => one.id === after.id) + 1) : all;
        const start = ((query.page ?? 1) - 1) * size;
        return { contexts: rest.slice(start, start + size), totalCount: all.length };
      }),
    contextGet: (id) => open(() => world.context(id)),
    contextCreate: (draft) =>
      open(() => {
        check(draft);
        checkReply(world, draft.model, draft.maxTokens);
        const template = world.presets[0];
        if (!template) throw failure('internal', 'no presets');
        const made = { ...contextOf(template, world.id('context'), 0), ...draft };
        return told(world.join({ ...made, expiresAt: expiry(draft.expiryDays) }));
      }),
    contextCreateFromPreset: (presetId, overrides) =>
      open(() => {
        const preset = world.preset(presetId);
        preset.useCount += 1;
        const made = { ...contextOf(preset, world.id('context'), 0), ...overrides };
        const expiryDays = made.expiryDays === 0 ? null : made.expiryDays;
        const born = { expiryDays, expiresAt: expiry(expiryDays), lastInteractionAt: world.now() };
        return told(world.join({ ...made, ...born }));
      }),
    contextUpdate: (id, patch) => open(() => told(update(world, world.context(id), patch))),
    ...lifeOf(world, open, told),
    contextAdvice: (draft, model) => open(() => advise(draft, windowOf(world, model))),
    contextRecommendedHistory: (model) =>
      open(() => {
        const window = windowOf(world, model);
        return { window, maxHistoryTokens: window - 1_000 };
      }),
  } satisfies Partial<LifeBackend>;
}

function check(patch: ContextPatch): void {
  if (patch.name !== undefined && patch.name.trim() === '') {
    const details = { field: 'name', value: '0 characters', range: '1 to 120 visible characters' };
    throw failure('invalid_parameter', 'name is 0 characters', details);
  }
}

function checkReply(world: World, model: ModelChoice | null, maxTokens: number): void {
  const window = windowOf(world, model);
  if (maxTokens <= window / 2) return;
  const range = `1 to ${window / 2}, half of the model's window of ${window}`;
  const details = { field: 'maxTokens', value: String(maxTokens), range };
  throw failure('invalid_parameter', `maxTokens is ${maxTokens}`, details);
}

function update(world: World, context: Context, patch: ContextPatch): Context {
  check(patch);
  if (patch.maxTokens !== undefined || patch.model !== undefined)
    checkReply(world, patch.model ?? context.model, patch.maxTokens ?? context.maxTokens);
  const { expiryDays, anchor, ...rest } = patch;
  Object.assign(context, rest);
  if (anchor !== undefined && anchor !== null)
    context.anchor = anchor.trim() === '' ? null : anchor;
  const days = expiryDays === 0 ? null : expiryDays;
  if (days !== undefined && days !== context.expiryDays) {
    Object.assign(context, { expiryDays: days, expiresAt: expiry(days), isActive: true });
  }
  if (PERSONA.some((field) => field in patch)) world.reword(context);
  return context;
}

function lifeOf(world: World, open: Open, told: (context: Context) => Context) {
  const revive = (context: Context): Context => {
    Object.assign(context, { isActive: true, deletedAt: null });
    world.touch(context, world.now());
    return told(context);
  };
  return {
    contextDuplicate: (id) =>
      open(() => {
        const old = world.context(id);
        const copy = { ...old, id: world.id('context'), name: `${old.name} (2)` };
        return told(world.join({ ...copy, tags: [...old.tags] }));
      }),
    contextDelete: (id) =>
      open(() => {
        const gone = { isActive: false, deletedAt: new Date().toISOString() };
        told(Object.assign(world.context(id), gone));
      }),
    contextRestore: (id) => open(() => revive(world.context(id))),
    contextExtend: (id) => open(() => revive(world.context(id))),
    contextPurge: (id) =>
      open(() => {
        world.contexts.splice(world.contexts.indexOf(world.context(id)), 1);
        world.onChange({ noun: 'context', id });
      }),
    contextRevisions: (id) =>
      open(() => {
        const count = (revisionId: string): number =>
          world.messages.filter((one) => one.revisionId === revisionId).length;
        const uses = world.revisions.get(world.context(id).id) ?? [];
        return uses.map((use) => ({ ...use, messageCount: count(use.revision.id) })).reverse();
      }),
    contextRestoreRevision: (id, revisionId) =>
      open(() => {
        const uses = world.revisions.get(id) ?? [];
        const use = uses.find(({ revision }) => revision.id === revisionId);
        if (!use) throw failure('not_found', `There is no revision ${revisionId}.`, { id });
        const { name, systemPrompt, personality, anchor } = use.revision;
        const patch = { name, systemPrompt, personality, anchor: anchor ?? '' };
        return told(update(world, world.context(id), patch));
      }),
  } satisfies Partial<LifeBackend>;
}
