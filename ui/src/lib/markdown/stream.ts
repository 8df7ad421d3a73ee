import type { Code, RootContent } from 'mdast';
import { parse, startOf } from './parse';

/** A top-level block; the same object as long as its text is the same. */
export interface Block {
  /** Where it begins in the whole text: unique and stable. */
  key: number;
  node: RootContent;
  /** False while more text may still change it. */
  settled: boolean;
}

/** Indented ones, and those with escapes, are rare, and left to the reader. */
const FENCE = /^(`{3,}|~{3,})([^\n`&\\]*)\n/;
/** What the reader replaces in code. */
// eslint-disable-next-line no-control-regex -- that is what is replaced
const REPLACED = /[\r\u0000]/;

/**
 * Reads a growing text. Blocks that can no longer change are kept; only the tail is read again.
 *
 * Why that is sound: in CommonMark a block that another block follows is closed for good, and
 * whether another follows is known once its first line is complete. Link definitions are the one
 * exception (they reach back); they take effect when the finished text is read as a whole.
 */
export class MarkdownStream {
  private text = '';
  private settled: Block[] = [];
  private tailStart = 0;

  /** The blocks of `text`, which is expected to begin with the previous one. */
  update(text: string): Block[] {
    if (!text.startsWith(this.text)) {
      this.settled = [];
      this.tailStart = 0;
    }
    this.text = text;
    const tail = text.slice(this.tailStart);
    const open = openFence(tail);
    if (open) return [...this.settled, { key: this.tailStart, node: open, settled: false }];
    return this.settle(parse(tail).children, tail);
  }

  private settle(nodes: RootContent[], tail: string): Block[] {
    const base = this.tailStart;
    const lastLine = lineAt(tail, tail.length);
    const blocks = nodes.map((node): Block => ({
      key: base + startOf(node),
      node,
      settled: false,
    }));
    // A block is settled when the first line of the one after it is complete.
    let count = 0;
    while (count + 1 < nodes.length && lineOf(tail, nodes[count + 1]) < lastLine) count += 1;
    const done = blocks.slice(0, count).map((block) => ({ ...block, settled: true }));
    const rest = blocks.slice(count);
    if (done.length > 0) {
      this.settled = [...this.settled, ...done];
      this.tailStart = base + lineOf(tail, nodes[count]);
      // Keys count from the text's beginning, so the rest keeps its keys after the move.
    }
    return [...this.settled, ...rest];
  }
}

/** Start of the line a node begins on: indentation belongs to the block. */
function lineOf(text: string, node: RootContent | undefined): number {
  const start = node ? startOf(node) : text.length;
  return lineAt(text, start);
}

/** Start of the line that `place` is on; a carriage return ends one as well. */
function lineAt(text: string, place: number): number {
  if (place === 0) return 0;
  return Math.max(text.lastIndexOf('\n', place - 1), text.lastIndexOf('\r', place - 1)) + 1;
}

/** A fenced block that has not been closed: its text grows without being read again. */
function openFence(tail: string): Code | null {
  const opening = FENCE.exec(tail);
  const marks = opening?.[1];
  if (!opening || marks === undefined || REPLACED.test(tail)) return null;
  const body = tail.slice(opening[0].length);
  const closing = new RegExp(
    `(?:^|\\n) {0,3}\\${marks[0] ?? '`'}{${marks.length},}[ \\t]*(?:\\n|$)`,
  );
  if (closing.test(body)) return null;
  // Other spaces than these belong to the name.
  const lang = /[^ \t]+/.exec(opening[2] ?? '')?.[0];
  return { type: 'code', lang: lang ?? null, meta: null, value: body };
}

/** The blocks of a finished text. */
export function blocksOf(text: string): Block[] {
  return parse(text).children.map((node) => ({ key: startOf(node), node, settled: true }));
}
