import type { Snippet } from 'svelte';
import type { ModelChoice } from '$lib/state/types';

/** A model for work in the background: by its name at the provider that answers, or any. */
export type WorkModel = ModelChoice | string | null;

/** What a field for such a model is told. */
export interface WorkModelField {
  label: string;
  hint: string;
  /** What `null` stands for. */
  none: string;
  choice: WorkModel;
  /** It compares meanings instead of writing. */
  embedding: boolean;
  localOnly: boolean;
  testid: string;
  onchange: (choice: WorkModel) => void;
}

/** Draws such a field: models belong to another noun. */
export type WorkModelSnippet = Snippet<[WorkModelField]>;

/** A model as a strategy's settings hold it. */
export function workModelOf(value: unknown): WorkModel {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return null;
  const { providerId, model } = value as Partial<ModelChoice>;
  return typeof providerId === 'string' && typeof model === 'string' ? { providerId, model } : null;
}
