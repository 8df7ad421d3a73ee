import type { Backend } from './backend';
import type { Call } from './quick';

export { QUICK_CALLS } from './quick';

/**
 * The backend of this build, for a window that makes `calls` only where they are given. The in-memory one is cut out of every build but `--mode fake`.
 */
export async function openBackend(calls: readonly Call[] | null = null): Promise<Backend> {
  if (import.meta.env.MODE === 'fake') {
    const { fakeBackendFromAddress } = await import('./fake');
    return fakeBackendFromAddress(location.search, calls);
  }
  const { tauriBackend } = await import('./tauri');
  return tauriBackend();
}
