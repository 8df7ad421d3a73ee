import { t } from '$lib/i18n';
import type { Redaction } from '$lib/state/types';

export const MOST_WORDS = 200;
const SHORTEST = 2;
const LONGEST = 200;

/** As it is where nothing was chosen. */
export const NOTHING: Redaction = {
  emails: false,
  phones: false,
  cards: false,
  keys: false,
  own: [],
  beforeStoring: false,
  beforeSending: false,
};

/** The words of a text with one a line, each once. */
export function wordsOf(text: string): string[] {
  const words = text.split('\n').map((line) => line.trim());
  return [...new Set(words)].filter((word) => word !== '');
}

/** What is wrong with a list of words. */
export function wordsProblem(words: string[]): string | null {
  if (words.length > MOST_WORDS) return t('redaction.own.most', { max: MOST_WORDS });
  const wrong = words.find((word) => {
    const count = Array.from(word).length;
    return count < SHORTEST || count > LONGEST;
  });
  if (wrong === undefined) return null;
  const word = Array.from(wrong).slice(0, 40).join('');
  return t('redaction.own.length', { word, min: SHORTEST, max: LONGEST });
}

/** Whether anything is looked for. */
export function seeks({ emails, phones, cards, keys, own }: Redaction): boolean {
  return emails || phones || cards || keys || own.length > 0;
}
