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

/** Finds the sentences for an error by its code. */
export function explain(error: Failure): Explanation {
  return {
    what: sentence(`error.${error.code}`, error.details, error.message),
    todo: sentence(`error.${error.code}.todo`, error.details, ''),
  };
}
