import { locale, t, type MessageKey } from '$lib/i18n';
import type { Preset } from '$lib/state/types';

/** Whether a preset's metadata marks it as experimental. */
export function experimental(preset: Preset): boolean {
  try {
    const data: unknown = JSON.parse(preset.metadata);
    return (
      typeof data === 'object' &&
      data !== null &&
      'experimental' in data &&
      data.experimental === true
    );
  } catch {
    return false;
  }
}

/** What a preset is for: translated for the built-in ones, as written for the user's own. */
export function presetText(preset: Preset): string {
  const key = `${preset.id.replace('preset-', 'presets.')}`;
  return locale.has(key) ? t(key as MessageKey) : preset.description;
}
