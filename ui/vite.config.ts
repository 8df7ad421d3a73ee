import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import tailwindcss from '@tailwindcss/vite';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The policy the shell sets in the app; the preview sends it so that tests run under it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html dompurify',
].join('; ');

/** Every web view we run in reads WOFF2; KaTeX's older font formats would only add weight. */
const onlyWoff2: Plugin = {
  name: 'only-woff2',
  enforce: 'pre',
  transform: (code, id) =>
    /katex[^/]*\.css/.test(id)
      ? code.replaceAll(/,\s*url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)/g, '')
      : undefined,
};

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [onlyWoff2, tailwindcss(), svelte()],
  resolve: {
    alias: { $lib: here('./src/lib') },
    // Vitest would otherwise take Svelte's server build.
    ...(mode === 'test' ? { conditions: ['browser'] } : {}),
  },
  build: {
    target: ['chrome111', 'safari16.4'],
    // Fonts as data: URLs would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { main: here('./index.html'), quickChat: here('./quick-chat.html') },
    },
  },
  server: { port: 5173, strictPort: true },
  preview: { headers: { 'Content-Security-Policy': policy } },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts', 'src/**/*.svelte.test.ts'],
  },
}));
