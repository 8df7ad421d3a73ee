import { flushSync, mount, unmount } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';
import { dangers } from './dangers';
import { formula } from './math';
import Markdown from './Markdown.svelte';

const RAW = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<iframe src="https://example.invalid"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="data:text/html,hi"></object>',
  '<embed src="https://example.invalid/x.swf">',
  '<link rel=stylesheet href=https://example.invalid/x.css>',
  '<style>@import "https://example.invalid/x.css";</style>',
  '<base href="https://example.invalid/">',
  '<meta http-equiv=refresh content="0;url=https://example.invalid">',
  '<form action="https://example.invalid"><input name=q></form>',
  '<a href="javascript:alert(1)">x</a>',
  '<video src="https://example.invalid/v.mp4" autoplay>',
  '<audio src="https://example.invalid/a.mp3" autoplay>',
  '<body onload=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<template><img src=x onerror=alert(1)></template>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<?xml version="1.0"?><img src=x onerror=alert(1)>',
  'text <b onmouseover=alert(1)>bold</b> text',
];

const LINKS = [
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](javascript&#58;alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](<java\tscript:alert(1)>)',
  '[x](vbscript:msgbox(1))',
  '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[x](data:image/svg+xml,<svg/onload=alert(1)>)',
  '[x](file:///etc/passwd)',
  '[x](blob:https://example.invalid/1)',
  '[x](tauri://localhost/index.html)',
  '[x](ipc://localhost/vault_lock)',
  '[x](about:blank)',
  '[x](//example.invalid/no-scheme)',
  '[x](/etc/passwd)',
  '[x](#fragment)',
  '[x](?query)',
  '[x](https://example.com@example.invalid/)',
  '[x](https://user:pass@example.invalid/)',
  '[x](https://example.invalid/%E2%80%AE\u202egnp.exe)',
  '[x](view-source:https://example.invalid)',
  '[x](intent://example.invalid#Intent;end)',
  '[x](ms-settings:about)',
  '[x][evil]\n\n[evil]: javascript:alert(1)',
  '<javascript:alert(1)>',
  '[![x](javascript:alert(1))](javascript:alert(2))',
];

const IMAGES = [
  '![x](https://example.invalid/track.png)',
  '![x](http://127.0.0.1:9/track.png)',
  '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)',
  '![x](javascript:alert(1))',
  '![x][i]\n\n[i]: https://example.invalid/track.png',
  '![](https://example.invalid/track.png "title")',
  '[![x](https://example.invalid/a.png)](https://example.invalid)',
];

const FORMULAS = [
  '\\href{javascript:alert(1)}{x}',
  '\\url{javascript:alert(1)}',
  '\\includegraphics{https://example.invalid/x.png}',
  '\\htmlClass{a}{x}',
  '\\htmlStyle{background:url(https://example.invalid)}{x}',
  '\\htmlData{on=1}{x}',
  '\\text{<img src=x onerror=alert(1)>}',
  '\\def\\a{\\a\\a}\\a',
  '\\rule{1000000em}{1000000em}',
  'x^{'.repeat(300),
];

let shown: Record<string, unknown> | null = null;

function show(text: string, streaming = false): { root: HTMLElement; chosen: string[] } {
  const root = document.createElement('div');
  const chosen: string[] = [];
  shown = mount(Markdown, {
    target: root,
    props: { text, streaming, onlink: (url: string) => chosen.push(url) },
  });
  flushSync();
  return { root, chosen };
}

afterEach(() => {
  if (shown) void unmount(shown);
  shown = null;
});

describe('hostile Markdown', () => {
  it.each(RAW)('shows raw HTML as text: %s', (text) => {
    const { root } = show(text);
    expect(dangers(root)).toEqual([]);
    expect(root.textContent).toContain(text.replace(/^text /, '').slice(0, 8));
  });

  it.each(RAW)('shows raw HTML as text while it streams: %s', (text) => {
    expect(dangers(show(`before\n\n${text}\n\nafter`, true).root)).toEqual([]);
  });

  it.each(LINKS)('makes no link of %s', (text) => {
    const { root } = show(text);
    expect(dangers(root)).toEqual([]);
    expect(root.querySelector('a')).toBeNull();
  });

  it.each(IMAGES)('loads no picture for %s', (text) => {
    expect(dangers(show(text).root)).toEqual([]);
  });

  it.each(FORMULAS)('sets no formula that runs or loads: %s', (source) => {
    const root = document.createElement('div');
    root.innerHTML = String(formula(source, true) ?? '');
    expect(dangers(root).filter((danger) => danger !== 'svg')).toEqual([]);
    expect(root.querySelector('a')).toBeNull();
  });

  it('survives deep nesting and long runs of marks', () => {
    for (const text of [
      '> '.repeat(5_000) + 'x',
      '- '.repeat(5_000) + 'x',
      '['.repeat(20_000),
      '*'.repeat(20_000),
      '`'.repeat(20_000),
      '$'.repeat(5_000),
      '|'.repeat(3_000),
      '<'.repeat(20_000),
    ]) {
      const { root } = show(text);
      expect(dangers(root)).toEqual([]);
      if (shown) void unmount(shown);
      shown = null;
    }
  });
});

describe('good Markdown', () => {
  it('hands a chosen link over instead of following it', () => {
    const { root, chosen } = show('[site](https://example.com/a?b=c)');
    const link = root.querySelector('a');
    const event = new MouseEvent('click', { bubbles: true, cancelable: true });
    document.body.append(root);
    link?.dispatchEvent(event);
    root.remove();
    expect(event.defaultPrevented).toBe(true);
    expect(chosen).toEqual(['https://example.com/a?b=c']);
  });

  it('shows tables, tasks, code and reference links', () => {
    const { root } = show(
      '| a |\n|---|\n| b |\n\n- [x] done\n\n```js\nlet a = 1\n```\n\n[r][1]\n\n[1]: https://example.com',
    );
    expect(root.querySelector('th')?.textContent).toBe('a');
    expect(root.querySelector<HTMLInputElement>('li input')?.checked).toBe(true);
    expect(root.querySelector('pre .hljs-keyword')?.textContent).toBe('let');
    expect(root.querySelector('a')?.getAttribute('href')).toBe('https://example.com/');
  });

  it('sets a formula', () => {
    expect(String(formula('\\frac{a}{b}', false))).toContain('katex');
  });
});
