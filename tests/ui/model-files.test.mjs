import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const DEMO = 'index.html?seed=demo&pace=4';

/** Drops files on the window, as the shell tells of it. */
const drop = (page, ...paths) =>
  page.evaluate((detail) => window.dispatchEvent(new CustomEvent('fake-drop', { detail })), paths);

async function models(page) {
  await page.id('open-settings').click();
  await page.id('tab-models').click();
  await page.id('model-file').first().waitFor();
}

journey('a folder and half a file are refused in words', DEMO, {}, async (page) => {
  await models(page);
  for (const path of ['/home/ada/models', '/home/ada/truncated.gguf']) {
    await drop(page, path);
    const notice = page.id('notices').getByText('This file is no model the engine can run.');
    await notice.waitFor();
    await page.id('notices').getByText('Choose a whole GGUF file with a chat template.').waitFor();
    await page.shot(`model-refused-${path.includes('truncated') ? 'truncated' : 'folder'}`);
    await page.id('notices').getByRole('button').click();
    await notice.waitFor({ state: 'detached' });
  }
  assert.equal(await page.id('model-file').count(), 1);
});

journey('a model file leaves the list and stays on the disk', DEMO, {}, async (page) => {
  await models(page);
  assert.equal(await page.id('model-remove').count(), 0, 'the one that comes with the app stays');
  await page.id('model-add').click();
  await page.getByText('Qwen3-4B-Q4_K_M').waitFor();
  await page.getByRole('button', { name: 'Remove Qwen3-4B-Q4_K_M' }).click();
  const said = page.id('model-removal');
  await said.getByText('Its file stays on the disk').waitFor();
  await said.getByText('/home/ada/models/Qwen3-4B-Q4_K_M.gguf').waitFor();
  assert.equal(await said.getByText('default model').count(), 0);
  await page.shot('model-remove');
  await page.id('confirm-no').click();
  assert.equal(await page.id('model-file').count(), 2);
  await page.id('model-remove').click();
  await page.id('confirm-yes').click();
  await page.id('notices').getByText('Qwen3-4B-Q4_K_M was removed.').waitFor();
  await page.waitForFunction(
    () => document.querySelectorAll('[data-testid=model-file]').length === 1,
  );
});

journey('the default in the own folder: the question says all of it', DEMO, {}, async (page) => {
  await models(page);
  await drop(page, '~/.local/share/evenkeel/models/own.gguf');
  const row = page.id('model-file').filter({ hasText: 'own' });
  await row.getByRole('button', { name: 'Make default' }).click();
  await row.getByText('Default', { exact: true }).waitFor();
  await row.getByTestId('model-remove').click();
  const said = page.id('model-removal');
  await said.getByText('deleted from the disk').waitFor();
  await said.getByText('It is the default model').waitFor();
  await said.getByText('It is loaded at the moment').waitFor();
  await page.shot('model-remove-default');
  await page.id('confirm-yes').click();
  await row.waitFor({ state: 'detached' });
  await page.id('model-chip').and(page.locator('[data-locality=none]')).waitFor();
});

for (const [locale, sentence] of [
  ['de-DE', 'Seine Datei bleibt auf der Festplatte'],
  ['ar', 'يبقى ملفه على القرص'],
]) {
  journey(`removing a model file in ${locale}`, DEMO, { locale }, async (page) => {
    await models(page);
    await page.id('model-add').click();
    await page.id('model-remove').click();
    await page.id('model-removal').getByText(sentence).waitFor();
    await page.shot(`model-remove-${locale}`);
  });
}
