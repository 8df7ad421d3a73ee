/** What can be done with a preset from its menu. */
export type PresetAct = 'make' | 'edit' | 'duplicate' | 'hide' | 'show' | 'reset' | 'delete';
