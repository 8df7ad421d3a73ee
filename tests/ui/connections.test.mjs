/** What other programs may do with the companions, and what they did. */
import assert from 'node:assert/strict';
import { journey, speak } from './journey.mjs';

const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  arabic: { arabic: true },
  small: { width: 640, height: 780 },
};

async function open(page) {
  await page.id('composer-input').waitFor();
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('open-settings').click();
  await page.id('tab-connections').click();
  await page.id('connection').first().waitFor();
}

const granted = (page, name) =>
  page.evaluate(async (wanted) => {
    const list = await globalThis.fake.connectionList();
    return list.find((one) => one.name === wanted).grant;
  }, name);

for (const [look, { arabic, ...options }] of Object.entries(LOOKS))
  journey(`connections look right (${look})`, 'index.html?seed=life', options, async (page) => {
    await page.id('composer-input').waitFor();
    if (arabic) await speak(page, 'ar');
    await open(page);
    await page.shot(`connections-${look}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, 'nothing stands beyond the edge of the window');
  });

journey(
  'a message that a program wrote says so',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.evaluate(() => {
      const own = globalThis.fake.world.messages.filter((one) => one.role === 'user');
      for (const one of own) one.source = 'Claude Desktop';
    });
    await page.id('conversation-item').getByText('A letter to my landlord').click();
    await page.id('sent-by').first().getByText('by Claude Desktop').waitFor();
    await page.shot('connections-sent-by');
  },
);

journey(
  'what a program may do is decided and its log emptied',
  'index.html?seed=life',
  {},
  async (page) => {
    await open(page);
    const code = page.locator('[data-connection="Visual Studio Code"]');
    await code.getByRole('switch').first().click();
    assert.equal((await granted(page, 'Visual Studio Code')).mayChat, true);
    await code.getByTestId('choice-program').check({ force: true });
    assert.equal((await granted(page, 'Visual Studio Code')).usesSampling, true);
    await code.getByTestId('choice-chosen').check({ force: true });
    await code.getByTestId('connection-context').first().check();
    const { contexts, mayChange } = await granted(page, 'Visual Studio Code');
    assert.deepEqual([contexts.length, mayChange], [1, false]);
    await code.getByTestId('choice-all').check({ force: true });
    await code.getByTestId('choice-chosen').check({ force: true });
    const again = await granted(page, 'Visual Studio Code');
    assert.deepEqual(again.contexts, contexts, 'those that were chosen before');

    assert.match(await page.id('connection-snippet').innerText(), /"mcpServers"/);
    await page.id('choice-vscode').check({ force: true });
    const { servers } = JSON.parse(await page.id('connection-snippet').innerText());
    assert.equal(servers.evenkeel.args[0], 'mcp');

    assert.equal(await page.id('access').count(), 4);
    await page.id('log-clear').click();
    await page.id('confirm-yes').click();
    await page.id('access').first().waitFor({ state: 'detached' });

    await code.getByTestId('connection-forget').click();
    await page.id('confirm-yes').click();
    await code.waitFor({ state: 'detached' });
    assert.equal(await page.id('connection').count(), 1);
  },
);

journey(
  'the server over HTTP is turned on, told of a taken port, and shows its token only when asked',
  'index.html?seed=life',
  {},
  async (page) => {
    await open(page);
    const server = page.id('server');
    await server.getByRole('switch').click();
    await page.id('server-address').waitFor();
    assert.match(await page.id('server-address').innerText(), /127\.0\.0\.1:28472/);
    assert.doesNotMatch(await page.id('server-token').innerText(), /evenkeel_/);
    assert.equal(await page.id('server-copy').isDisabled(), false, 'VS Code asks for the token');
    await server.getByTestId('choice-cursor').check({ force: true });
    assert.equal(await page.id('server-copy').isDisabled(), true, 'nothing useless is copied');
    await page.id('server-show').click();
    await server.getByText(/^evenkeel_1+$/).waitFor();
    assert.match(await page.id('server-snippet').innerText(), /Bearer evenkeel_1+/);
    assert.equal(await page.id('server-copy').isDisabled(), false);
    await page.id('server-renew').click();
    await page.id('confirm-yes').click();
    await server.getByText(/^evenkeel_2+$/).waitFor();
    await page.shot('connections-server');

    await page.id('server-port').fill('80');
    await page.id('server-port').press('Enter');
    await page.id('server-address').waitFor({ state: 'detached' });
    await server.getByText('Port 80 is used by another program.').waitFor();
    for (const wrong of ['99999', '']) {
      await page.id('server-port').fill(wrong);
      await page.id('server-port').press('Tab');
      await server.getByText('A whole number from 0 to 65,535.').waitFor();
    }
    assert.equal(await page.evaluate(() => globalThis.fake.world.connections.server.port), 80);
  },
);
