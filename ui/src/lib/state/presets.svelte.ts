import type { Backend } from '../ipc/backend';
import type { PresetDraft } from '../ipc/life';
import type { Preset } from '../ipc/types';
import { sendableFields } from './text';

const PAGE = 500;

/** The presets new companions are made from, hidden ones too; experimental ones first. */
export class Presets {
  list = $state.raw<Preset[]>([]);
  readonly active = $derived(this.list.filter((preset) => preset.isActive));
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    const query = { includeInactive: true, page: 1, pageSize: PAGE };
    this.list = (await this.backend.presetList(query)).presets;
  }

  async save(id: string | null, draft: PresetDraft): Promise<Preset> {
    const sent = sendableFields($state.snapshot(draft));
    return this.after(
      id === null ? this.backend.presetCreate(sent) : this.backend.presetUpdate(id, sent),
    );
  }

  async setActive(id: string, isActive: boolean): Promise<Preset> {
    return this.after(this.backend.presetSetActive(id, isActive));
  }

  async duplicate(id: string): Promise<Preset> {
    return this.after(this.backend.presetDuplicate(id));
  }

  /** A built-in one gets its shipped text back. */
  async reset(id: string): Promise<Preset> {
    return this.after(this.backend.presetReset(id));
  }

  async fromContext(contextId: string, name: string): Promise<Preset> {
    return this.after(this.backend.presetFromContext(contextId, name));
  }

  async remove(id: string): Promise<void> {
    await this.after(this.backend.presetDelete(id));
  }

  /** Forgets what was read from the vault. */
  clear(): void {
    this.list = [];
  }

  private async after<R>(work: Promise<R>): Promise<R> {
    const made = await work;
    await this.load();
    return made;
  }
}
