import type { Backend } from './backend';

/** The backend of this build. The in-memory one is cut out of every build but `--mode fake`. */
export async function openBackend(): Promise<Backend> {
  if (import.meta.env.MODE === 'fake') {
    const { fakeBackendFromAddress } = await import('./fake');
    return fakeBackendFromAddress(location.search);
  }
  const { tauriBackend } = await import('./tauri');
  return tauriBackend();
}
