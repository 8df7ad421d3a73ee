import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ErrorBody, FeatureInfo } from '../ipc/types';
import type { SettingsState } from './settings.svelte';

/** What can be turned on and off while it is rolled out. */
export class Features {
  list = $state.raw<FeatureInfo[]>([]);
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private readonly settings: SettingsState;

  constructor(backend: Backend, settings: SettingsState) {
    this.backend = backend;
    this.settings = settings;
  }

  async load(): Promise<void> {
    try {
      this.list = await this.backend.featureList();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Turns a feature on or off; `null` goes back to its default. Flags unknown here stay. */
  async set(id: string, on: boolean | null): Promise<void> {
    const { [id]: _, ...others } = this.settings.value.features;
    await this.settings.save({ features: on === null ? others : { ...others, [id]: on } });
    await this.load();
  }
}
