/**
 * Markdown that nobody wrote, for tests: put together from every construct that the reader knows, one inside the other
 * as far as chance has it, and then changed here and there. The same number gives the same text.
 */

/** Chance that is the same on every run (SplitMix32). */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return this.next() % Math.max(1, end);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

type Rule = (chance: Chance, depth: number) => string;

const WORDS = [
  'calm',
  'ein',
  'هدوء',
  '静',
  'a_b',
  '2 * 3',
  '\\',
  '&amp;',
  '&#0;',
  '&#x41;',
  '\u202e',
  '\u0000',
  '😀',
  'e\u0301',
  'www.example.invalid',
  'x@example.invalid',
  '$',
  '~',
  '`',
  '[',
  '](',
  '*',
  '_',
  '|',
  '<',
  '!',
  '#',
  '  ',
];
const ADDRESSES = [
  'https://example.invalid/a',
  'http://127.0.0.1:9/',
  'mailto:x@example.invalid',
  'javascript:alert(1)',
  'data:text/html,<script>',
  'java\tscript:x',
  '//x',
  '',
  '<a b>',
  'https://a@b.invalid',
  'tauri://localhost',
  'https://[::1',
  '%',
  'https://example.invalid/((',
];
const RAW = [
  '<b>',
  '</b>',
  '<img src=x onerror=alert(1)>',
  '<!--',
  '-->',
  '<![CDATA[',
  '<?x',
  '<script>',
  '</script>',
  '<svg onload=x>',
  '<a href="',
  '<details open>',
  '<style>',
];
const TEX = [
  'x^2',
  '\\frac{a}{b}',
  '\\href{javascript:x}{y}',
  '\\def\\a{\\a}\\a',
  '{',
  '}',
  '\\htmlData{a=b}{c}',
  '\\text{<img src=x>}',
  '\\begin{matrix}a&b\\\\c',
  '\\unknown',
  '%',
  '\\verb|x',
];
const LANGUAGES = ['', 'js', 'python', 'html', 'x"y', 'math', 'mermaid', 'nope'];
const EDITS = [
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '\t',
  '    ',
  '> ',
  '- ',
  '1. ',
  '```',
  '~~~',
  '***',
  '[',
  ']',
  '(',
  ')',
  '<',
  '>',
  '&',
  '\\',
  '|',
  '$$',
  '\u2028',
  '\ud800',
  '[^1]',
  '[x]: y',
  '---',
  '===',
  '#',
];

const words: Rule = (chance) =>
  Array.from({ length: 1 + chance.below(4) }, () => chance.of(WORDS)).join(
    chance.of(['', ' ', ' ', '\n']),
  );

const INLINE: Rule[] = [
  words,
  words,
  (chance, depth) => {
    const mark = chance.of(['*', '**', '_', '__', '***', '~~', '~']);
    return mark + inline(chance, depth + 1) + mark;
  },
  (chance, depth) =>
    `[${inline(chance, depth + 1)}](${chance.of(ADDRESSES)}${chance.of(['', ' "t"', " 't", ' (t)'])})`,
  (chance, depth) => `![${inline(chance, depth + 1)}](${chance.of(ADDRESSES)})`,
  (chance) =>
    `${chance.of(['', '!'])}[${chance.of(['x', 'y', '^1', 'X'])}]${chance.of(['', '[]', '[x]'])}`,
  (chance) => `<${chance.of(ADDRESSES)}>`,
  (chance) => chance.of(ADDRESSES),
  (chance) => chance.of(RAW),
  (chance) => {
    const mark = '`'.repeat(1 + chance.below(3));
    return mark + words(chance, 0) + mark;
  },
  (chance) => {
    const mark = chance.of(['$', '$$']);
    return mark + chance.of(TEX) + chance.of(TEX) + mark;
  },
];

function inline(chance: Chance, depth: number): string {
  if (depth > 6) return words(chance, depth);
  return Array.from({ length: 1 + chance.below(3) }, () => chance.of(INLINE)(chance, depth)).join(
    chance.of(['', ' ']),
  );
}

/** Puts `first` before the first line and `rest` before the others, or, as people do, before only some. */
function indented(chance: Chance, text: string, first: string, rest: string): string {
  const lazy = chance.below(4) === 0;
  return text
    .split('\n')
    .map((line, place) => (place === 0 ? first : lazy && chance.below(2) === 0 ? '' : rest) + line)
    .join('\n');
}

const BLOCKS: Rule[] = [
  inline,
  inline,
  (chance, depth) => `${'#'.repeat(1 + chance.below(7))} ${inline(chance, depth)}`,
  (chance, depth) => `${inline(chance, depth)}\n${chance.of(['===', '---', '-'])}`,
  (chance, depth) => indented(chance, blocks(chance, depth + 1), '> ', chance.of(['> ', '>'])),
  (chance, depth) => {
    const mark = chance.of(['- ', '* ', '+ ', '1. ', '9) ', '- [ ] ', '- [x] ', '123456789. ']);
    const items = Array.from({ length: 1 + chance.below(3) }, () =>
      indented(
        chance,
        blocks(chance, depth + 1),
        mark,
        ' '.repeat(chance.of([2, 3, 4, mark.length])),
      ),
    );
    return items.join(chance.of(['\n', '\n\n']));
  },
  (chance) => {
    const fence = chance.of(['```', '~~~', '````']);
    return `${fence}${chance.of(LANGUAGES)}\n${words(chance, 0)}\n${chance.of([fence, fence, '', '```'])}`;
  },
  (chance) => `$$\n${chance.of(TEX)}\n${chance.of(['$$', '$$', ''])}`,
  (chance, depth) => {
    const row = (): string =>
      `| ${inline(chance, depth + 4).replaceAll('\n', ' ')} | ${words(chance, 0).replaceAll('\n', ' ')} |`;
    return `${row()}\n${chance.of(['|---|:-:|', '|-|-|', '---|---', '|---|'])}\n${row()}\n${row()}`;
  },
  (chance, depth) =>
    `[${chance.of(['x', 'y', '^1', '^2'])}]: ${chance.of([chance.of(ADDRESSES), inline(chance, depth + 3)])}`,
  (chance) => `${chance.of(RAW)}${words(chance, 0)}\n${chance.of(RAW)}`,
  (chance) => chance.of(['***', '---', '_ _ _', '    code', '\tcode', '&nbsp;']),
];

function blocks(chance: Chance, depth: number): string {
  if (depth > 5) return words(chance, depth);
  return Array.from({ length: 1 + chance.below(3) }, () => chance.of(BLOCKS)(chance, depth)).join(
    chance.of(['\n', '\n\n', '\n\n', '\n\n\n']),
  );
}

/** A run or a nest that is longer than any that people write. */
function excess(chance: Chance): string {
  const piece = chance.of([
    ...EDITS,
    ...RAW,
    '[a](',
    '*a **b ',
    '> - 1. ',
    '`a',
    '![',
    '<a ',
    '| a ',
    '{',
    '$x',
    '&#',
    '](x)',
    '_a*',
    '~~a ',
  ]);
  return piece.repeat(1 + chance.below(chance.of([10, 100, 600])));
}

/** A text. */
export function invented(chance: Chance): string {
  let text = blocks(chance, 0);
  if (chance.below(6) === 0) {
    const at = chance.below(text.length + 1);
    text = text.slice(0, at) + excess(chance) + text.slice(at);
  }
  for (let edits = chance.below(5); edits > 0; edits -= 1) {
    const at = chance.below(text.length + 1);
    text = text.slice(0, at) + chance.of([chance.of(EDITS), '']) + text.slice(at + chance.below(3));
  }
  return text;
}

/** The shortest text that can be had by taking pieces away and that still `fails`. */
export function shortened(text: string, fails: (text: string) => boolean): string {
  for (let size = Math.ceil(text.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < text.length;) {
      const without = text.slice(0, at) + text.slice(at + size);
      if (fails(without)) text = without;
      else at += size;
    }
  }
  return text;
}
