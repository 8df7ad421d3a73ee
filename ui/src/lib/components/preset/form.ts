import { t } from '$lib/i18n';
import type { Preset, PresetDraft } from '$lib/state/types';
import {
  length,
  limits,
  real,
  type LimitForm,
  type Problems,
} from '$lib/components/shared/problems';

/** A preset as its form holds it: number fields may be empty while one types. */
export interface PresetFormFields extends LimitForm {
  name: string;
  description: string;
  systemPrompt: string;
  defaultPersonality: string;
  metadata: string;
}

/** Metadata as it is edited: one entry a line. */
function pretty(metadata: string): string {
  try {
    return JSON.stringify(JSON.parse(metadata), null, 2);
  } catch {
    return metadata;
  }
}

/** The form of a preset, or of a new one. */
export function formOf(preset: Preset | null): PresetFormFields {
  const settings = preset?.defaultSettings;
  return {
    name: preset?.name ?? '',
    description: preset?.description ?? '',
    systemPrompt: preset?.systemPrompt ?? '',
    defaultPersonality: preset?.defaultPersonality ?? '',
    temperature: settings?.temperature ?? 0.7,
    maxTokens: settings?.maxTokens ?? 1_000,
    maxHistoryTokens: settings?.maxHistoryTokens ?? 15_000,
    days: settings?.expiryDays ?? 7,
    never: settings?.expiryDays === null,
    metadata: pretty(preset?.metadata ?? '{}'),
  };
}

/** What is sent; only for a form without problems. */
export function draftOf(form: PresetFormFields): PresetDraft {
  return {
    name: form.name.trim(),
    description: form.description,
    systemPrompt: form.systemPrompt,
    defaultPersonality: form.defaultPersonality,
    defaultSettings: {
      temperature: form.temperature,
      maxTokens: form.maxTokens ?? 0,
      maxHistoryTokens: form.maxHistoryTokens ?? 0,
      expiryDays: form.never ? null : form.days,
    },
    metadata: JSON.stringify(JSON.parse(form.metadata)),
  };
}

/** Why a text is no JSON; `undefined` where it is. */
export function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (thrown) {
    const where = thrown instanceof Error ? thrown.message : '';
    return t('preset.metadata.invalid', { where });
  }
}

/** Checks every field against its range. */
export function problemsOf(form: PresetFormFields): Problems {
  return real({
    name: length(form.name, 1, 120),
    systemPrompt: length(form.systemPrompt, 1, 32_000),
    defaultPersonality: length(form.defaultPersonality, 0, 8_000),
    ...limits(form),
    metadata: jsonProblem(form.metadata),
  });
}
