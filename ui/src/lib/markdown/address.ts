const SAFE = new Set(['https:', 'http:', 'mailto:']);

/**
 * The address a link may open, or `null`. Only web and mail addresses in full; control
 * characters and white space, which browsers skip and readers overlook, are refused.
 */
export function safeAddress(url: string): string | null {
  // eslint-disable-next-line no-control-regex -- these are the characters to refuse
  if (/[\u0000-\u0020\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.test(url))
    return null;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return null;
  }
  if (!SAFE.has(parsed.protocol)) return null;
  if (parsed.protocol === 'mailto:') return parsed.href;
  // A name and password before the host make another host look like the real one.
  if (parsed.username !== '' || parsed.password !== '') return null;
  return parsed.href;
}
