/** Where in the settings it is put right that a model does not answer, by the code of the error. */
const PLACES: Record<string, 'models' | 'providers'> = {
  no_model: 'models',
  local_only: 'models',
  model_file_missing: 'models',
  provider_model_not_found: 'models',
  provider_unauthorized: 'providers',
  provider_unreachable: 'providers',
  provider_address_refused: 'providers',
};

/** The part of the settings that an error sends to; `null` where it is not about the model. */
export function settingsFor(code: string | undefined): 'models' | 'providers' | null {
  return PLACES[code ?? ''] ?? null;
}
