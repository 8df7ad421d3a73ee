export { LOCALES, locale, t, type MessageKey } from './locale.svelte';
export { bytes, moment, shortDate, span } from './format';
export { explain } from './errors';
