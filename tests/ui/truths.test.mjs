/** Journeys that hold what is written on the screen against what is there. */
import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const LIFE = 'index.html?seed=life&pace=4';
const DEMO = 'index.html?seed=demo&pace=4';
const SMALL = { width: 420, height: 460 };

const tell = (page, name, detail) =>
  page.evaluate(
    ([event, value]) => dispatchEvent(new CustomEvent(event, { detail: value })),
    [name, detail],
  );

journey('an expired companion shows every branch', DEMO, {}, async (page) => {
  await page.id('regenerate').last().click();
  await page.id('branch-count').getByText('2/2').waitFor();
  await page.locator('[data-testid=stop]').waitFor({ state: 'detached' });
  await tell(page, 'fake-expire', 'context-preset-calm-counselor');
  await page.id('expired').waitFor();
  await page.id('branch-prev').click();
  await page.id('branch-count').getByText('1/2').waitFor();
  assert.equal(await page.id('regenerate').count(), 0);
});

journey('a draft that cannot be kept is told of once', DEMO, {}, async (page) => {
  await page.id('composer-input').fill('first');
  await page.waitForFunction(() => globalThis.fake.world.drafts.size === 1);
  await tell(page, 'fake-fail', 'draftPut');
  await page.id('composer-input').fill('first and more');
  await page.id('notice').getByText('could not be kept').waitFor();
  await page.shot('draft-unstored');
  await page.id('notice').getByRole('button').last().click();
  await page.id('composer-input').fill('first and more and more');
  await page.waitForTimeout(700);
  assert.equal(await page.id('notice').count(), 0);
  await tell(page, 'fake-fail', 'draftPut');
  await page.id('composer-input').fill('all of it');
  await page.waitForFunction(() => [...globalThis.fake.world.drafts.values()][0] === 'all of it');
});

/** Buttons of the open dialog whose middle is covered by something else. */
function covered(page) {
  return page.evaluate(() => {
    const dialogs = document.querySelectorAll('[role=dialog], [role=alertdialog]');
    const dialog = dialogs[dialogs.length - 1];
    return [...dialog.querySelectorAll('button, input')]
      .filter((node) => node.getBoundingClientRect().width > 0)
      .filter((node) => {
        const { left, top, width, height } = node.getBoundingClientRect();
        const above = document.elementFromPoint(left + width / 2, top + height / 2);
        return above?.closest('[data-testid=notices]');
      })
      .map((node) => node.textContent || node.getAttribute('aria-label'));
  });
}

/** Says four things that stay; what is open by then has to make room. */
async function sayFour(page) {
  for (let turn = 0; turn < 4; turn += 1)
    await tell(page, 'fake-expiring', {
      contextId: `context-${turn}`,
      name: `Companion ${turn}`,
      expiresAt: '2030-01-01T00:00:00Z',
    });
  await page.waitForFunction(() => document.querySelectorAll('[data-testid=notice]').length === 4);
}

for (const [name, size] of [
  ['small', SMALL],
  ['low', { width: 900, height: 380 }],
  ['wide', {}],
])
  journey(`notices lie on no button of a dialog (${name})`, LIFE, size, async (page) => {
    const notices = page.id('notice');
    await page.id('composer-input').waitFor();
    const opens = {
      dialog: () => page.id('context-new').click(),
      confirm: async () => {
        await page.id('conversations-menu').click();
        await page.id('list-clear').click();
      },
      search: () => page.id('open-search').click(),
    };
    for (const [kind, open] of Object.entries(opens)) {
      if (name === 'small' && (await page.id('context-new').isHidden()))
        await page.id('open-nav').click();
      await open();
      const dialog = page.locator('[role=dialog], [role=alertdialog]');
      await dialog.waitFor();
      await sayFour(page);
      await page.shot(`notices-${kind}-${name}`);
      assert.deepEqual(await covered(page), [], kind);
      const { y, height } = await dialog.boundingBox();
      assert.ok(y >= 0 && y + height <= page.viewportSize().height, `${kind} is cut off`);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      while ((await notices.count()) > 0) await notices.first().getByRole('button').last().click();
    }
  });

journey('Arabic has one kind of digits', LIFE, {}, async (page) => {
  const other = async (where) => {
    const text = await page.locator('body').innerText();
    const found = text.match(/.*[\u0660-\u0669\u06f0-\u06f9].*/g) ?? [];
    assert.deepEqual(found, [], where);
  };
  await page.id('open-settings').click();
  await page.id('tab-general').click();
  await page.id('language').selectOption('ar');
  await page.locator('html[dir=rtl]').waitFor();
  for (const tab of ['models', 'presets', 'backups', 'data', 'advanced', 'activity']) {
    const button = page.id(`tab-${tab}`);
    if ((await button.count()) === 0) continue;
    await button.click();
    await page.waitForTimeout(250);
    await other(tab);
  }
  await page.id('settings-back').click();
  await page.id('trash-count').waitFor();
  await other('chat');
  assert.match(await page.locator('body').innerText(), /\d/);
  await page.shot('digits-chat-ar');
  await page.id('open-trash').click();
  await page.id('trash-item').first().waitFor();
  await other('trash');
  await page.shot('digits-trash-ar');
});
