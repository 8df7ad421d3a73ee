import { onMount } from 'svelte';

/** The time, often enough for "3 minutes ago"; runs while the component that asked is there. */
export function clock(): { readonly now: number } {
  let now = $state(Date.now());
  onMount(() => {
    const timer = setInterval(() => (now = Date.now()), 20_000);
    return () => clearInterval(timer);
  });
  return {
    get now() {
      return now;
    },
  };
}
