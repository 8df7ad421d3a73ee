/** What can be done with one conversation from its menu. */
export type ConversationAct =
  | 'rename'
  | 'pin'
  | 'unpin'
  | 'tags'
  | 'archive'
  | 'unarchive'
  | 'statistics'
  | 'export'
  | 'delete';

/** What can be done with several, or with the list. */
export type ListAct = 'choose' | 'archived' | 'older' | 'clear';
