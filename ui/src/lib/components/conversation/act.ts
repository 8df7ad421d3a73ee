/** What can be done with one conversation from its menu. */
export type ConversationAct =
  | 'rename'
  | 'pin'
  | 'unpin'
  | 'tags'
  | 'archive'
  | 'unarchive'
  | 'statistics'
  | 'memory'
  | 'operations'
  | 'export'
  | 'envelopes'
  | 'delete'
  | 'end';

/** What can be done with several, or with the list. */
export type ListAct = 'private' | 'choose' | 'archived' | 'older' | 'clear';
