import type { Nodes } from 'mdast';
import { flushSync, mount, unmount } from 'svelte';
import { expect, it } from 'vitest';
import { safeAddress } from './address';
import { dangers } from './dangers';
import { Chance, invented, shortened } from './invented';
import Markdown from './Markdown.svelte';
import { parse } from './parse';
import { blocksOf, MarkdownStream } from './stream';

/** Texts of the short form; `EVENKEEL_FUZZ_SECONDS` asks for as many as fit into that time. */
const TEXTS = 1_500;
const SECONDS = Number(process.env['EVENKEEL_FUZZ_SECONDS'] ?? 0);
const SEED = Number(process.env['EVENKEEL_FUZZ_SEED'] ?? 1);

function types(node: Nodes, found: Set<string>): void {
  found.add(node.type);
  if ('children' in node) for (const child of node.children) types(child, found);
}

/** What is wrong with the tree. */
function wrongWithTree(text: string, chance: Chance, seen: Set<string>): string | null {
  types(parse(text), seen);
  const stream = new MarkdownStream();
  const ends = Array.from({ length: 8 }, () => chance.below(text.length + 1)).sort((a, b) => a - b);
  const readings = [
    blocksOf(text),
    ...[...ends, text.length].map((end) => stream.update(text.slice(0, end))),
  ];
  for (const [place, blocks] of readings.entries()) {
    // The page tells blocks apart by their keys.
    if (new Set(blocks.map((block) => block.key)).size !== blocks.length)
      return `two blocks of reading ${place} have one key`;
    if (blocks.some((block) => block.key < 0 || block.key > text.length))
      return `a block of reading ${place} is nowhere`;
  }
  return null;
}

/** What is wrong with the page. */
function wrongWithPage(text: string, streaming: boolean): string | null {
  const root = document.createElement('div');
  const shown = mount(Markdown, { target: root, props: { text, streaming, onlink: () => {} } });
  flushSync();
  const found = dangers(root);
  for (const link of root.querySelectorAll('a')) {
    const address = link.getAttribute('href') ?? '';
    if (safeAddress(address) !== address) found.push(`a link to ${address}`);
  }
  void unmount(shown);
  return found.length > 0 ? found.join(', ') : null;
}

function wrong(text: string, seed: number, seen = new Set<string>()): string | null {
  try {
    const chance = new Chance(seed);
    return (
      wrongWithTree(text, chance, seen) ?? wrongWithPage(text, false) ?? wrongWithPage(text, true)
    );
  } catch (error) {
    return String(error);
  }
}

it(
  'reads, grows and shows whatever is made up, and nothing of it is dangerous',
  async () => {
    const [seen, end] = [new Set<string>(), Date.now() + SECONDS * 1_000];
    let [count, slowest, slowestSeed] = [0, 0, 0];
    for (; SECONDS > 0 ? Date.now() < end : count < TEXTS; count += 1) {
      // What a page leaves behind is cleared only between two tasks.
      if (count % 50 === 0) await new Promise((next) => setTimeout(next));
      const seed = SEED * 1_000_003 + count;
      const text = invented(new Chance(seed));
      const began = performance.now();
      const what = wrong(text, seed, seen);
      if (performance.now() - began > slowest) {
        [slowest, slowestSeed] = [performance.now() - began, seed];
      }
      if (what === null) continue;
      const short = shortened(text, (shorter) => wrong(shorter, seed) !== null);
      expect.unreachable(
        `${wrong(short, seed) ?? what}, seed ${seed}, given ${JSON.stringify(short)}, in hex ${Buffer.from(short).toString('hex')}`,
      );
    }
    process.stdout.write(
      `${count} made-up texts, ${seen.size} kinds of nodes; the slowest, ${slowestSeed}, took ${slowest.toFixed(0)} ms\n`,
    );
    // What is made up reaches everything that the reader knows.
    expect([...seen].sort()).toEqual(EVERY_KIND);
  },
  (SECONDS + 120) * 1_000,
);

const EVERY_KIND = [
  'blockquote',
  'break',
  'code',
  'definition',
  'delete',
  'emphasis',
  'footnoteDefinition',
  'footnoteReference',
  'heading',
  'html',
  'image',
  'inlineCode',
  'inlineMath',
  'link',
  'list',
  'listItem',
  'math',
  'paragraph',
  'root',
  'strong',
  'table',
  'tableCell',
  'tableRow',
  'text',
  'thematicBreak',
];
