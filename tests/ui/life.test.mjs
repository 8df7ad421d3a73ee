/** Journeys through the life of companions, conversations and messages. */
import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const LIFE = 'index.html?seed=life&pace=4';

async function menu(page, name, act) {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.id(`context-${act}`).click();
}

async function talkMenu(page, title, act) {
  await page.getByRole('button', { name: `More for “${title}”` }).click();
  await page.id(`conversation-${act}`).click();
}

const names = (page) => page.id('context-item').allInnerTexts();
const titles = (page) =>
  page
    .id('conversation-item')
    .evaluateAll((items) => items.map((item) => item.querySelector('.side').textContent));

/** Shows the conversation in which the persona changed and another companion answered. */
async function openDisagreement(page) {
  await page.id('conversation-item').getByText('A disagreement with my sister').click();
  await page.id('answered-by').waitFor();
}

/** Waits until what `read` gives is as expected. */
async function eventually(read, expected) {
  let seen;
  for (let turn = 0; turn < 60; turn += 1) {
    seen = await read();
    try {
      assert.deepEqual(seen, expected);
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  assert.deepEqual(seen, expected);
}

journey('companions are filtered, sorted and marked', LIFE, {}, async (page) => {
  await page.id('badge-expired').getByText('Expired').waitFor();
  await page.id('badge-expiring').getByText('expires in 5 hours').waitFor();
  await page.shot('life-sidebar');
  await page.id('context-filter-toggle').click();
  await page.id('context-filter').fill('pro');
  assert.equal((await names(page)).length, 1);
  await page.id('context-filter').fill('');
  await page.id('tag-chip').getByText('work').click();
  await page.shot('life-filter');
  assert.deepEqual((await names(page)).length, 2);
  await page.id('context-filter').press('Escape');
  assert.equal((await names(page)).length, 4);
  await page.id('context-sort').click();
  await page.shot('life-sort');
  await page.id('sort-name').click();
  assert.match((await names(page))[0], /^CC/);
  assert.match((await names(page))[1], /Mira/);
});

journey('a companion is edited, with advice and problems at the fields', LIFE, {}, async (page) => {
  await menu(page, 'Calm Counselor', 'edit');
  await page.id('context-prompt').fill('You are nice and you insult whoever you like.');
  await page.locator('[data-testid=advice][data-code=second_person]').waitFor();
  await page.shot('life-advice');
  await page.id('context-name').fill(' ');
  await page.id('context-advanced').click();
  await page.id('context-days').fill('5000');
  await page.id('context-recommend').click();
  await page.getByText('Fits this model’s window of 8,192 tokens').waitFor();
  assert.equal(await page.id('context-history').inputValue(), '7192');
  await page.id('context-save').click();
  await page.getByText('A whole number from 1 to 3,650').waitFor();
  await eventually(
    () => page.evaluate(() => document.activeElement?.getAttribute('data-testid')),
    'context-name',
  );
  await page.shot('life-problems');
  await page.id('context-name').fill('Anna');
  await page.id('context-never').check();
  await page.id('tag-input').fill('evening, calm,');
  await page.id('context-save').click();
  await page.id('context-title').getByText('Anna').waitFor();
  await menu(page, 'Anna', 'edit');
  assert.deepEqual(await page.id('tag').allInnerTexts(), ['calm', 'work', 'evening']);
  await page.id('context-advanced').click();
  assert.ok(await page.id('context-never').isChecked());
  await page.shot('life-advanced');
});

journey('a model elsewhere is asked for in the dialog too', LIFE, {}, async (page) => {
  await menu(page, 'Calm Counselor', 'edit');
  const field = page.id('model-field');
  await field.getByRole('switch').click();
  await field.getByTestId('model-chip').click();
  await page.getByText('gpt-5-mini').click();
  await page.getByText('api.openai.com').waitFor();
  await page.id('confirm-no').click();
  await field.getByTestId('model-chip').click();
  await page.getByText('qwen3:8b').click();
  await field.getByTestId('model-chip').getByText('qwen3:8b').waitFor();
  await page.id('context-save').click();
  await page.id('model-chip').getByText('qwen3:8b').waitFor();
});

journey('a companion is duplicated, deleted and brought back', LIFE, {}, async (page) => {
  await menu(page, 'Mira', 'duplicate');
  await page.id('context-title').getByText('Mira (2)').waitFor();
  await menu(page, 'Mira (2)', 'delete');
  await page.id('notices').getByText('Mira (2) is in the trash').waitFor();
  await page.shot('life-undo');
  await page.id('notice-action').click();
  await page.id('context-title').getByText('Mira (2)').waitFor();
});

journey('wordings of a persona: compare two, restore one', LIFE, {}, async (page) => {
  await openDisagreement(page);
  await page.id('revision-mark').scrollIntoViewIfNeeded();
  await page.shot('life-mark');
  await page.id('revision-mark').click();
  const changed = page.id('comparison');
  await changed.locator('ins').first().waitFor();
  assert.match((await changed.locator('ins').allInnerTexts()).join(' '), /one question at a time/);
  await page.shot('life-revisions');
  await page.id('revision-restore').click();
  await page.id('notices').getByText('restored wording').waitFor();
  await eventually(() => page.id('revision-restore').count(), 1);
});

journey(
  'an expired companion can be read, not written to, until extended',
  LIFE,
  {},
  async (page) => {
    await page.id('context-item').getByText('Project Planner').click();
    await page.id('expired').waitFor();
    await page.getByText('Planning the move: I keep').waitFor();
    assert.equal(await page.id('composer-input').count(), 0);
    await page.id('message-assistant').last().hover();
    assert.equal(await page.id('regenerate').count(), 0);
    assert.equal(await page.id('delete').count(), 0);
    await page.shot('life-expired');
    await page.id('extend').click();
    await page.id('composer-input').waitFor();
    assert.equal(await page.id('badge-expired').count(), 0);
  },
);

journey('conversations: pin, archive, tags, several at once, undo', LIFE, {}, async (page) => {
  await eventually(async () => (await titles(page))[0], 'The team meeting yesterday');
  await talkMenu(page, 'Ninety small steps', 'pin');
  await eventually(
    async () => (await titles(page)).slice(0, 2),
    ['Ninety small steps', 'The team meeting yesterday'],
  );
  await talkMenu(page, 'A letter to my landlord', 'archive');
  await page.id('notices').getByText('in the archive').waitFor();
  await eventually(async () => (await titles(page)).includes('A letter to my landlord'), false);
  await page.id('conversations-menu').click();
  await page.shot('life-list-menu');
  await page.id('list-archived').click();
  await eventually(
    async () => (await titles(page)).includes('Sleeping badly before deadlines'),
    true,
  );
  await talkMenu(page, 'The team meeting yesterday', 'tags');
  await page.id('tag-input').fill('monday');
  await page.id('tags-save').click();
  await page.id('conversation-item').getByText('monday').waitFor();
  await page.id('conversation-filter-toggle').click();
  await page.id('tag-chip').getByText('monday').click();
  await eventually(() => titles(page), ['The team meeting yesterday']);
  await page.id('conversation-filter-toggle').click();
  await page.id('conversations-menu').click();
  await page.id('list-choose').click();
  await page.id('conversation-tick').nth(0).check();
  await page.id('conversation-tick').nth(1).check();
  await page.id('chosen-count').getByText('2 selected').waitFor();
  await page.shot('life-choose');
  await page.id('chosen-delete').click();
  await page.id('notices').getByText('2 conversations are in the trash').waitFor();
  await page.id('notice-action').last().click();
  await eventually(async () => (await titles(page)).length, 5);
});

journey('conversations: older than a day, and all', LIFE, {}, async (page) => {
  await page.id('conversations-menu').click();
  await page.id('list-older').click();
  await page.id('older-day').fill('2026-05-01');
  await page.shot('life-older');
  await page.id('confirm-yes').click();
  await page.id('notices').getByText('No conversation was that old').waitFor();
  await page.id('conversations-menu').click();
  await page.id('list-clear').click();
  await page.shot('life-clear');
  await page.id('confirm-yes').click();
  await page.getByText('No conversations yet').waitFor();
  await page.getByText('is here').waitFor();
  await page.id('notice-action').last().click();
  await eventually(async () => (await titles(page)).length, 4);
});

journey('conversations: statistics and export', LIFE, {}, async (page) => {
  await talkMenu(page, 'A disagreement with my sister', 'statistics');
  await page.id('statistics').getByText('Rational Advisor').waitFor();
  await page.shot('life-statistics');
  await page.keyboard.press('Escape');
  await talkMenu(page, 'A disagreement with my sister', 'export');
  await page.id('export-text').getByText('# A disagreement').waitFor();
  await page.shot('life-export');
  await page.id('choice-text').check({ force: true });
  await page.id('export-text').getByText('You:').waitFor();
  await page.id('choice-json').check({ force: true });
  await page.id('export-text').getByText('"conversation"').waitFor();
  await page.id('export-copy').click();
  await page.getByText('Copied').waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(copied.messages.length, 8);
  await page.id('export-save').click();
  await page.id('notices').getByText('.json').waitFor();
});

journey('a message is deleted and comes back; thumbs are kept', LIFE, {}, async (page) => {
  await openDisagreement(page);
  const replies = page.id('message-assistant');
  const last = replies.last();
  await last.getByTestId('answered-by').getByText('Answered by Rational Advisor').waitFor();
  await last.hover();
  await last.getByTestId('vote-up').click();
  await eventually(() => last.getByTestId('vote-up').getAttribute('aria-pressed'), 'true');
  await page.shot('life-vote');
  await last.getByTestId('delete').click();
  await page.id('notices').getByText('The message was deleted').waitFor();
  await eventually(() => page.id('answered-by').count(), 0);
  await page.id('notice-action').click();
  await page.id('answered-by').waitFor();
  assert.equal(await page.id('vote-up').last().getAttribute('aria-pressed'), 'true');
});

journey('another companion answers', LIFE, {}, async (page) => {
  await page.id('agent-menu').click();
  await page.shot('life-agents');
  await page.id('agent-item').getByText('Mira').click();
  await page.getByPlaceholder('Message Mira').fill('What do you say?');
  await page.keyboard.press('Enter');
  await page.id('answered-by').getByText('Answered by Mira').waitFor();
  await page.id('composer-send').waitFor();
  assert.equal(await page.id('context-title').innerText(), 'Calm Counselor');
});

journey('search finds, filters, and opens a message in its place', LIFE, {}, async (page) => {
  await page.id('composer-input').waitFor();
  await page.keyboard.press('Control+k');
  await page.id('search-input').waitFor();
  await page.keyboard.type('number 20');
  await page.id('search-hit').first().waitFor();
  await page.shot('life-search');
  await page.id('search-context').selectOption({ label: 'Mira' });
  await page.getByText('Nothing found').waitFor();
  await page.id('search-context').selectOption({ label: 'All' });
  await page.id('search-hit').first().waitFor();
  await page.id('search-input').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.id('search').waitFor({ state: 'hidden' });
  const found = page.locator('[data-lit]');
  await found.getByText('And then, number 20?').waitFor();
  assert.ok(await found.isVisible());
  const box = await found.boundingBox();
  assert.ok(box.y > 0 && box.y < 700, `in view at ${box.y}`);
  await page.shot('life-found');
  await page.id('messages').hover();
  const newest = page.getByText('And then, number 90?');
  assert.equal(await newest.count(), 0);
  for (let turn = 0; turn < 60 && (await newest.count()) === 0; turn += 1) {
    await page.mouse.wheel(0, 900);
    await page.waitForTimeout(40);
  }
  await newest.waitFor();
  await page.mouse.wheel(0, -3_000);
  await page.id('to-end').click();
  await page.getByText('And then, number 90?').waitFor();
});

journey('the trash: restore, delete for good, empty', LIFE, {}, async (page) => {
  await page.id('open-trash').click();
  await page.id('trash').getByText('Old Friend').waitFor();
  await page.shot('life-trash');
  await page.getByRole('button', { name: 'Restore Old Friend' }).click();
  await page.id('notices').getByText('Old Friend is back').waitFor();
  await page.getByRole('button', { name: 'Delete Something I deleted for good' }).click();
  await page.id('confirm-no').click();
  await page.id('trash-empty').click();
  assert.ok(await page.id('confirm-yes').isDisabled());
  await page.id('trash-word').fill('Delete');
  await page.shot('life-trash-empty');
  await page.id('confirm-yes').click();
  await page.getByText('The trash is empty').waitFor();
  await page.keyboard.press('Escape');
  await page.id('context-item').getByText('Old Friend').waitFor();
});

journey('drafts outlive the lock', LIFE, {}, async (page) => {
  await page.id('composer-input').fill('half a thought');
  await page.id('lock').click();
  await page.id('unlock-retry').click();
  await page.waitForFunction(
    () => document.querySelector('[data-testid=composer-input]')?.value === 'half a thought',
  );
});

journey('presets: use, hide, edit, reset, make one of a companion', LIFE, {}, async (page) => {
  await menu(page, 'Mira', 'preset');
  await page.id('name-input').fill('Evening guide');
  await page.id('name-save').click();
  await page.id('notice-action').click();
  await page.id('preset-item').getByText('Evening guide').waitFor();
  await page.shot('life-presets');
  assert.match(await page.id('preset-item').first().innerText(), /experimental/);
  const calm = page.locator('[data-preset-id=preset-calm-counselor]');
  await calm.getByTestId('preset-menu').click();
  await page.id('preset-edit').click();
  await page.id('preset-metadata').fill('{ "experimental": ');
  await page.getByText('This is no JSON').waitFor();
  await page.shot('life-preset-form');
  await page.id('preset-save').click();
  await page.id('preset-metadata').fill('{ "experimental": true }');
  await page.id('preset-save').click();
  await calm.getByText('changed').waitFor();
  await calm.getByTestId('preset-menu').click();
  await page.id('preset-reset').click();
  await page.id('confirm-yes').click();
  await calm.getByText('changed').waitFor({ state: 'hidden' });
  await calm.getByTestId('preset-menu').click();
  await page.id('preset-hide').click();
  await calm.waitFor({ state: 'hidden' });
  await page.getByRole('switch', { name: 'Show 1 hidden' }).click();
  await calm.getByText('hidden', { exact: true }).waitFor();
  await page.locator('[data-preset-id^=preset-]').getByText('Evening guide').waitFor();
  await page.getByRole('button', { name: 'New companion from Evening guide' }).click();
  await page.id('context-title').getByText('Evening guide').waitFor();
});

for (const [name, options] of [
  ['dark', { colorScheme: 'dark' }],
  ['small', { width: 720, height: 560 }],
  ['arabic', { locale: 'ar' }],
]) {
  journey(`the same ${name}: nothing sticks out`, LIFE, options, async (page) => {
    const small = name === 'small';
    if (small) await page.id('open-nav').click();
    await openDisagreement(page);
    const shows = async (what) => {
      await page.waitForTimeout(120);
      await page.shot(`life-${name}-${what}`);
      const wide = await page.evaluate(() => {
        const root = document.documentElement;
        return root.scrollWidth > root.clientWidth;
      });
      assert.ok(!wide, `${what} is wider than the window`);
    };
    await shows('chat');
    if (small) await page.id('open-nav').click();
    if (small) await shows('nav');
    await page.id('open-search').click();
    await page.keyboard.type('calm');
    await page.id('search-hit').first().waitFor();
    await shows('search');
    await page.keyboard.press('Escape');
    await page.id('revision-mark').click();
    await page.id('comparison').waitFor();
    await shows('revisions');
    await page.keyboard.press('Escape');
    if (small) await page.id('open-nav').click();
    await page.id('context-item').nth(0).hover();
    await page.id('context-menu').nth(0).click();
    await page.id('context-edit').click();
    await page.id('context-advanced').click();
    await shows('dialog');
    await page.keyboard.press('Escape');
    await page.id('open-trash').click();
    await page.id('trash-item').first().waitFor();
    await shows('trash');
    await page.keyboard.press('Escape');
    await page.id('chat-view').waitFor();
    if (small) await page.id('open-nav').click();
    await page.id('open-settings').click();
    await page.id('tab-presets').click();
    await page.id('preset-item').first().waitFor();
    await shows('presets');
  });
}

journey('a private conversation is marked, answers, and ends for good', LIFE, {}, async (page) => {
  await page.id('conversations-menu').click();
  await page.shot('private-menu');
  await page.id('list-private').click();
  await page.id('private-banner').waitFor();
  await page.shot('private-empty');
  await page.id('composer-input').fill('Only between us.');
  await page.id('composer-send').click();
  await page.id('composer-send').waitFor();
  await page.id('messages').getByText('Only between us.').waitFor();
  assert.equal(await page.id('private-item').count(), 1);
  await page.shot('private-said');
  assert.ok(!(await titles(page)).includes('Private conversation'));
  await talkMenu(page, 'Private conversation', 'end');
  await page.shot('private-end');
  await page.id('confirm-no').click();
  await page.id('private-end').click();
  await page.id('confirm-yes').click();
  await page.id('private-banner').waitFor({ state: 'detached' });
  assert.equal(await page.id('private-item').count(), 0);
});

journey('private conversations can be switched off', LIFE, {}, async (page) => {
  await page.id('open-settings').click();
  await page.id('tab-advanced').click();
  await page.getByRole('switch', { name: 'Private conversations' }).click();
  await page.keyboard.press('Escape');
  await page.id('conversations-menu').click();
  await page.id('list-choose').waitFor();
  assert.equal(await page.id('list-private').count(), 0);
});
