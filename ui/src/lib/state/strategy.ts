import type { MessageKey } from '../i18n/locale.svelte';
import type { Plugin, StrategyChoice } from '../ipc/types';

/** A setting of a standard strategy that is a whole number. */
export interface NumberSetting {
  name: string;
  min: number;
  max: number;
  /** What holds where nothing is said. */
  usual: number;
  label: MessageKey;
  hint: MessageKey;
}

export interface StandardStrategy {
  id: string;
  name: MessageKey;
  text: MessageKey;
  numbers: NumberSetting[];
}

export const FULL = 'std-full-strategy';
export const WINDOW = 'std-sliding-window-strategy';
export const SUMMARY = 'std-summarization-strategy';
export const EXTRACTION = 'std-extraction-strategy';

/** The strategies that come with the app, the standard first. */
export const STANDARD: StandardStrategy[] = [
  {
    id: WINDOW,
    name: 'strategy.window',
    text: 'strategy.window.text',
    numbers: [
      {
        ...{ name: 'keepPercent', min: 10, max: 95, usual: 60 },
        ...{ label: 'strategy.keepPercent', hint: 'strategy.keepPercent.hint' },
      },
      {
        ...{ name: 'keepExchanges', min: 1, max: 100, usual: 5 },
        ...{ label: 'strategy.keepExchanges', hint: 'strategy.keepExchanges.hint' },
      },
    ],
  },
  { id: FULL, name: 'strategy.full', text: 'strategy.full.text', numbers: [] },
  {
    id: SUMMARY,
    name: 'strategy.summary',
    text: 'strategy.summary.text',
    numbers: [
      {
        ...{ name: 'threshold', min: 2, max: 500, usual: 10 },
        ...{ label: 'strategy.threshold', hint: 'strategy.threshold.hint' },
      },
      {
        ...{ name: 'turns', min: 1, max: 500, usual: 5 },
        ...{ label: 'strategy.turns', hint: 'strategy.turns.hint' },
      },
      {
        ...{ name: 'maxTokens', min: 100, max: 4_000, usual: 800 },
        ...{ label: 'strategy.summaryTokens', hint: 'strategy.summaryTokens.hint' },
      },
      {
        ...{ name: 'rebuildEvery', min: 1, max: 100, usual: 5 },
        ...{ label: 'strategy.rebuildEvery', hint: 'strategy.rebuildEvery.hint' },
      },
    ],
  },
  {
    id: EXTRACTION,
    name: 'strategy.extraction',
    text: 'strategy.extraction.text',
    numbers: [
      {
        ...{ name: 'lastN', min: 0, max: 200, usual: 0 },
        ...{ label: 'strategy.lastN', hint: 'strategy.lastN.hint' },
      },
      {
        ...{ name: 'timeLimitMs', min: 100, max: 60_000, usual: 5_000 },
        ...{ label: 'strategy.timeLimit', hint: 'strategy.timeLimit.hint' },
      },
    ],
  },
];

/** A strategy that comes with the app. */
export function standardOf(id: string): StandardStrategy | null {
  return STANDARD.find((one) => one.id === id) ?? null;
}

/** A number as it holds: what was set, else what is usual; `null` where the field is empty. */
export function numberOf(choice: StrategyChoice, setting: NumberSetting): number | null {
  const set = choice.config[setting.name];
  if (set === undefined) return setting.usual;
  return typeof set === 'number' ? set : null;
}

/** Most that a number may be beside the others. */
export function mostOf(choice: StrategyChoice, setting: NumberSetting): number {
  if (setting.name !== 'turns') return setting.max;
  const threshold = standardOf(choice.pluginId)?.numbers.find((one) => one.name === 'threshold');
  const limit = threshold ? numberOf(choice, threshold) : null;
  return limit !== null && limit >= setting.min ? Math.min(limit, setting.max) : setting.max;
}

/** Those to compare: the chosen one as it is set, then the others as they come. */
export function candidates(chosen: StrategyChoice, plugins: Plugin[]): StrategyChoice[] {
  const installed = plugins.filter((one) => one.error === null).map((one) => one.id);
  const others = [...STANDARD.map((one) => one.id), ...installed].filter(
    (id) => id !== chosen.pluginId,
  );
  return [chosen, ...others.map((id) => ({ type: 'plugin' as const, pluginId: id, config: {} }))];
}
