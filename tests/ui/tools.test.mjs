/** Tools of other programs: servers, which companion uses what, and the question before one runs. */
import assert from 'node:assert/strict';
import { journey, speak } from './journey.mjs';

const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  arabic: { arabic: true },
  small: { width: 640, height: 780 },
};

async function settings(page) {
  await page.id('composer-input').waitFor();
  if (await page.id('open-nav').isVisible()) await page.id('open-nav').click();
  await page.id('open-settings').click();
  await page.id('tab-tools').click();
  await page.id('tool-server').first().waitFor();
}

async function ask(page) {
  await page.id('composer-input').fill('Write the plan down, please');
  await page.id('composer-input').press('Enter');
  await page.id('tool-question').waitFor();
}

const answers = (page) => page.evaluate(() => globalThis.fake.world.tools.answers);

for (const [look, { arabic, ...options }] of Object.entries(LOOKS))
  journey(`tools look right (${look})`, 'index.html?seed=life&pace=0', options, async (page) => {
    await page.id('composer-input').waitFor();
    if (arabic) await speak(page, 'ar');
    await settings(page);
    await page.shot(`tools-settings-${look}`);
    await page.id('settings-back').click();
    await ask(page);
    await page.shot(`tools-question-${look}`);
    await page.id('tool-once').click();
    assert.match(await page.id('tool-brief').innerText(), /^path: .*plan\.md/);
    await page.id('tool-use').click();
    await page.id('tool-result').waitFor();
    await page.shot(`tools-chat-${look}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, 'nothing stands beyond the edge of the window');
  });

journey(
  'a server is added once its whole command was shown, tested, decided about and removed',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await settings(page);
    await page.id('server-new').click();
    await page.id('server-name').fill('Documents');
    await page.id('server-program').fill('npx');
    await page.id('server-args').fill('-y\nserver-files\n/home/ada/My files');
    await page.id('server-next').click();
    const command = await page.id('server-command').innerText();
    assert.equal(command, 'npx -y server-files "/home/ada/My files"');
    assert.equal(await page.id('tool-server').count(), 1, 'nothing is added before that');
    await page.id('server-add').click();
    const added = page.locator('[data-testid=tool-server]', {
      hasText: 'Documents',
    });
    await added.getByTestId('tool-rule').first().waitFor();
    await added.getByTestId('tool-rule').first().selectOption('denied');
    await page.waitForFunction(async () => {
      const [, files] = await globalThis.fake.toolServerList();
      return files.rules.join() === 'denied,ask';
    });
    await added.getByTestId('server-remove').click();
    await page.id('confirm-yes').click();
    await added.waitFor({ state: 'detached' });
  },
);

journey(
  'a server is renamed at once, and its command changed once it was shown whole',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.evaluate(async () => {
      const { fake } = globalThis;
      const [{ server }] = await fake.toolServerList();
      await fake.toolServerSave({
        ...server,
        env: { NOTES_KEY: 'k' },
        token: null,
      });
      await fake.toolRuleSet({ serverId: server.id, tool: 'write_file' }, 'allowed');
    });
    const known = () => page.evaluate(async () => (await globalThis.fake.toolServerList())[0]);
    await settings(page);
    await page.id('server-edit').click();
    assert.equal(await page.id('server-name').inputValue(), 'Notes');
    assert.equal(await page.id('server-env').count(), 0, 'what is secret is kept, and not shown');
    await page.shot('tools-edit');
    await page.id('server-name').fill('Thoughts');
    await page.id('server-next').click();
    await page.id('server-name').waitFor({ state: 'detached' });
    await page.id('tool-server').getByText('Thoughts').waitFor();
    const renamed = await known();
    assert.deepEqual([renamed.server.envNames, renamed.rules], [['NOTES_KEY'], ['ask', 'allowed']]);

    await page.id('server-edit').click();
    await page.id('server-args').fill('-y\nserver-files\n/srv/My files');
    await page.id('server-env').fill('OTHER_KEY=k');
    await page.id('server-next').click();
    const command = await page.id('server-command').innerText();
    assert.equal(command, 'npx -y server-files "/srv/My files"');
    assert.equal((await known()).place, renamed.place, 'nothing is changed before that');
    await page.shot('tools-edit-shown');
    await page.id('server-add').click();
    await page.id('server-place').getByText('/srv/My files').waitFor();
    const changed = await known();
    assert.deepEqual([changed.server.envNames, changed.rules], [['OTHER_KEY'], ['ask', 'ask']]);
  },
);

journey(
  'each server says how its last test ended, in words',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await settings(page);
    await page.id('server-new').click();
    await page.id('server-name').fill('Far');
    await page.id('choice-http').check({ force: true });
    await page.id('server-url').fill('http://127.0.0.1:1/mcp');
    await page.id('server-next').click();
    await page.id('server-add').click();
    const far = page.locator('[data-testid=tool-server]', { hasText: 'Far' });
    await far.getByText('Nothing answers at http://127.0.0.1:1/mcp.').waitFor();
    const notes = page.locator('[data-testid=tool-server]', { hasText: 'Notes' });
    await notes.getByTestId('server-test').click();
    await notes.getByText('Last test passed').waitFor();
    const trial = await far.getByTestId('server-trial').innerText();
    assert.match(trial, /Last test failed/, 'the test of another one leaves it as it is');
    assert.doesNotMatch(trial, /Settings, Tools/);
    await page.shot('tools-trial');
  },
);

journey('the rounds of tools have a range', 'index.html?seed=life&pace=0', {}, async (page) => {
  await settings(page);
  for (const wrong of ['0', '33', '']) {
    await page.id('tool-rounds').fill(wrong);
    await page.id('tool-rounds').press('Tab');
    await page.getByText('A whole number from 1 to 32.').waitFor();
  }
  await page.id('tool-rounds').fill('5');
  await page.id('tool-rounds').press('Tab');
  await page.waitForFunction(async () => (await globalThis.fake.settingsGet()).toolRounds === 5);
});

journey(
  'long names and arguments stay within the window',
  'index.html?seed=life&pace=0',
  { width: 640, height: 780 },
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.evaluate(async () => {
      const { fake } = globalThis;
      const [{ server }] = await fake.toolServerList();
      const transport = {
        ...server.transport,
        args: ['x'.repeat(2_000), '/srv'],
      };
      const name = 'n'.repeat(120);
      await fake.toolServerSave({
        ...server,
        name,
        transport,
        env: null,
        token: null,
      });
    });
    const fits = async () =>
      assert.equal(
        await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
        false,
      );
    await ask(page);
    await page.shot('tools-question-long');
    await fits();
    await page.id('tool-once').click();
    await page.id('tool-use').click();
    await page.id('tool-result').waitFor();
    await fits();
    await settings(page);
    await fits();
    await page.id('server-remove').click();
    await page.shot('tools-long');
    await fits();
  },
);

journey(
  'a tool runs only when it is allowed, and closing the question denies',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await ask(page);
    assert.match(await page.id('tool-place').innerText(), /npx -y @modelcontextprotocol/);
    assert.match(await page.id('tool-arguments').innerText(), /Sleep on it\./);
    await page.keyboard.press('Escape');
    await page.id('tool-question').waitFor({ state: 'detached' });
    await page.locator('[data-end=refused]').waitFor();
    assert.deepEqual(await answers(page), ['deny']);

    await page.id('message-assistant').last().getByText('left the file alone').waitFor();
    await ask(page);
    await page.id('tool-always').click();
    await page.locator('[data-end=done]').waitFor();
    await page.id('message-assistant').last().getByText('stands in plan.md').waitFor();

    await page.id('composer-input').fill('Write the plan once more');
    await page.id('composer-input').press('Enter');
    await page.locator('[data-end=done]').nth(1).waitFor();
    assert.equal(await page.id('tool-question').count(), 0, 'it is asked about no more');
    assert.deepEqual(await answers(page), ['deny', 'always']);
  },
);

journey(
  'a second click on a question answers the next one not, which says that it is the second of two',
  'index.html?seed=life&pace=0',
  { width: 640, height: 500 },
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.evaluate(() => (globalThis.fake.world.tools.calls = 2));
    await ask(page);
    assert.match(await page.id('tool-number').innerText(), /1 of 2/);
    const argument = await page.id('tool-arguments').boundingBox();
    const button = await page.id('tool-once').boundingBox();
    assert.ok(
      argument.y > 0 && argument.y + 40 < button.y,
      'the arguments are seen before a word is given',
    );
    await page.locator('[data-testid=tool-once]:enabled').waitFor();
    const isInactive = await page.evaluate(async () => {
      const once = () => globalThis.document.querySelector('[data-testid=tool-once]');
      const first = once();
      first.click();
      while (once() === null || once() === first) await new Promise((next) => setTimeout(next));
      once().click();
      return once().disabled;
    });
    assert.equal(isInactive, true);
    assert.deepEqual(await answers(page), ['once']);
    assert.match(await page.id('tool-number').innerText(), /2 of 2/);
    await page.id('tool-once').click();
    await page.id('tool-question').waitFor({ state: 'detached' });
    assert.deepEqual(await answers(page), ['once', 'once']);
  },
);

journey(
  'the reply can be stopped from the question',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await ask(page);
    await page.id('tool-stop').click();
    await page.id('tool-question').waitFor({ state: 'detached' });
    assert.deepEqual(await answers(page), []);
    assert.equal(
      await page.locator('[data-end]').count(),
      0,
      'nothing ran, and nothing was refused',
    );
    await page.id('composer-input').fill('Write the plan after all');
    await page.id('composer-input').press('Enter');
    await page.id('tool-question').waitFor();
  },
);

journey(
  'the receipt has what a tool was told and gave, and the request that said so',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await ask(page);
    await page.id('tool-once').click();
    await page.id('message-assistant').last().getByText('stands in plan.md').waitFor();
    await page.id('message-assistant').last().hover();
    await page.id('receipt-open').last().click();
    await page.id('receipt-round').getByText('Round 2: write_file').click();
    await page.id('round-text').getByText('Successfully wrote to').waitFor();
    await page.id('round-exact').click();
    assert.match(await page.id('round-body').innerText(), /Successfully wrote to/);
    await page.id('round-state').getByText('byte for byte').waitFor();
    await page.shot('tools-receipt');
    await page.id('receipt-tab-exact').click();
    await page.id('request-first').getByText('One more followed').waitFor();
  },
);

journey(
  'a companion gets the tools that are chosen for it',
  'index.html?seed=life&pace=0',
  {},
  async (page) => {
    await page.id('composer-input').waitFor();
    await page.id('context-menu').first().click();
    await page.id('context-edit').click();
    await page.id('context-tools').locator('summary').click();
    await page.id('context-tool').nth(1).check();
    await page.id('context-save').click();
    await page.id('context-save').waitFor({ state: 'detached' });
    const chosen = await page.evaluate(() => [...globalThis.fake.world.tools.chosen.values()]);
    assert.deepEqual(chosen, [[{ serverId: 'server-1', tool: 'write_file' }]]);
  },
);
