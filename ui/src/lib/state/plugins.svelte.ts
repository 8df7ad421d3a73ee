import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type { ErrorBody, Plugin } from '../ipc/types';

/** A folder whose plug-in is there already, in another version. */
export interface Conflict {
  path: string;
  installed: string;
  offered: string;
}

/** The strategies of other people that are installed. */
export class Plugins {
  list = $state.raw<Plugin[]>([]);
  loaded = $state(false);
  /** Why the list could not be read. */
  error = $state.raw<ErrorBody | null>(null);
  /** Why the last change was not made. */
  failure = $state.raw<ErrorBody | null>(null);
  /** It is asked whether one takes the place of another. */
  conflict = $state.raw<Conflict | null>(null);
  busy = $state(false);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  find(id: string): Plugin | null {
    return this.list.find((one) => one.id === id) ?? null;
  }

  async load(): Promise<void> {
    try {
      this.list = await this.backend.pluginList();
      this.error = null;
      this.loaded = true;
    } catch (thrown) {
      this.error = errorBody(thrown);
    }
  }

  /** Installs one from a folder that the user chooses; true if that was done. */
  async add(): Promise<boolean> {
    return this.attempt(async () => {
      const path = await this.backend.pluginPick();
      return path !== null && this.install(path, false);
    });
  }

  /** Installs the one that was asked about, in place of the other. */
  async replace(): Promise<boolean> {
    const { conflict } = this;
    this.conflict = null;
    return conflict !== null && this.attempt(() => this.install(conflict.path, true));
  }

  async remove(id: string): Promise<boolean> {
    return this.attempt(async () => {
      await this.backend.pluginRemove(id);
      await this.load();
      return true;
    });
  }

  forget(): void {
    this.list = [];
    this.loaded = false;
    this.error = this.failure = null;
    this.conflict = null;
  }

  private async install(path: string, replace: boolean): Promise<boolean> {
    try {
      await this.backend.pluginInstall(path, replace);
    } catch (thrown) {
      const { installed, offered } = errorBody(thrown).details;
      if (replace || installed === undefined) throw thrown;
      this.conflict = { path, installed, offered: offered ?? '' };
      return false;
    }
    await this.load();
    return true;
  }

  private async attempt(task: () => Promise<boolean>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.failure = null;
    try {
      return await task();
    } catch (thrown) {
      const body = errorBody(thrown);
      // Whatever is wrong with it, it is a plug-in that is refused.
      this.failure = { ...body, details: { plugin: '', ...body.details } };
      return false;
    } finally {
      this.busy = false;
    }
  }
}
