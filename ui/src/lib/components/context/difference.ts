import { diffWords } from 'diff';

/** A run of words that both have, or only one. */
export interface Piece {
  text: string;
  kind: 'same' | 'added' | 'removed';
}

const PATIENCE_MILLIS = 400;

/** What turns one text into the other, word by word; `tag` is the language of the words. */
export function difference(before: string, after: string, tag: string): Piece[] {
  const intlSegmenter = new Intl.Segmenter(tag, { granularity: 'word' });
  const changes = diffWords(before, after, { intlSegmenter, timeout: PATIENCE_MILLIS });
  // Texts with next to nothing in common take longer than anyone wants to wait.
  const parts = changes ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  return parts
    .filter((part) => part.value !== '')
    .map((part) => ({
      text: part.value,
      kind: part.added ? 'added' : part.removed ? 'removed' : 'same',
    }));
}
