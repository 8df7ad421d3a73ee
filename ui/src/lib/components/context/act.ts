/** What can be done with a context from its menu. */
export type ContextAct = 'edit' | 'revisions' | 'duplicate' | 'preset' | 'extend' | 'delete';
