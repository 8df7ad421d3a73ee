import assert from 'node:assert/strict';
import { journey } from './journey.mjs';

const DEMO = 'index.html?seed=demo&pace=4';

async function say(page, text) {
  await page.id('composer-input').fill(text);
  await page.keyboard.press('Enter');
}

/** The newest whole reply. */
async function answered(page, status = 'complete') {
  await page.id('composer-send').waitFor();
  const last = page.id('message-assistant').last();
  await last.waitFor();
  assert.equal(await last.getAttribute('data-status'), status);
  return last;
}

/** Copies the groups asked for from the recovery code. */
async function typeBack(page) {
  const groups = (await page.id('recovery-groups').getAttribute('data-groups')).split(' ');
  await page.id('recovery-next').click();
  for (const field of await page.locator('[data-testid^=recovery-input-]').all()) {
    await field.fill(groups[Number(await field.getAttribute('data-group'))].toLowerCase());
  }
}

async function newConversation(page) {
  await page.id('conversation-new').click();
  await page.getByText('is here').waitFor();
}

journey('first run, from nothing to the first reply', 'index.html?pace=4', {}, async (page) => {
  await page.id('welcome-start').click();
  await page.id('notice-accept').click();
  await page.id('vault-create').click();
  await page.shot('welcome-recovery');
  await typeBack(page);
  await page.id('recovery-input-0').fill('XXXX');
  await page.id('recovery-confirm').click();
  await page.getByText('This is not group 2. Compare it with your copy.').waitFor();
  assert.equal(await page.id('recovery-input-0').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.id('error').count(), 0);
  await page.shot('welcome-recovery-wrong');
  await page.id('recovery-back').click();
  await typeBack(page);
  await page.id('recovery-confirm').click();
  await page.getByText('small, for trying out').waitFor();
  await page.shot('welcome-model');
  await page.id('offer-builtIn').click();
  await page.shot('welcome-companion');
  await page.id('preset-calm-counselor').click();
  await say(page, 'I am furious. Nobody listened to me in that meeting!');
  const reply = await answered(page);
  assert.ok((await reply.innerText()).length > 40);
  await page.shot('chat');
});

journey(
  'a vault without a keychain takes a passphrase',
  'index.html?keychain=none',
  {},
  async (page) => {
    await page.id('welcome-start').click();
    await page.id('notice-accept').click();
    await page.id('keychain-missing').waitFor();
    assert.ok(await page.id('vault-way-keychain').isDisabled());
    await page.id('vault-passphrase').fill('short');
    assert.ok(await page.id('vault-create').isDisabled());
    await page.id('vault-passphrase').fill('a longer passphrase');
    await page.id('vault-passphrase-again').fill('a longer passphrase');
    await page.shot('welcome-passphrase');
    await page.id('vault-create').click();
    await page.id('recovery-groups').waitFor();
  },
);

journey(
  'a cloud model is chosen only after a plain question',
  'index.html?pace=4',
  {},
  async (page) => {
    await page.id('welcome-start').click();
    await page.id('notice-accept').click();
    await page.id('vault-create').click();
    await typeBack(page);
    await page.id('recovery-confirm').click();
    await page.id('offer-cloud').click();
    await page.id('template-mistral').click();
    await page.id('provider-key').fill('secret-key-9f3b');
    await page.shot('welcome-cloud-key');
    await page.id('provider-save').click();
    await page.id('cloud-model').selectOption('example-model');
    await page.getByText('api.mistral.ai').waitFor();
    await page.id('confirm-yes').click();
    await page.id('preset-calm-counselor').waitFor();
  },
);

journey('a server that runs already shows its models', 'index.html?pace=4', {}, async (page) => {
  await page.id('welcome-start').click();
  await page.id('notice-accept').click();
  await page.id('vault-create').click();
  await typeBack(page);
  await page.id('recovery-confirm').click();
  await page.id('offer-localServer').nth(1).click();
  await page.getByText('has no model that can chat').waitFor();
  await page.getByText('Back', { exact: true }).click();
  await page.id('offer-localServer').first().click();
  assert.deepEqual(await page.id('server-model').count(), 1);
  await page.shot('welcome-server');
  await page.id('server-model').getByText('qwen3:8b').click();
  await page.id('preset-calm-counselor').waitFor();
});

journey(
  'a recovery code that was never typed back is made anew',
  'index.html?vault=confirmRecovery',
  {},
  async (page) => {
    await page.id('recovery-groups').waitFor();
    await page.id('recovery-next').click();
  },
);

for (const state of [
  'unavailable',
  'locked',
  'waiting',
  'missing',
  'wrongKey',
  'damaged',
  'tooNew',
  'lockedByUser',
  'opening',
]) {
  journey(`unlock screen: ${state}`, `index.html?seed=demo&vault=${state}`, {}, async (page) => {
    await page.locator(`[data-testid=unlock-state][data-state=${state}]`).waitFor();
    await page.shot(`unlock-${state}`);
    if (state === 'opening') return;
    if (state === 'waiting') await page.id('unlock-cancel').waitFor();
    else await page.id('unlock-retry').waitFor();
    if (state === 'damaged' || state === 'tooNew') {
      assert.equal(await page.id('unlock-recovery').count(), 0);
      return;
    }
    await page.id('unlock-passphrase').click();
    await page.id('unlock-secret').fill('nonsense');
    await page.keyboard.press('Enter');
    await page.locator('[data-code=wrong_key]').waitFor();
    await page.id('unlock-secret').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.id('chat-view').waitFor();
  });
}

journey(
  'unlock screen: the drive with the data is away, and comes back',
  'index.html?seed=demo&away=/media/data/evenkeel',
  {},
  async (page) => {
    await page.id('unlock-state').getByText('/media/data/evenkeel', { exact: true }).waitFor();
    await page.locator('[data-code=vault_away]').waitFor();
    await page.shot('unlock-away');
    // No key helps, and nothing new can be begun.
    assert.equal(await page.id('unlock-recovery').count(), 0);
    assert.equal(await page.id('welcome-start').count(), 0);
    await page.id('unlock-retry').click();
    await page.locator('[data-code=vault_away]').waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event('fake-plugged')));
    await page.id('unlock-retry').click();
    await page.id('chat-view').waitFor();
  },
);

journey(
  'a reply streams, is stopped, and keeps what had arrived',
  'index.html?seed=demo&pace=15',
  {},
  async (page) => {
    await newConversation(page);
    await say(page, 'a long one please');
    await page.locator('[data-status=streaming]').getByText('Step 2').waitFor();
    await page.shot('streaming');
    await page.id('composer-stop').click();
    const reply = await answered(page, 'stopped');
    assert.match(await reply.innerText(), /Step 2/);
    await reply.getByTestId('status-mark').waitFor();
  },
);

journey('answering again and editing make branches to switch between', DEMO, {}, async (page) => {
  await newConversation(page);
  await say(page, 'first wording');
  const first = await (await answered(page)).getByTestId('message-text').innerText();
  await page.id('message-assistant').last().hover();
  await page.id('regenerate').last().click();
  await page.id('branch-count').getByText('2/2').waitFor();
  const second = await (await answered(page)).getByTestId('message-text').innerText();
  assert.notEqual(first, second);
  await page.id('branch-prev').click();
  await page.id('branch-count').getByText('1/2').waitFor();
  assert.equal(
    await page.id('message-assistant').last().getByTestId('message-text').innerText(),
    first,
  );
  await page.id('message-user').hover();
  await page.id('edit').click();
  await page.id('edit-input').fill('second wording');
  await page.shot('edit');
  await page.id('edit-save').click();
  await answered(page);
  assert.equal(
    await page.id('message-user').getByTestId('message-text').innerText(),
    'second wording',
  );
  await page.shot('branches');
});

journey(
  'Markdown, code and formulas are set; links are shown before they open',
  DEMO,
  {},
  async (page) => {
    await newConversation(page);
    await say(page, 'Show me a markdown plan');
    await answered(page);
    await page.locator('.katex-display').waitFor();
    await page.locator('.hljs-keyword').first().waitFor();
    await page.shot('markdown');
    await page.getByRole('link', { name: 'decision matrices' }).click();
    assert.equal(
      await page.id('link-address').innerText(),
      'https://en.wikipedia.org/wiki/Decision_matrix',
    );
    await page.shot('link');
    await page.id('confirm-no').click();
  },
);

journey('a hostile reply is text and loads nothing', DEMO, {}, async (page) => {
  await newConversation(page);
  await say(page, 'be hostile');
  const reply = await answered(page);
  assert.equal(await reply.locator('img, script, iframe').count(), 0);
  assert.match(await reply.innerText(), /<img src=x onerror=alert\(1\)>/);
  assert.equal(await reply.locator('a[href^=javascript]').count(), 0);
});

journey('errors say what happened and offer a way on', DEMO, {}, async (page) => {
  await newConversation(page);
  await say(page, 'rate limit');
  await page
    .locator('[data-code=provider_rate_limited]')
    .getByText('The provider asks to wait 20 seconds')
    .waitFor();
  await page.shot('error');
  await page.id('retry-reply').waitFor();
  await newConversation(page);
  await say(page, 'please break');
  await answered(page, 'interrupted');
});

journey(
  'a long conversation opens at its end and fetches earlier messages',
  DEMO,
  {},
  async (page) => {
    await page.getByText('And then, number 90?').waitFor();
    const log = page.id('messages');
    await log.hover();
    for (
      let turn = 0;
      turn < 60 && (await page.getByText('And then, number 20?').count()) === 0;
      turn += 1
    ) {
      await page.mouse.wheel(0, -1_500);
      await page.waitForTimeout(40);
    }
    await page.getByText('And then, number 20?').waitFor();
  },
);

journey('leaving this machine is asked for, staying is not', DEMO, {}, async (page) => {
  assert.equal(await page.id('model-chip').getAttribute('data-locality'), 'local');
  await page.id('model-chip').click();
  await page.getByText('gpt-5-mini').waitFor();
  await page.shot('models');
  await page.getByText('gpt-5-mini').click();
  await page.getByText('api.openai.com').waitFor();
  await page.shot('remote');
  await page.id('confirm-no').click();
  assert.equal(await page.id('model-chip').getAttribute('data-locality'), 'local');
  await page.id('model-chip').click();
  await page.getByText('qwen3:8b').click();
  await page.id('model-chip').getByText('qwen3:8b').waitFor();
  await page.id('model-chip').click();
  await page.getByText('gpt-oss:120b-cloud').click();
  await page.getByText('the cloud of Ollama').waitFor();
  await page.shot('remote-handed-on');
  await page.id('confirm-no').click();
  assert.equal(await page.id('model-chip').getAttribute('data-locality'), 'local');
});

journey('companions are made, edited and deleted', DEMO, {}, async (page) => {
  await page.id('context-new').click();
  await page.shot('presets');
  await page.id('preset-blank').click();
  await page.id('context-name').fill('Anna');
  await page.id('context-prompt').fill('Anna answers in two sentences.');
  await page.shot('context');
  await page.id('context-save').click();
  await page.id('context-title').getByText('Anna').waitFor();
  await page.id('context-item').getByText('Anna').hover();
  await page.getByRole('button', { name: 'More for Anna' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.id('notices').getByText('Anna is in the trash').waitFor();
  await page.id('context-title').getByText('Calm Counselor').waitFor();
});

journey('drafts stay with their conversation', DEMO, {}, async (page) => {
  await page.id('composer-input').fill('half a thought');
  await page.id('conversation-item').nth(1).click();
  await page.waitForFunction(
    () => document.querySelector('[data-testid=composer-input]')?.value === '',
  );
  await page.id('conversation-item').nth(0).click();
  await page.waitForFunction(
    () => document.querySelector('[data-testid=composer-input]')?.value === 'half a thought',
  );
});

journey('Enter of an input method does not send', DEMO, {}, async (page) => {
  await newConversation(page);
  await page.id('composer-input').fill('にほん');
  await page.id('composer-input').dispatchEvent('keydown', {
    key: 'Enter',
    isComposing: true,
    keyCode: 229,
  });
  await page.waitForTimeout(150);
  assert.equal(await page.id('message-user').count(), 0);
  await page.keyboard.press('Shift+Enter');
  assert.match(await page.id('composer-input').inputValue(), /\n/);
});

journey('settings: theme, language, providers, models, about', DEMO, {}, async (page) => {
  await page.id('open-settings').click();
  await page.id('shortcut-note').getByText('evenkeel quick').waitFor();
  await page.shot('settings-general');
  await page.id('theme-dark').check({ force: true });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.id('tab-providers').click();
  await page.id('provider-test').nth(2).click();
  await page.id('provider-ok').waitFor();
  await page.id('provider-add').click();
  await page.id('template-groq').click();
  assert.equal(await page.id('provider-url').inputValue(), 'https://api.groq.com/openai/v1');
  await page.shot('settings-provider-dark');
  await page.id('provider-save').click();
  await page.id('provider-test').nth(3).click();
  await page.locator('[data-code=provider_unauthorized]').waitFor();
  await page.shot('settings-providers-dark');
  await page.id('tab-models').click();
  await page.id('model-add').click();
  await page.getByText('Qwen3-4B-Q4_K_M').waitFor();
  await page.shot('settings-models-dark');
  await page.id('tab-about').click();
  await page.id('profile-dir').waitFor();
  await page.keyboard.press('Escape');
  await page.id('chat-view').waitFor();
});

journey(
  'everything by keyboard: a first run without a mouse',
  'index.html?pace=4',
  {},
  async (page) => {
    const onto = async (name) => {
      for (let step = 0; step < 40; step += 1) {
        if (
          await page.evaluate(
            (id) => document.activeElement?.getAttribute('data-testid') === id,
            name,
          )
        )
          return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`the keyboard does not reach ${name}`);
    };
    const press = async (name) => {
      await page.id(name).waitFor();
      await onto(name);
      await page.keyboard.press('Enter');
    };
    await press('welcome-start');
    await press('notice-accept');
    await press('vault-create');
    await page.id('recovery-groups').waitFor();
    const groups = (await page.id('recovery-groups').getAttribute('data-groups')).split(' ');
    await press('recovery-next');
    for (const [index, group] of [1, 4, 6].entries()) {
      await onto(`recovery-input-${index}`);
      await page.keyboard.type(groups[group]);
    }
    await page.keyboard.press('Enter');
    await press('offer-builtIn');
    await page.id('preset-calm-counselor').waitFor();
    await onto('preset-calm-counselor');
    await page.shot('keyboard-focus');
    await page.keyboard.press('Enter');
    await page.id('composer-input').waitFor();
    await page.keyboard.type('typed without a mouse');
    await page.keyboard.press('Enter');
    await answered(page);
    await onto('regenerate');
    await page.keyboard.press('Enter');
    await page.id('branch-count').getByText('2/2').waitFor();
  },
);

journey('dark', DEMO, { colorScheme: 'dark' }, async (page) => {
  await newConversation(page);
  await say(page, 'Show me a markdown plan and think');
  await answered(page);
  await page.shot('dark');
  const [ink, ground] = await page.evaluate(() => [
    getComputedStyle(document.body).color,
    getComputedStyle(document.body).backgroundColor,
  ]);
  assert.ok(
    ground.match(/\d+/g).every((part) => Number(part) < 60),
    ground,
  );
  assert.ok(
    ink
      .match(/\d+/g)
      .slice(0, 3)
      .every((part) => Number(part) > 180),
    ink,
  );
});

journey('right to left', DEMO, { locale: 'ar' }, async (page) => {
  await page.waitForFunction(() => document.documentElement.dir === 'rtl');
  await page.id('conversation-new').click();
  await say(page, 'مرحبا، أنا غاضب جدا اليوم');
  await answered(page);
  await page.shot('rtl');
  const list = await page.locator('nav').boundingBox();
  assert.ok(list.x > 500, 'the list is on the right');
  await page.id('open-settings').click();
  await page.shot('rtl-settings');
});

journey('German', DEMO, { locale: 'de-DE' }, async (page) => {
  await page.getByRole('heading', { name: 'Begleiter', exact: true }).waitFor();
});

journey('a small window', DEMO, { width: 400, height: 500 }, async (page) => {
  assert.ok(!(await page.locator('nav').isVisible()));
  await page.id('open-nav').click();
  await page.shot('small-nav');
  await page.id('conversation-new').click();
  await say(page, 'markdown in a small window');
  await answered(page);
  await page.shot('small');
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
  assert.ok(!wide, 'nothing sticks out');
  await page.id('open-nav').click();
  await page.id('open-settings').click();
  await page.id('tab-providers').click();
  await page.shot('small-settings');
});

journey(
  'quick chat: type, read, move on, hide',
  'quick-chat.html?seed=demo&pace=4',
  { width: 480, height: 420 },
  async (page) => {
    await page.id('quick-input').waitFor();
    await page.waitForFunction(
      () => document.activeElement?.getAttribute('data-testid') === 'quick-input',
    );
    assert.equal(
      await page.id('quick-context').getAttribute('data-value'),
      'context-preset-calm-counselor',
    );
    await page.shot('quick-empty');
    await page.keyboard.type('A quick markdown question');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=quick-answer][data-status=complete]').waitFor();
    await page.shot('quick-answer');
    await page.keyboard.press('Control+Enter');
    await page.waitForFunction(() => document.body.hasAttribute('data-moved'));
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.body.hasAttribute('data-hidden-by'));
  },
);

journey(
  'quick chat of a locked vault says so',
  'quick-chat.html?seed=demo&vault=lockedByUser',
  { width: 480, height: 420 },
  async (page) => {
    await page.id('quick-locked').waitFor();
    await page.shot('quick-locked');
  },
);

journey('locking hides everything at once', DEMO, {}, async (page) => {
  await page.getByText('And then, number 90?').waitFor();
  await page.id('lock').click();
  await page.locator('[data-state=lockedByUser]').waitFor();
  assert.equal(await page.getByText('And then').count(), 0);
  await page.id('unlock-retry').click();
  await page.getByText('And then, number 90?').waitFor();
});
