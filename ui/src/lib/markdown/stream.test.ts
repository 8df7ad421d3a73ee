import type { RootContent } from 'mdast';
import { describe, expect, it } from 'vitest';
import { blocksOf, MarkdownStream } from './stream';

const TEXTS = [
  '# Title\n\nOne *two* three.\n\n- a\n- b\n\n  more of b\n- c\n\n1. x\n2. y\n\nend',
  'para\n#hashtag goes on\n\nnext\n===\n\nlast\n---\n',
  '```py\nprint(1)\n\n# no heading\n```\n\nafter\n\n~~~\nopen fence\n\nstill',
  '| a | b |\n|---|---|\n| 1 | 2 |\n\ntext | not a table\n\n> quote\nlazy\n\n> other\n\n    indented\n\n    code\n',
  '$$\nx\n$$\n\nprice $5 and $6\n\n<div>\n*raw*\n\n</div>\n\n***\n\ntail',
  '- [ ] one\n- [x] two\n\n\n\ntext\n\n[^1]: note\n\n    more note\n\nend[^1]',
  'a\r\n\r\nb\r\n- c\r\n',
  '# a\rb\r- c\r\r> d\ne',
  '~~~ a\u2028b &amp;\n\u0000\n',
  '[y]:t\na\n-',
  '-\n[x] [\n\n-\n[ ] a\n',
  'before\n\n[y]: t\n[z]: u\nb\nc\n==\n\nafter\n',
  '1. one\n\n   ```\n   code\n   ```\n\n2. two\n- dash\n+ plus\n* star',
];

/** A node without its places, which differ by where reading began. */
function bare(node: RootContent): unknown {
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) => (key === 'position' ? undefined : value)),
  );
}

describe('a growing text', () => {
  it.each(TEXTS)('ends like the whole text read at once: %j', (text) => {
    for (const step of [1, 3, 7]) {
      const stream = new MarkdownStream();
      for (let end = step; end < text.length; end += step) stream.update(text.slice(0, end));
      const grown = stream.update(text).map((block) => bare(block.node));
      const whole = blocksOf(text).map((block) => bare(block.node));
      // An open fence keeps its last line break until it is closed.
      const trim = (nodes: unknown[]): string => JSON.stringify(nodes).replaceAll('\\n"', '"');
      expect(trim(grown)).toBe(trim(whole));
    }
  });

  it('keeps the checkbox of a paragraph that belongs to no list item', () => {
    const words = JSON.stringify(blocksOf('-\n[x] done').map((block) => bare(block.node)));
    expect(words).toContain('"[x] done"');
    expect(words).not.toContain('"checked":true');
  });

  it('keeps settled blocks as the same objects', () => {
    const stream = new MarkdownStream();
    const text = Array.from({ length: 50 }, (_, i) => `Paragraph ${i} with *marks*.`).join('\n\n');
    const before = stream.update(text.slice(0, 600));
    const settled = before.filter((block) => block.settled);
    const after = stream.update(text);
    expect(settled.length).toBeGreaterThan(10);
    expect(after.slice(0, settled.length).every((block, i) => block === settled[i])).toBe(true);
    expect(new Set(after.map((block) => block.key)).size).toBe(after.length);
  });

  it('begins anew when the text is another one', () => {
    const stream = new MarkdownStream();
    stream.update('one\n\ntwo\n\nthree');
    expect(stream.update('other').map((block) => bare(block.node))).toEqual(
      blocksOf('other').map((block) => bare(block.node)),
    );
  });

  it('does not settle a block whose follower may still join it', () => {
    const stream = new MarkdownStream();
    const blocks = stream.update('para\n#');
    expect(blocks.every((block) => !block.settled)).toBe(true);
    expect(stream.update('para\n#tag')).toHaveLength(1);
  });
});
