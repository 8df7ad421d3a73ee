import { Channel } from '@tauri-apps/api/core';
import type { ArchiveBackend, ArchiveProgress } from './archive';
import type { Call } from './tauri-life';

function told(onProgress: (progress: ArchiveProgress) => void): Channel<ArchiveProgress> {
  const channel = new Channel<ArchiveProgress>();
  channel.onmessage = onProgress;
  return channel;
}

/** The commands about archives and envelopes. */
export function archiveCalls(call: Call): ArchiveBackend {
  return {
    archivePlace: (name) => call('archive_place', { name }),
    archiveKey: () => call('archive_key'),
    archiveFolder: () => call('archive_folder'),
    archiveChoose: () => call('archive_choose'),
    archiveExport: (path, protection, replace, onProgress) =>
      call('archive_export', { path, protection, replace, channel: told(onProgress) }),
    archivePreview: (path, secret, takeSettings, onProgress) =>
      call('archive_preview', { path, secret, takeSettings, channel: told(onProgress) }),
    archiveImport: (path, secret, takeSettings, onProgress) =>
      call('archive_import', { path, secret, takeSettings, channel: told(onProgress) }),
    archiveStop: () => call('archive_stop'),
    archivePending: () => call('archive_pending'),
    archiveUndo: () => call('archive_undo'),
    archiveKeep: () => call('archive_keep'),
    envelopeExport: (id, folder) => call('envelope_export', { id, folder }),
    envelopeImport: (folder, key, contextId) => call('envelope_import', { folder, key, contextId }),
  };
}
