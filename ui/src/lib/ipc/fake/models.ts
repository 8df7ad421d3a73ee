import type { Backend } from '../backend';
import { failure } from '../error';
import type { ModelFileRemoval, ModelInfo } from '../types';
import type { World } from './world';

/** The model that comes with the app. */
export const SMALL: ModelInfo = {
  name: 'SmolLM2-135M-Instruct.Q4_1.gguf',
  window: 8_192,
  sizeBytes: 98_000_000,
  forTryingOut: true,
  locality: 'local',
  embedding: false,
};

/** The folder whose files are deleted when they leave the list. */
const OWN = '~/.local/share/evenkeel/models/';

/** Why a path is no model file, in the core's words; `null` where it is one. */
function fault(path: string): string | null {
  if (!path.endsWith('.gguf'))
    return `${path} is not a regular file. Choose a single model file whose name ends in .gguf.`;
  if (path.includes('truncated'))
    return `${path} is not a usable model file: it ends before its header does. Download it again, or choose another one.`;
  return null;
}

/** Model files of the in-memory engine. */
export function modelCalls(world: World, open: <R>(work: () => R) => Promise<R>) {
  const add = (path: string): ModelInfo => {
    const name = path.split('/').at(-1) ?? path;
    const added: ModelInfo = {
      ...SMALL,
      name,
      window: 32_768,
      sizeBytes: 2_500_000_000,
      forTryingOut: false,
    };
    world.engineModels = [...world.engineModels.filter((one) => one.name !== name), added];
    world.modelPaths.set(name, path);
    world.onChange({ noun: 'modelFile', id: name });
    return added;
  };
  const removal = (name: string): ModelFileRemoval => {
    const path = world.modelPaths.get(name);
    if (path === undefined) throw failure('not_found', `There is no model file ${name}.`);
    const isDefault = world.settings.defaultModel?.model === name;
    return { name, path, deletesFile: path.startsWith(OWN), isDefault, isLoaded: isDefault };
  };
  return {
    modelFilePick: () => open(() => add('/home/ada/models/Qwen3-4B-Q4_K_M.gguf')),
    modelFileAdd: (path) =>
      open(() => {
        const reason = fault(path);
        if (reason !== null) throw failure('model_file_invalid', reason, { path });
        return add(path);
      }),
    modelFileRemoval: (name) => open(() => removal(name)),
    modelFileRemove: (name) =>
      open(() => {
        const done = removal(name);
        world.engineModels = world.engineModels.filter((one) => one.name !== name);
        world.modelPaths.delete(name);
        if (done.isDefault) world.settings = { ...world.settings, defaultModel: null };
        world.onChange({ noun: 'modelFile', id: name });
        world.onChange({ noun: 'settings', id: 'settings' });
        return done;
      }),
  } satisfies Partial<Backend>;
}
