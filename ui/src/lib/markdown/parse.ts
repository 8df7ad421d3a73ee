import type { Root, RootContent } from 'mdast';
import {
  type CompileContext,
  type Extension,
  fromMarkdown,
  type Token,
} from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { mathFromMarkdown } from 'mdast-util-math';
import { gfm } from 'micromark-extension-gfm';
import { math } from 'micromark-extension-math';
import { resolveReferences } from './resolve';

const extensions = [gfm({ singleTilde: false }), math({ singleDollarTextMath: true })];
const checkboxes: Extension = {
  exit: { taskListCheckValueChecked: check, taskListCheckValueUnchecked: check },
};
const mdastExtensions = [gfmFromMarkdown(), mathFromMarkdown(), checkboxes];

/**
 * A checkbox in a paragraph that only follows an empty list item is text. The extension takes every one for an item's own
 * (micromark-extension-gfm-task-list-item 2.1) and would swallow it.
 */
function check(this: CompileContext, token: Token): void {
  const item = this.stack.at(-2);
  const mark = this.sliceSerialize(token);
  if (item?.type === 'listItem') {
    item.checked = mark.toLowerCase() === 'x';
    return;
  }
  this.enter({ type: 'text', value: `[${mark}]` }, token);
  this.exit(token);
}

/** Nesting beyond this is shown as text: a reply must not exhaust the stack. */
export const MAX_DEPTH = 60;
const DEEP = new RegExp(`^(?:[ \\t]*(?:>|[-+*][ \\t]|\\d{1,9}[.)][ \\t])){${MAX_DEPTH},}`, 'm');
const BRACKETS = /[[\]]{400,}|[*_]{2000,}/;

function plain(text: string): Root {
  return {
    type: 'root',
    children: [{ type: 'paragraph', children: [{ type: 'text', value: text }] }],
  };
}

/** Reads Markdown (GFM and math). Text made to exhaust the reader comes back as plain text. */
export function parse(text: string): Root {
  if (DEEP.test(text) || BRACKETS.test(text)) return plain(text);
  const root = fromMarkdown(text, { extensions, mdastExtensions });
  placeHeadings(root, text);
  return resolveReferences(root);
}

/**
 * The reader lets a heading that is underlined begin where a link definition before it began (micromark 4.0): two blocks
 * in one place. Such a heading begins behind the definition.
 */
function placeHeadings(root: Root, text: string): void {
  for (const [place, node] of root.children.entries()) {
    const before = root.children[place - 1]?.position?.end.offset;
    const start = node.position?.start;
    if (node.type !== 'heading' || before === undefined || start?.offset === undefined) continue;
    if (start.offset < before) start.offset = before + text.slice(before).search(/\S|$/);
  }
}

/** The start of a node in the text it was read from. */
export function startOf(node: RootContent): number {
  return node.position?.start.offset ?? 0;
}
