/** Journeys through long lists, forms that are left, and sentences that have to be true. */
import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const LIFE = 'index.html?seed=life&pace=4';
const SMALL = { width: 720, height: 560 };

async function tab(page, name) {
  await page.id('open-settings').click();
  await page.id(`tab-${name}`).click();
}

async function inArabic(page) {
  await tab(page, 'general');
  await page.id('language').selectOption('ar');
  await page.locator('html[dir=rtl]').waitFor();
}

const shown = (page) => page.getByRole('alertdialog');

journey(
  'a full disk is not called a keychain',
  'index.html?vault=unavailable&trouble=disk_full',
  {},
  async (page) => {
    await page.getByRole('heading', { name: 'The disk is full.' }).waitFor();
    await page.getByText('Free some space').waitFor();
    assert.equal(await page.getByText('keychain').count(), 0);
    await page.id('unlock-details').getByText('Details').click();
    await page.getByText('disk_full: It does not open.').waitFor();
    await page.shot('lists-unlock-disk');
  },
);

journey('a missing keychain is', 'index.html?vault=unavailable', {}, async (page) => {
  await page.getByRole('heading', { name: 'No keychain can be reached' }).waitFor();
  await page.shot('lists-unlock-keychain');
});

journey(
  'a vault with a passphrase alone asks for it, and calls nothing lost',
  'index.html?seed=demo&vault=unavailable&trouble=not_found',
  {},
  async (page) => {
    await page.getByRole('heading', { name: 'Locked' }).waitFor();
    assert.equal(await page.getByText('no longer there').count(), 0);
    assert.equal(await page.id('error').count(), 0);
    await page.shot('lists-unlock-passphrase');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.id('unlock-recovery').waitFor();
    assert.equal(await page.id('unlock-retry').count(), 0);
    await page.id('unlock-passphrase').click();
    await page.id('unlock-secret').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.id('chat-view').waitFor();
  },
);

journey(
  'erasing that fails is told after its page was left',
  `${LIFE}&erase=fails`,
  {},
  async (page) => {
    await tab(page, 'data');
    await page.id('data-erase').click();
    await page.id('erase-word').fill('ERASE');
    await page.id('erase-go').click();
    await page.id('unlock-state').waitFor();
    await page.id('notices').getByText('The vault could not be read or written.').waitFor();
  },
);

journey('the idle minutes are a whole number in their range', LIFE, {}, async (page) => {
  await tab(page, 'general');
  for (const wrong of ['0', '', '1.5', '2000']) {
    await page.id('idle-minutes').fill(wrong);
    await page.id('idle-minutes').press('Tab');
    await page.getByText('A whole number from 1 to 1,440.').waitFor();
  }
  await page.shot('lists-idle');
  await page.id('idle-minutes').fill('20');
  await page.id('idle-minutes').press('Tab');
  await page.getByText('A whole number from').waitFor({ state: 'detached' });
});

journey('titles have two switches and one truth', LIFE, {}, async (page) => {
  const listed = page.locator('[data-feature=automatic-titles]').getByRole('switch');
  const general = page.getByRole('switch', { name: 'Titles by the model' });
  const given = () =>
    page.evaluate(() => {
      const { automaticTitles, features } = globalThis.fake.world.settings;
      return automaticTitles && features['automatic-titles'] !== false;
    });
  const is = async (node, on) => {
    await node.and(page.locator(`[aria-checked=${on}]`)).waitFor();
    assert.equal(await given(), on);
  };
  await tab(page, 'advanced');
  await is(listed, true);
  await listed.click();
  await is(listed, false);
  await page.shot('lists-titles');
  await page.id('tab-general').click();
  await is(general, false);
  await general.click();
  await is(general, true);
  await general.click();
  await is(general, false);
  await page.id('tab-advanced').click();
  await is(listed, false);
  await page.getByRole('button', { name: 'Back to the default: Titles by the model' }).click();
  await is(listed, true);
  await page.evaluate(() => {
    const { world } = globalThis.fake;
    world.settings.features['automatic-titles'] = false;
    world.onChange({ noun: 'settings', id: '' });
  });
  await page.id('tab-general').click();
  await is(general, false);
  await general.click();
  await is(general, true);
  await page.id('tab-advanced').click();
  await is(listed, true);
});

/** Waits until everything of the vault has been read. */
const entered = (page) => page.id('context-item').first().waitFor();

/** Puts so many conversations into the trash. */
async function fillTrash(page, count) {
  await entered(page);
  await page.evaluate((wanted) => {
    const world = globalThis.fake.world;
    for (let turn = 0; turn < wanted; turn += 1)
      world.begin('context-gone', `Thrown away ${turn}`).deletedAt = new Date().toISOString();
  }, count);
}

journey('a trash of thousands builds what is seen', LIFE, {}, async (page) => {
  await fillTrash(page, 2_000);
  await page.id('open-trash').click();
  await page.id('trash-item').getByText('Thrown away').first().waitFor();
  const rows = await page.id('trash-item').count();
  assert.ok(rows < 60, `${rows} rows`);
  await page.shot('lists-trash');
  await page.id('trash-list').evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await page.id('trash-item').getByText('Something I deleted').waitFor();
  await page.shot('lists-trash-end');
});

journey('many companions build what is seen', LIFE, {}, async (page) => {
  await entered(page);
  await page.evaluate(() => {
    const world = globalThis.fake.world;
    const [first] = world.contexts;
    for (let turn = 0; turn < 900; turn += 1)
      world.contexts.push({ ...first, id: `many-${turn}`, name: `Companion ${turn}` });
    world.onChange({ noun: 'context', id: '' });
  });
  await page.id('context-item').getByText('Companion 1').first().waitFor();
  const rows = await page.id('context-item').count();
  assert.ok(rows < 60, `${rows} rows`);
  await page.shot('lists-companions');
});

journey('an export is read once a format', LIFE, {}, async (page) => {
  await entered(page);
  await page.evaluate(() => {
    const { fake } = globalThis;
    const read = fake.conversationExport;
    fake.reads = 0;
    fake.conversationExport = (...asked) => {
      fake.reads += 1;
      return read(...asked);
    };
  });
  await page.getByRole('button', { name: 'More for “A disagreement with my sister”' }).click();
  await page.id('conversation-export').click();
  for (const format of ['json', 'markdown', 'json', 'markdown']) {
    await page.id(`choice-${format}`).check({ force: true });
    await page
      .id('export-text')
      .getByText(format === 'json' ? '"conversation"' : '# A dis')
      .waitFor();
  }
  assert.equal(await page.evaluate(() => globalThis.fake.reads), 2);
});

journey('clearing says how many go, archived ones too', LIFE, {}, async (page) => {
  await page.id('conversation-filter-toggle').click();
  await page.id('conversation-filter').fill('team');
  await page.id('conversations-menu').click();
  await page.id('list-clear').click();
  await shown(page)
    .getByText(/^\d+ conversations go to the trash, archived/)
    .waitFor();
  const text = await shown(page).innerText();
  assert.ok(Number(/(\d+) conversations/.exec(text)?.[1]) > 3, text);
  await page.shot('lists-clear');
});

journey('what was deleted comes back by the keyboard', LIFE, {}, async (page) => {
  await page.id('conversation-item').getByText('A disagreement').waitFor();
  const before = await page.id('conversation-item').count();
  await page.getByRole('button', { name: 'More for “A disagreement with my sister”' }).click();
  await page.id('conversation-delete').click();
  await page.id('notice').waitFor();
  await page.id('composer-input').press('Control+z');
  assert.equal(await page.id('notice').count(), 1);
  await page.id('open-search').focus();
  await page.keyboard.press('Control+z');
  await page.id('conversation-item').getByText('A disagreement').waitFor();
  assert.equal(await page.id('conversation-item').count(), before);
});

journey('a form is not left by a slip', LIFE, {}, async (page) => {
  await page.getByRole('button', { name: 'More for Calm Counselor' }).click();
  await page.id('context-edit').click();
  await page.id('context-name').press('Escape');
  await page.id('context-name').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'More for Calm Counselor' }).click();
  await page.id('context-edit').click();
  await page.id('context-name').fill('Calmer');
  for (const leave of [
    () => page.id('context-name').press('Escape'),
    () => page.getByRole('button', { name: 'Close', exact: true }).click(),
    () => page.id('form-cancel').click(),
  ]) {
    await leave();
    await shown(page).getByText('Discard what you typed?').waitFor();
    await page.shot('lists-discard');
    await page.keyboard.press('Escape');
    await shown(page).waitFor({ state: 'detached' });
    assert.equal(await page.id('context-name').inputValue(), 'Calmer');
  }
  await page.id('form-cancel').click();
  await page.id('confirm-yes').click();
  await page.id('context-name').waitFor({ state: 'detached' });
});

journey('Escape in a form of the settings keeps the page', LIFE, {}, async (page) => {
  await tab(page, 'providers');
  await page.id('provider-add').click();
  await page.id('template-openai').click();
  await page.id('provider-key').fill('sk-secret');
  await page.id('provider-key').press('Escape');
  await page.id('confirm-yes').click();
  await page.id('provider-key').waitFor({ state: 'detached' });
  await page.id('tab-advanced').click();
  await page.id('limit-contexts').fill('12');
  await page.id('limit-contexts').press('Escape');
  assert.equal(await page.id('limit-contexts').inputValue(), '12');
  await page.id('tab-about').focus();
  await page.keyboard.press('Escape');
  await page.id('composer-input').waitFor();
});

journey('a companion is adjusted before it begins', LIFE, {}, async (page) => {
  await page.id('context-new').click();
  await page.shot('lists-picker');
  await page.id('adjust-preset-supportive-guide').click();
  await page.id('adjust-days').fill('0');
  await page.id('adjust-name').fill('Juno');
  await page.id('adjust-make').click();
  await page.getByText('A whole number from 1 to 3,650').waitFor();
  await page.shot('lists-adjust');
  await page.id('adjust-never').check();
  await page.id('adjust-make').click();
  await page.id('context-item').getByText('Juno').waitFor();
});

journey('menus open where Arabic begins', LIFE, {}, async (page) => {
  await inArabic(page);
  await page.id('tab-providers').click();
  await page.id('provider-add').click();
  const direction = (node) => getComputedStyle(node).direction;
  assert.equal(await page.locator('.menu').evaluate(direction), 'rtl');
  await page.shot('lists-menu-ar');
});

journey('looks in Arabic', LIFE, {}, async (page) => {
  await inArabic(page);
  await page.shot('lists-general-ar');
  await page.id('settings-back').click();
  await page.shot('lists-chat-ar');
  await page.id('context-new').click();
  await page.id('adjust-preset-supportive-guide').click();
  await page.shot('lists-adjust-ar');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.id('open-trash').click();
  await page.id('trash-item').first().waitFor();
  await page.shot('lists-trash-ar');
});

journey('looks in the dark', LIFE, { colorScheme: 'dark' }, async (page) => {
  await page.shot('lists-chat-dark');
  await page.id('context-new').click();
  await page.shot('lists-picker-dark');
  await page.keyboard.press('Escape');
  await page.id('open-trash').click();
  await page.id('trash-item').first().waitFor();
  await page.shot('lists-trash-dark');
});

journey('fits a small window', LIFE, SMALL, async (page) => {
  await page.id('open-nav').click();
  await page.id('context-item').first().waitFor();
  await page.shot('lists-small');
});

const WELCOME = 'index.html?vault=open&pace=4';

journey('a refused key is tried again with the same provider', WELCOME, {}, async (page) => {
  const count = () => page.evaluate(() => globalThis.fake.world.providers.length);
  await page.id('notice-accept').waitFor();
  const before = await count();
  await page.id('notice-accept').click();
  await page.id('offer-cloud').click();
  await page.id('template-openai').click();
  await page.id('provider-save').click();
  await page.id('error').waitFor();
  await page.id('provider-save').click();
  await page.id('error').waitFor();
  await page.id('provider-key').fill('sk-secret');
  await page.id('provider-save').click();
  await page.id('cloud-model').waitFor();
  assert.equal(await count(), before + 1);
});
