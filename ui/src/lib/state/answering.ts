import type { ModelInfo, Provider } from '../ipc/types';

/** A family that makes embeddings, whatever its provider says of it. */
const EMBEDS = /(?:^|[/_-])e5-/i;

/** Whether a model can answer; what was entered by hand is meant, whatever it is called. */
export function answers(model: ModelInfo, provider: Provider | null = null): boolean {
  if (provider?.manualModels.includes(model.name)) return true;
  return !model.embedding && !EMBEDS.test(model.name);
}
