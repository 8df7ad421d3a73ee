import type { Backend } from '../ipc/backend';
import type { Context, ContextDraft, ContextPatch, Preset, PresetOverrides } from '../ipc/types';
import { sendableFields } from './text';

/** The companions, and the presets new ones are made from. */
export class Contexts {
  list = $state.raw<Context[]>([]);
  presets = $state.raw<Preset[]>([]);
  loaded = $state(false);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    const [list, presets] = await Promise.all([
      this.backend.contextList(),
      this.backend.presetList(),
    ]);
    this.list = list;
    this.presets = presets.filter((preset) => preset.isActive);
    this.loaded = true;
  }

  async refresh(): Promise<void> {
    this.list = await this.backend.contextList();
  }

  find(id: string | null): Context | null {
    return this.list.find((context) => context.id === id) ?? null;
  }

  async create(draft: ContextDraft): Promise<Context> {
    return this.remember(await this.backend.contextCreate(sendableFields(draft)));
  }

  async createFromPreset(presetId: string, overrides: PresetOverrides = {}): Promise<Context> {
    return this.remember(await this.backend.contextCreateFromPreset(presetId, overrides));
  }

  async update(id: string, patch: ContextPatch): Promise<Context> {
    return this.remember(await this.backend.contextUpdate(id, sendableFields(patch)));
  }

  /** Gives an expired or ageing companion its whole lifetime again. */
  async extend(context: Context): Promise<Context> {
    return this.update(context.id, { expiryDays: context.expiryDays ?? 0 });
  }

  async remove(id: string): Promise<void> {
    await this.backend.contextDelete(id);
    this.list = this.list.filter((context) => context.id !== id);
  }

  private remember(context: Context): Context {
    const known = this.list.some((one) => one.id === context.id);
    this.list = known
      ? this.list.map((one) => (one.id === context.id ? context : one))
      : [...this.list, context];
    return context;
  }
}
