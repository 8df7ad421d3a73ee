import DOMPurify from 'dompurify';
import katex from 'katex';
import 'katex/dist/katex.min.css';

const LIMIT = 4_000;

/** The formula as HTML without anything that runs or loads; `null` where it cannot be set. */
export function formula(source: string, display: boolean) {
  if (source.length > LIMIT) return null;
  try {
    const html = katex.renderToString(source, {
      displayMode: display,
      output: 'htmlAndMathml',
      throwOnError: true,
      strict: 'ignore',
      trust: false,
      maxExpand: 200,
      maxSize: 20,
    });
    return DOMPurify.sanitize(html, {
      // Under the page's policy only markup that a named policy made may be shown.
      RETURN_TRUSTED_TYPE: true,
      USE_PROFILES: { html: true, mathMl: true, svg: true },
      ADD_TAGS: ['semantics', 'annotation'],
      FORBID_TAGS: ['img', 'a', 'form', 'input', 'style', 'image', 'use'],
      FORBID_ATTR: ['href', 'src', 'xlink:href', 'id', 'name'],
    });
  } catch {
    return null;
  }
}
