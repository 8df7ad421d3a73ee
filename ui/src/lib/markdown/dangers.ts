/** What no reply may bring into the page. For tests. */
const FORBIDDEN =
  'script,img,iframe,object,embed,link,style,base,meta,form,video,audio,picture,source,svg:not(.lucide),template,body,details,noscript';

const LOADING = ['src', 'srcset', 'srcdoc', 'formaction', 'xlink:href', 'data'];

/** Everything in `root` that could run, load or lead away. */
export function dangers(root: HTMLElement): string[] {
  const found = [...root.querySelectorAll(FORBIDDEN)].map((node) => node.tagName);
  for (const node of root.querySelectorAll('*')) {
    for (const { name, value } of node.attributes) {
      if (name.startsWith('on') || LOADING.includes(name)) found.push(`${name}=${value}`);
      if (name === 'href' && !/^(?:https?|mailto):/.test(value)) found.push(`href=${value}`);
      if (name === 'style' && value.includes('url')) found.push(value);
    }
  }
  return found;
}
