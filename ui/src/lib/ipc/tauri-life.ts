import type { LifeBackend } from './life';

/** Asks one command of the core. */
export type Call = <R>(command: string, args?: Record<string, unknown>) => Promise<R>;

/** The commands about contexts, presets, conversations and messages. */
export function lifeCalls(call: Call): LifeBackend {
  return {
    ...contextCalls(call),
    ...presetCalls(call),
    ...conversationCalls(call),
    ...batchCalls(call),
    messageDelete: (id) => call('message_delete', { id }),
    messageRestore: (id) => call('message_restore', { id }),
    messageVote: (id, vote) => call('message_vote', { id, vote }),
    draftGet: (key) => call('draft_get', { key }),
    draftPut: (key, text) => call('draft_put', { key, text }),
    searchMessages: (query) => call('search_messages', { query }),
  };
}

function contextCalls(call: Call) {
  return {
    contextList: (query) => call('context_list', { query }),
    contextGet: (id) => call('context_get', { id }),
    contextCreate: (draft) => call('context_create', { draft }),
    contextCreateFromPreset: (presetId, overrides) =>
      call('context_create_from_preset', { presetId, overrides }),
    contextUpdate: (id, patch) => call('context_update', { id, patch }),
    contextDuplicate: (id) => call('context_duplicate', { id }),
    contextDelete: (id) => call('context_delete', { id }),
    contextRestore: (id) => call('context_restore', { id }),
    contextPurge: (id) => call('context_purge', { id }),
    contextExtend: (id) => call('context_extend', { id }),
    contextRevisions: (id) => call('context_revisions', { id }),
    contextRestoreRevision: (id, revisionId) =>
      call('context_restore_revision', { id, revisionId }),
    contextAdvice: (draft, model) => call('context_advice', { draft, model }),
    contextRecommendedHistory: (model) => call('context_recommended_history', { model }),
    trashList: () => call('trash_list'),
    trashSummary: () => call('trash_summary'),
    trashEmpty: () => call('trash_empty'),
  } satisfies Partial<LifeBackend>;
}

function presetCalls(call: Call) {
  return {
    presetList: (query) => call('preset_list', { query }),
    presetCreate: (draft) => call('preset_create', { draft }),
    presetUpdate: (id, draft) => call('preset_update', { id, draft }),
    presetSetActive: (id, isActive) => call('preset_set_active', { id, isActive }),
    presetDelete: (id) => call('preset_delete', { id }),
    presetDuplicate: (id) => call('preset_duplicate', { id }),
    presetReset: (id) => call('preset_reset', { id }),
    presetFromContext: (contextId, name) => call('preset_from_context', { contextId, name }),
  } satisfies Partial<LifeBackend>;
}

function conversationCalls(call: Call) {
  return {
    conversationList: (query) => call('conversation_list', { query }),
    conversationOpen: (id) => call('conversation_open', { id }),
    conversationOpenAt: (messageId) => call('conversation_open_at', { messageId }),
    conversationEarlier: (messageId, limit) => call('conversation_earlier', { messageId, limit }),
    messageAfter: (messageId, limit) => call('message_after', { messageId, limit }),
    conversationRename: (id, title) => call('conversation_rename', { id, title }),
    conversationSelectBranch: (messageId) => call('conversation_select_branch', { messageId }),
    conversationSetPinned: (id, isPinned) => call('conversation_set_pinned', { id, isPinned }),
    conversationSetArchived: (id, isArchived) =>
      call('conversation_set_archived', { id, isArchived }),
    conversationSetTags: (id, tags) => call('conversation_set_tags', { id, tags }),
    conversationStatistics: (id) => call('conversation_statistics', { id }),
    conversationExport: (id, format) => call('conversation_export', { id, format }),
    conversationSave: (id, format) => call('conversation_save', { id, format }),
  } satisfies Partial<LifeBackend>;
}

function batchCalls(call: Call) {
  return {
    conversationDelete: (ids) => call('conversation_delete', { ids }),
    conversationDeleteOlder: (contextId, before) =>
      call('conversation_delete_older', { contextId, before }),
    conversationClear: (contextId) => call('conversation_clear', { contextId }),
    conversationRestore: (ids) => call('conversation_restore', { ids }),
    conversationPurge: (ids) => call('conversation_purge', { ids }),
    privateBegin: (contextId, title) => call('private_begin', { contextId, title }),
    privateList: (contextId) => call('private_list', { contextId }),
    privateEnd: (id) => call('private_end', { id }),
  } satisfies Partial<LifeBackend>;
}
