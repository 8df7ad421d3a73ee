import type { Root } from 'hast';
import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);
/** Longer code stays plain: colouring it would hold up the window. */
const LIMIT = 40_000;

/** Coloured code as a tree of spans; `null` where the language is unknown or the code too long. */
export function highlight(code: string, language: string | null | undefined): Root | null {
  if (!language || code.length > LIMIT || !lowlight.registered(language)) return null;
  return lowlight.highlight(language, code);
}
