import type { FeatureInfo, Settings } from '../ipc/types';

/** Titles by the model have a setting and a flag; they are given where both are on. */
export const TITLES = 'automatic-titles';

/** Whether titles are given. */
export function titlesOn(settings: Settings): boolean {
  return settings.automaticTitles && settings.features[TITLES] !== false;
}

/** What turns them on or off, wherever it is asked; `null` goes back to the default. */
export function titlesPatch(settings: Settings, on: boolean | null): Partial<Settings> {
  const { [TITLES]: _, ...features } = settings.features;
  return { automaticTitles: on ?? true, features };
}

/** The flag as it works together with the setting. */
export function withSetting(feature: FeatureInfo, settings: Settings): FeatureInfo {
  if (feature.id !== TITLES) return feature;
  const { automaticTitles } = settings;
  return {
    ...feature,
    isOn: feature.isOn && automaticTitles,
    isDefault: feature.isDefault && automaticTitles,
  };
}
