export { LOCALES, locale, t, type MessageKey } from './locale.svelte';
export { bytes, longDate, number, shortDate, span } from './format';
export { explain } from './errors';
export { duration, moment, relative } from './time';
