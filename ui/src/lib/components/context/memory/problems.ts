import { t } from '$lib/i18n';
import { EXTRACTION, mostOf, numberOf, standardOf } from '$lib/state/strategy';
import type { MemorySettings, StrategyChoice } from '$lib/state/types';
import { between, length, real, type Problems } from '$lib/components/shared/problems';
import { objectProblem, schemaProblem } from './schema';

export const MOST_GOALS = 20;
export const LONGEST_GOAL = 500;
export const MOST_LINKED = 20;
export const ANCHOR = { min: 1, max: 1_000 };
export const COUNT = { min: 1, max: 12 };
export const SHARE = { min: 1, max: 50 };

/** JSON that is being typed, by the field it is for; what can be used is no longer in here. */
export type Typed = Partial<Record<'strategy.config' | 'strategy.config.schema', string>>;

/** The field of a number of the strategy, as the core names it. */
export function fieldOf(name: string): string {
  return `strategy.config.${name}`;
}

/** What is wrong with the strategy and its settings, by field. */
export function strategyProblems(choice: StrategyChoice, typed: Typed): Problems {
  const found: Problems = {};
  for (const setting of standardOf(choice.pluginId)?.numbers ?? [])
    found[fieldOf(setting.name)] = between(
      numberOf(choice, setting),
      setting.min,
      mostOf(choice, setting),
    );
  if (choice.pluginId === EXTRACTION) {
    const text = typed['strategy.config.schema'];
    const schema = JSON.stringify(choice.config.schema ?? { type: 'object', properties: {} });
    found['strategy.config.schema'] = schemaProblem(text ?? schema) ?? undefined;
  } else if (typed['strategy.config'] !== undefined) {
    found['strategy.config'] = objectProblem(typed['strategy.config']) ?? undefined;
  }
  return real(found);
}

/** What is wrong with what is remembered beside the history, by field. */
export function memoryProblems({ recall, goals, anchorFromTurn }: MemorySettings): Problems {
  const goal = goals.map((one) => length(one, 0, LONGEST_GOAL)).find((one) => one !== undefined);
  return real({
    'memory.anchorFromTurn': between(anchorFromTurn, ANCHOR.min, ANCHOR.max),
    'memory.recall.count': recall.on ? between(recall.count, COUNT.min, COUNT.max) : undefined,
    'memory.recall.sharePercent': recall.on
      ? between(recall.sharePercent, SHARE.min, SHARE.max)
      : undefined,
    'memory.recall.linked':
      recall.linked.length > MOST_LINKED
        ? t('recall.linked.most', { max: MOST_LINKED })
        : undefined,
    'memory.goals': goals.length > MOST_GOALS ? t('goals.most', { max: MOST_GOALS }) : goal,
  });
}
