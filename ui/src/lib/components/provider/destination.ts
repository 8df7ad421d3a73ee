import { t } from '$lib/i18n';
import type { Providers } from '$lib/state/providers.svelte';
import type { ModelChoice } from '$lib/state/types';
import { hostOf } from './templates';

/** Where the text for a model that runs elsewhere goes, for the question before it. */
export function destination(providers: Providers, choice: ModelChoice | null): string {
  const provider = providers.find(choice?.providerId);
  if (choice === null || provider === null) return '';
  // The address of a server that hands the text on says nothing of where it goes.
  if (providers.isHandedOn(choice)) return t('remote.handedOn', { name: provider.name });
  return hostOf(provider.baseUrl);
}
