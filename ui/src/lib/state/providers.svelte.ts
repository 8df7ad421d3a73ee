import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  ErrorBody,
  ModelChoice,
  ModelFileRemoval,
  ModelInfo,
  ModelOffer,
  Provider,
  ProviderDraft,
  ProviderTest,
} from '../ipc/types';
import { runsInCloud } from './locality';

/** The models of one provider, or why they could not be listed. */
export interface Shelf {
  provider: Provider;
  models: ModelInfo[];
  error: ErrorBody | null;
}

/** The places that run models, their models, and what fits this machine. */
export class Providers {
  list = $state.raw<Provider[]>([]);
  shelves = $state.raw<Shelf[]>([]);
  offers = $state.raw<ModelOffer[]>([]);
  looking = $state(false);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  async load(): Promise<void> {
    this.list = await this.backend.providerList();
  }

  find(id: string | undefined): Provider | null {
    return this.list.find((provider) => provider.id === id) ?? null;
  }

  /** A choice, unless its provider was removed. */
  known(choice: ModelChoice | null): ModelChoice | null {
    return this.find(choice?.providerId) === null ? null : choice;
  }

  /** Whether a choice sends text off this machine; an unknown provider counts as elsewhere. */
  isRemote(choice: ModelChoice | null): boolean {
    if (choice === null) return false;
    return this.find(choice.providerId)?.locality !== 'local' || this.isHandedOn(choice);
  }

  /** Whether a server on this machine only hands the requests for a model on. */
  isHandedOn({ providerId, model }: ModelChoice): boolean {
    const provider = this.find(providerId);
    if (provider?.locality !== 'local' || provider.kind === 'engine') return false;
    const shelf = this.shelves.find((one) => one.provider.id === providerId);
    const listed = shelf?.models.find((one) => one.name === model);
    return listed?.locality === 'remote' || runsInCloud(model);
  }

  /** Whether going from one model to another begins to send text off this machine. */
  leavesMachine(from: ModelChoice | null, to: ModelChoice): boolean {
    return this.isRemote(to) && (!this.isRemote(from) || from?.providerId !== to.providerId);
  }

  /** Lists the models of every provider; one that fails does not hide the others. */
  async stock(): Promise<void> {
    this.looking = true;
    await this.load();
    const empty = this.list.map((provider): Shelf => ({ provider, models: [], error: null }));
    const known = new Map(this.shelves.map((shelf) => [shelf.provider.id, shelf]));
    this.shelves = empty.map((shelf) => known.get(shelf.provider.id) ?? shelf);
    await Promise.all(this.list.map(async (provider) => this.fill(provider)));
    this.looking = false;
  }

  /** Lists the engine's model files again, if models have been listed. */
  async restock(): Promise<void> {
    await this.load();
    const engines = this.shelves.filter(({ provider }) => provider.kind === 'engine');
    await Promise.all(engines.map(({ provider }) => this.fill(provider)));
  }

  async lookForOffers(): Promise<void> {
    this.looking = true;
    try {
      await this.load();
      this.offers = await this.backend.modelOffers();
      // Looking may have added a server it found.
      await this.load();
    } finally {
      this.looking = false;
    }
  }

  async save(draft: ProviderDraft): Promise<Provider> {
    const saved = await this.backend.providerSave(draft);
    await this.load();
    return saved;
  }

  async remove(id: string): Promise<void> {
    await this.backend.providerDelete(id);
    this.shelves = this.shelves.filter((shelf) => shelf.provider.id !== id);
    await this.load();
  }

  async test(id: string): Promise<ProviderTest> {
    return this.backend.providerTest(id);
  }

  /** The models of one provider, with those entered by hand. */
  async modelsOf(id: string): Promise<ModelInfo[]> {
    return this.backend.providerModels(id);
  }

  /** Adds a model file to the engine by the system's dialog; `null` where it was closed. */
  async pickFile(): Promise<ModelInfo | null> {
    return this.backend.modelFilePick();
  }

  async addFile(path: string): Promise<ModelInfo> {
    return this.backend.modelFileAdd(path);
  }

  /** What removing a model file would mean, for the question before it. */
  async removalOf(name: string): Promise<ModelFileRemoval> {
    return this.backend.modelFileRemoval(name);
  }

  async removeFile(name: string): Promise<ModelFileRemoval> {
    const done = await this.backend.modelFileRemove(name);
    await this.stock();
    return done;
  }

  /** The choice of a model that runs in the built-in engine. */
  engineChoice(model: ModelInfo): ModelChoice | null {
    const engine = this.list.find((provider) => provider.kind === 'engine');
    return engine ? { providerId: engine.id, model: model.name } : null;
  }

  private async fill(provider: Provider): Promise<void> {
    let shelf: Shelf;
    try {
      shelf = { provider, models: await this.backend.providerModels(provider.id), error: null };
    } catch (thrown) {
      shelf = { provider, models: [], error: errorBody(thrown) };
    }
    this.shelves = this.shelves.map((one) => (one.provider.id === provider.id ? shelf : one));
  }
}
