import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ErrorBody, FeatureInfo } from '../ipc/types';
import type { SettingsState } from './settings.svelte';
import { TITLES, titlesPatch, withSetting } from './titles';

/** What can be turned on and off while it is rolled out. */
export class Features {
  private found = $state.raw<FeatureInfo[]>([]);
  error = $state.raw<ErrorBody | null>(null);
  private readonly backend: Backend;
  private readonly settings: SettingsState;

  constructor(backend: Backend, settings: SettingsState) {
    this.backend = backend;
    this.settings = settings;
  }

  /** Every feature, and whether it is on. */
  get list(): FeatureInfo[] {
    return this.found.map((feature) => withSetting(feature, this.settings.value));
  }

  async load(): Promise<void> {
    try {
      this.found = await this.backend.featureList();
      this.error = null;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Turns a feature on or off; `null` goes back to its default. Flags unknown here stay. */
  async set(id: string, on: boolean | null): Promise<void> {
    const { value } = this.settings;
    const { [id]: _, ...others } = value.features;
    const features = on === null ? others : { ...others, [id]: on };
    await this.settings.save(id === TITLES ? titlesPatch(value, on) : { features });
    await this.load();
  }
}
