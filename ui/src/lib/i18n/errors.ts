import { locale, t, type MessageKey } from './locale.svelte';

/** An error as it crosses the border: a code, English words, facts. */
interface Failure {
  code: string;
  message: string;
  details: Record<string, string>;
}

/** What happened and what to do, in the language in use. */
export interface Explanation {
  what: string;
  todo: string;
}

function sentence(key: string, details: Record<string, string>, otherwise: string): string {
  if (!locale.has(key)) return otherwise;
  try {
    return t(key as MessageKey, details);
  } catch {
    // The sentence needs a fact that this error does not carry.
    const plain = `${key}.plain`;
    return locale.has(plain) ? t(plain) : otherwise;
  }
}

/** A backup of its own, not the vault, is what is damaged, foreign or closed. */
const ofBackup = (facts: Record<string, string>): string | null =>
  'backup' in facts ? 'backup' : null;

/** The fact that tells how a server of tools failed; the first one counts. */
const TOOL_FAILURES: [fact: string, variant: string][] = [
  ['command', 'start'],
  ['seconds', 'slow'],
  ['unreachable', 'unreachable'],
  ['unauthorized', 'unauthorized'],
  ['place', 'foreign'],
  ['reason', 'said'],
];

/** What tells apart errors of one code that need other sentences, by their facts. */
const VARIANTS: Record<string, (details: Record<string, string>) => string | null> = {
  // Without a conversation or a model, it is no reply that is waited for.
  busy: (facts) => ('conversationId' in facts || 'name' in facts ? null : 'opening'),
  limit_reached: (facts) => ('rounds' in facts ? 'tools' : null),
  not_found: (facts) =>
    facts.inTrash === 'true' ? 'inTrash' : 'folder' in facts ? 'folder' : null,
  place_refused: (facts) => ('path' in facts ? 'inside' : null),
  invalid_parameter: (facts) =>
    'recoveryCode' in facts
      ? 'mistyped'
      : 'plugin' in facts
        ? 'plugin'
        : 'sample' in facts
          ? 'sample'
          : ofBackup(facts),
  vault_damaged: ofBackup,
  vault_exists: ofBackup,
  vault_too_new: ofBackup,
  tool_failed: (facts) => TOOL_FAILURES.find(([fact]) => fact in facts)?.[1] ?? null,
  wrong_key: ofBackup,
};

/** Finds the sentences for an error by its code. */
export function explain(error: Failure): Explanation {
  const { code, details, message } = error;
  const variant = VARIANTS[code]?.(details) ?? null;
  const key = variant === null ? `error.${code}` : `error.${code}.${variant}`;
  return { what: sentence(key, details, message), todo: sentence(`${key}.todo`, details, '') };
}
