/** Serves the fake build as the app would see it, and opens pages of it in Chromium. */
import { createRequire } from 'node:module';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ui = fileURLToPath(new URL('../../ui/', import.meta.url));
const require = createRequire(join(ui, 'package.json'));
const { chromium } = require('playwright-core');
export const vite = await import(
  pathToFileURL(require.resolve('vite')).href.replace(/index\.cjs$/, 'index.js')
);

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const shots = process.env.EVENKEEL_SHOTS ?? mkdtempSync(join(tmpdir(), 'evenkeel-ui-'));
mkdirSync(shots, { recursive: true });

/** Starts server and browser; `close` ends both. */
export async function openWindow() {
  const server = await vite.preview({
    root: ui,
    mode: 'fake',
    configFile: join(ui, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: 'dist-fake' },
    preview: { port: 0, host: '127.0.0.1' },
  });
  const { port } = server.httpServer.address();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    browser,
    async close() {
      await browser.close();
      await new Promise((done) => server.httpServer.close(done));
    },
  };
}

/**
 * A page of its own. Anything on the console that is an error, every refused load and every
 * request beyond the server is collected in `page.faults`.
 */
export async function openPage(window, path, options = {}) {
  const { width = 1180, height = 780, ...rest } = options;
  const context = await window.browser.newContext({
    viewport: { width, height },
    locale: 'en-US',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...rest,
  });
  const page = await context.newPage();
  page.faults = [];
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(window.origin) && !request.url().startsWith('data:'))
      page.faults.push(`request to ${request.url()}`);
  });
  page.setDefaultTimeout(8_000);
  await page.goto(`${window.origin}/${path}`);
  page.id = (name) => page.getByTestId(name);
  page.shot = (name) => page.screenshot({ path: join(shots, `${name}.png`) });
  return page;
}
