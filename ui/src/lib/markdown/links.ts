import { createContext } from 'svelte';

/** What to do when a link in a text is chosen. */
export const [getLinkHandler, setLinkHandler] = createContext<(url: string) => void>();
