// Takes the pictures of the README from the real application: node tests/e2e/pictures.mjs

import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { App } from './app.mjs';
import { ask, firstRun } from './companion.mjs';
import { Desktop } from './desktop.mjs';
import { until } from './webdriver.mjs';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'screenshots');
/** Pictures of the first run that are worth showing. */
const SHOWN = new Set(['welcome', 'recovery-code', 'model-choice', 'presets']);

await mkdir(folder, { recursive: true });
const desktop = await Desktop.start();
let app;

async function picture(name, title = '^Evenkeel$') {
  const [window] = await until(async () => {
    const found = await desktop.windows(title);
    return found.length > 0 && found;
  }, `the window ${title}`);
  // Fonts and transitions come to rest.
  await app.page.runAsync('const done = arguments[0]; document.fonts.ready.then(() => setTimeout(done, 400));');
  await desktop.output('import', ['-window', window, '-strip', path.join(folder, `${name}.png`)]);
  console.log(`${name}.png`);
}

/** Chooses a theme in the settings; the radio buttons themselves are one pixel wide. */
async function theme(name) {
  await app.page.click('open-settings');
  await app.page.click('tab-general');
  await app.page.testid(`theme-${name}`);
  await app.page.run('document.querySelector(`[data-testid="theme-${arguments[0]}"]`).click()', name);
  await until(() => app.page.run('return document.querySelector(`[data-testid="theme-${arguments[0]}"]`).checked', name), `the theme ${name}`);
  await app.page.click('settings-back');
  await app.page.testid('composer-input');
}

try {
  const tray = await desktop.trayHost();
  app = await App.open(desktop);
  await firstRun(app, { screenshot: async (name) => (SHOWN.has(name) ? picture(name) : undefined) });
  await ask(app.page, 'I am nervous about my talk tomorrow. What can I do tonight?');
  await picture('chat');
  await app.page.click('open-settings');
  await app.page.click('tab-providers');
  await picture('providers');
  await app.page.click('settings-back');
  await theme('dark');
  await picture('chat-dark');
  await theme('light');
  await tray.choose('Quick chat');
  await app.focusWindowWith('quick-input');
  await app.page.fill('quick-input', 'How do I fall asleep when I am angry?');
  await desktop.press('Return');
  await until(
    async () => {
      const [box] = await app.page.all('[data-testid="quick-answer"]');
      return box && (await box.attribute('data-status')) !== 'streaming';
    },
    'an answer in quick chat',
    { timeout: 180_000 },
  );
  await picture('quick-chat', 'quick chat$');
} finally {
  await app?.dispose();
  await desktop.stop();
}
