import type {
  Context,
  ContextDraft,
  ContextPatch,
  MemorySettings,
  ModelChoice,
  StrategyChoice,
} from '$lib/state/types';
import {
  length,
  limits,
  real,
  type LimitForm,
  type Problems,
} from '$lib/components/shared/problems';
import { memoryProblems, strategyProblems, type Typed } from './memory/problems';

/** A context as its form holds it: number fields may be empty while one types. */
export interface ContextForm extends LimitForm {
  name: string;
  systemPrompt: string;
  personality: string;
  /** Empty = made from name and personality. */
  anchor: string;
  tags: string[];
  model: ModelChoice | null;
  localOnly: boolean;
  maintainPersonality: boolean;
  presetId: string | null;
  strategy: StrategyChoice;
  memory: MemorySettings;
  /** JSON that is being typed and cannot be used yet. */
  typed: Typed;
}

/** The strategy of a new context. */
const STANDARD: StrategyChoice = {
  type: 'plugin',
  pluginId: 'std-sliding-window-strategy',
  config: {},
};

/** What a new context remembers. */
const MEMORY: MemorySettings = {
  recall: { on: false, count: 5, sharePercent: 15, embedder: null, linked: [] },
  goals: [],
  anchorFromTurn: 3,
};

const USUAL_DAYS = 7;

/** A copy that shares nothing; what a form holds may be a proxy, which cannot be cloned. */
function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** The form of a context, or of a new one. */
export function formOf(context: Context | null): ContextForm {
  return {
    name: context?.name ?? '',
    systemPrompt: context?.systemPrompt ?? '',
    personality: context?.personality ?? '',
    anchor: context?.anchor ?? '',
    tags: [...(context?.tags ?? [])],
    temperature: context?.temperature ?? 0.7,
    maxTokens: context?.maxTokens ?? 1_000,
    maxHistoryTokens: context?.maxHistoryTokens ?? 15_000,
    days: context?.expiryDays ?? USUAL_DAYS,
    never: context !== null && context.expiryDays === null,
    model: context?.model ? { ...context.model } : null,
    localOnly: context?.localOnly ?? false,
    maintainPersonality: context?.maintainPersonality ?? true,
    presetId: context?.presetId ?? null,
    strategy: copyOf(context?.strategy ?? STANDARD),
    memory: copyOf(context?.memory ?? MEMORY),
    typed: {},
  };
}

function written(goals: string[]): string[] {
  return goals.map((goal) => goal.trim()).filter((goal) => goal !== '');
}

/** What is sent; only for a form without problems. */
export function draftOf(form: ContextForm): ContextDraft {
  const { days, never, anchor, maxTokens, maxHistoryTokens, typed: _, ...rest } = form;
  return {
    ...rest,
    name: form.name.trim(),
    // A line in which nothing was written is no goal.
    memory: { ...form.memory, goals: written(form.memory.goals) },
    anchor: anchor.trim() === '' ? null : anchor,
    maxTokens: maxTokens ?? 0,
    maxHistoryTokens: maxHistoryTokens ?? 0,
    expiryDays: never ? null : days,
  };
}

function same(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return one === other;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => same(one[name as never], other[name as never]));
}

/** What a draft changes of the context it began as: a field that stays is not sent. */
export function patchOf(before: Context, draft: ContextDraft): ContextPatch {
  const { presetId: _, ...now } = draft;
  const then = draftOf(formOf(before));
  const changed = Object.entries(now).filter(
    ([name, value]) => !same(value, then[name as keyof ContextDraft]),
  );
  const patch = Object.fromEntries(changed) as ContextPatch;
  // For these two, null is said in a way of its own.
  if ('anchor' in patch) patch.anchor = patch.anchor ?? '';
  if ('expiryDays' in patch) patch.expiryDays = patch.expiryDays ?? 0;
  return patch;
}

/** Checks every field against its range. */
export function problemsOf(form: ContextForm): Problems {
  return real({
    name: length(form.name, 1, 120),
    systemPrompt: length(form.systemPrompt, 1, 32_000),
    personality: length(form.personality, 0, 8_000),
    anchor: length(form.anchor, 0, 2_000),
    ...limits(form),
    ...strategyProblems(form.strategy, form.typed),
    ...memoryProblems(form.memory),
  });
}
