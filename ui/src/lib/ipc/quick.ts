import type { Backend } from './backend';

/** Everything that is asked of the core; the rest of a backend is heard from it. */
export type Call = Exclude<keyof Backend, 'listen' | 'onFileDrop' | 'onFocus'>;

/**
 * What quick chat asks. `capabilities/quick-chat.json` allows these commands and no others; a test
 * compares the two, and in the in-memory backend the small window is refused everything else too.
 */
export const QUICK_CALLS: readonly Call[] = [
  'careHelplines',
  'chatMeter',
  'chatSend',
  'chatStop',
  'contextGet',
  'contextList',
  'conversationList',
  'conversationOpen',
  'draftPut',
  'openExternal',
  'quickChatHide',
  'quickChatMove',
  'settingsGet',
  'vaultStatus',
  'vaultTouch',
];
