/** Keys with few scopes in Chromium: the page has only what they allow, requests nothing else, and names the key. */
import '../../../helpers/service/dead-buses.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { describeDigest } from '#src/access/key.js';
import type { Scope } from '#src/scopes.js';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';
import { isUp, startHub } from '../../../hub/setup.ts';
import { card, liveState, openPage, PHONE, skipBrowser, startBrowser, until } from '../../browser.ts';
import { chartOf, KnownPast, panelOf, partAt, placeAt } from '../../dashboard/past-rig.ts';
import { startAgent } from '../../fleet/rig.ts';

const KEY = 'correct-horse-battery-staple-0123456789abcd';
const LONG_NAME = 'the_phone_in_the_kitchen_'.repeat(2).padEnd(63, 'x');
const QUICK: ConfigPart = {
  stats: { stream_interval_seconds: 1 },
  features: { enable_restart: true, enable_shutdown: true, enable_process_control: true },
};
const FORGET = 'Forget the key on this device';
const CONTROLS = ['Previous track', 'Pause', 'Next track', 'Mute'];

const withKey = (scopes: readonly Scope[], name = 'phone', expires?: string): ConfigPart => ({
  ...QUICK,
  auth: {
    enabled: true,
    keys: { [name]: { digest: describeDigest(KEY), scopes, ...(expires === undefined ? {} : { expires }) } },
  },
});
const withGuests = (guests: readonly Scope[]): ConfigPart => ({
  ...QUICK,
  auth: {
    enabled: false,
    guests,
    keys: { phone: { digest: describeDigest(KEY), scopes: ['admin'] } },
  },
});

t.setTimeout(280_000);

/** The names of the buttons that act, in order: those that arrange the page are everybody's. */
const buttonsOf = async (page: Page) => {
  const buttons = page.locator('.card button:not(.fold), footer button');
  const names = await buttons.evaluateAll((all) =>
    all.map((each) => each.ariaLabel ?? each.textContent ?? ''),
  );
  return names.filter((name) => name !== 'Arrange the cards');
};

const lineOf = (page: Page) => page.locator('footer p').innerText();

if (skipBrowser) t.test('limited keys in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const openAt = async (t: Test, url: string, how: BrowserContextOptions = {}) => {
    const opened = await openPage(t, browser, how);
    const refused: string[] = [];
    opened.page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (response.status() >= 400) refused.push(`${response.status()} ${pathname}`);
    });
    await opened.page.goto(url);
    return { ...opened, refused };
  };

  const start = async (t: Test, config: ConfigPart) => {
    const past = new KnownPast();
    const at = Math.floor(Date.now() / 1000) - 60;
    past.events = [
      {
        at,
        rule: 'hot',
        series: 'cpu.temperature',
        state: 'begin',
        value: 93,
        text: 'hot: 93 °C',
        processes: await past.processesAt(at),
      },
    ];
    past.askedAt.length = 0;
    const service = await serveHere(t, livelyHost(), config, { history: past });
    return { service, past };
  };

  const open = async (t: Test, config: ConfigPart, how: BrowserContextOptions = {}) => {
    const { service, past } = await start(t, config);
    const fragment = config.auth?.enabled === true ? `#key=${KEY}` : '';
    const opened = await openAt(t, `${service.baseUrl}/${fragment}`, how);
    await liveState(opened.page).waitFor();
    await card(opened.page, 'Media').getByText('An Ending (Ascent)').waitFor();
    await card(opened.page, 'Events').getByText('hot: 93 °C').waitFor();
    return { ...opened, service, past };
  };

  /** Selects a moment of the processor's chart, and waits for its values. */
  const pointAtPast = async (page: Page, past: KnownPast) => {
    const chart = chartOf(page, 'Processor');
    await chart.scrollIntoViewIfNeeded();
    const { x, y } = await placeAt(chart, partAt(past, 30));
    await page.mouse.move(x, y);
    await panelOf(page).waitFor();
  };

  const UNTIL = '2099-12-31T12:00:00Z';
  const CASES: readonly (readonly [
    what: string,
    config: ConfigPart,
    line: string,
    buttons: readonly string[],
  ])[] = [
    ['read', withKey(['read']), 'key phone: read', [FORGET]],
    [
      'read, media',
      withKey(['read', 'media'], 'phone', UNTIL),
      'key phone: read, media, until 31 Dec 2099, 12:00',
      [...CONTROLS, FORGET],
    ],
    [
      'read, power.sleep, power.lock',
      withKey(['read', 'power.sleep', 'power.lock']),
      'key phone: read, power.sleep, power.lock',
      ['Lock', 'Sleep', FORGET],
    ],
    ['guests may read', withGuests(['read']), 'without a key: read', []],
  ];

  for (const [what, config, line, buttons] of CASES)
    t.test(`[10.keys-page] ${what}: what is not allowed is absent, and not requested`, async (t) => {
      const { page, complaints, refused, requested, past } = await open(t, config, { timezoneId: 'UTC' });
      t.equal(await lineOf(page), line);
      // The cards of power and of what is absent follow a request.
      await until(() => buttonsOf(page), buttons);
      const media = card(page, 'Media');
      t.equal(
        await media.getByRole('slider', { name: 'Position' }).count(),
        buttons.includes('Pause') ? 1 : 0,
      );
      t.match(await media.innerText(), /\d:\d\d/, 'the position is a part of the status');
      t.equal(await card(page, 'Processes').count(), 0);
      t.equal(await card(page, 'Power').count(), buttons.includes('Sleep') ? 1 : 0);
      t.equal(await card(page, 'Events').locator('details').count(), 0);
      await pointAtPast(page, past);
      // Longer than the page lets a moment rest before it asks.
      const answered = page.waitForResponse((response) => response.url().includes('/api/media/status'));
      await answered;
      t.equal(await panelOf(page).getByText('Most CPU').count(), 0);
      t.strictSame(past.askedAt, [], 'the processes of the past are not asked for');
      const lacking = await card(page, 'Not available here').locator('dt').allInnerTexts();
      for (const name of ['Processes', 'Ending processes', 'Hibernate', 'Restart'])
        t.notOk(lacking.includes(name), name);
      t.strictSame(refused, []);
      t.strictSame(complaints, []);
      t.strictSame(
        requested.filter((url) => url.includes('/api/processes')),
        [],
      );
    });

  t.test('[10.keys-page] what is allowed works, and a key that may do everything has no line', async (t) => {
    const { page, complaints, refused, past } = await open(t, withKey(['admin']));
    await card(page, 'Processes').getByRole('button', { name: 'Show all' }).click();
    await page.locator('tbody .act button').first().waitFor();
    await pointAtPast(page, past);
    await panelOf(page).getByText('Most CPU').waitFor();
    t.equal(await card(page, 'Events').locator('details').count(), 1);
    t.equal(await page.locator('footer p').count(), 0);
    for (const name of ['Lock', 'Sleep', 'Restart', 'Shut down'])
      t.equal(await page.getByRole('button', { name, exact: true }).count(), 1, name);
    t.strictSame(refused, []);
    t.strictSame(complaints, []);
  });

  t.test('[10.keys-page] processes without their control, and an action without its cancel', async (t) => {
    const { page, complaints, refused } = await open(t, withKey(['read', 'processes', 'power.sleep']));
    await card(page, 'Processes').getByRole('button', { name: 'Show all' }).click();
    await page.locator('tbody tr').first().waitFor();
    t.equal(await page.getByRole('columnheader', { name: 'Action' }).count(), 0);
    t.equal(await page.locator('tbody .act').count(), 0);
    await page.getByRole('button', { name: 'Sleep', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Sleep' }).click();
    await page.getByText(/^Sleeping in \d+ s$/).waitFor();
    t.equal(await page.getByRole('button', { name: 'Cancel it' }).count(), 0);
    t.strictSame(refused, []);
    t.strictSame(complaints, []);
  });

  t.test(
    '[10.keys-acts] a key without `read` has the cards of what it allows, and requests nothing else',
    async (t) => {
      const { service } = await start(t, withKey(['media', 'power.sleep', 'power.lock', 'power.cancel']));
      const { page, complaints, refused, requested } = await openAt(t, `${service.baseUrl}/#key=${KEY}`);
      await page
        .getByText('This key allows media, power.sleep, power.lock, and power.cancel only.')
        .waitFor();
      t.equal(await page.locator('.state').innerText(), 'Limited key');
      const all = ['Lock', 'Sleep', 'Previous track', 'Play', 'Pause', 'Next track', FORGET];
      t.strictSame(await buttonsOf(page), all);
      t.strictSame(await page.getByRole('region').allInnerTexts(), ['Power\nLock\nSleep', 'Media']);
      const posted = page.waitForResponse((response) => response.url().endsWith('/api/media/control'));
      await page.getByRole('button', { name: 'Next track' }).click();
      t.equal((await posted).status(), 200);
      await page.getByRole('button', { name: 'Sleep', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Sleep 127.0.0.1?' });
      await dialog.getByRole('button', { name: 'Sleep' }).click();
      await page.getByText(/^Sleeping in \d+ s$/).waitFor();
      await page.getByRole('button', { name: 'Cancel it' }).click();
      await page.getByText('Sleep was cancelled.').waitFor();
      t.strictSame(refused, []);
      t.strictSame(complaints, []);
      const paths = new Set(
        requested.map((url) => new URL(url).pathname).filter((path) => path.startsWith('/api/')),
      );
      t.strictSame([...paths].sort(), [
        '/api/access',
        '/api/media/control',
        '/api/pw/cancel',
        '/api/pw/sleep',
      ]);
      service.reconfigure({ ...withKey(['media']), features: { enable_media: false } });
      await page.reload();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('This feature is disabled in the configuration.').waitFor();
    },
  );

  t.test('[10.keys-page] it follows a reload: fewer scopes, more, and none', async (t) => {
    const { page, refused, service } = await open(t, withKey(['read', 'media', 'processes']));
    await card(page, 'Processes').waitFor();
    service.reconfigure(withKey(['read']));
    await page.getByText('key phone: read', { exact: true }).waitFor();
    await liveState(page).waitFor();
    await until(() => buttonsOf(page), [FORGET]);
    t.equal(await card(page, 'Media').count(), 1);
    service.reconfigure(withKey(['media'], 'remote'));
    await page.getByText('This key allows media only.').waitFor();
    t.equal(await page.locator('.cards > *').count(), 1, 'the card of media, and no old values');
    t.equal(await lineOf(page), 'key remote: media');
    t.strictSame(refused, [], 'no request is refused');
    service.reconfigure({ ...QUICK, auth: { enabled: true, keys: {} } });
    await page.evaluate('location.reload()');
    const prompt = page.getByRole('dialog', { name: 'This service requires a key' });
    await prompt.getByText('The key is no longer valid').waitFor();
    t.strictSame(await page.evaluate('[localStorage.length, sessionStorage.length]'), [0, 0]);
    t.strictSame(refused, ['401 /api/access'], 'one question, and no more');
  });

  t.test('[10.keys-page] a key that is removed while the page is open', async (t) => {
    const { page, refused, service } = await open(t, withKey(['read', 'media']));
    service.reconfigure({ ...QUICK, auth: { enabled: true, keys: {} } });
    const prompt = page.getByRole('dialog', { name: 'This service requires a key' });
    await prompt.getByText('The key is no longer valid').waitFor();
    t.match(await page.locator('.state').innerText(), /^Key required · as of /);
    const before = refused.length;
    t.ok(before >= 1 && refused.every((each) => each.startsWith('401 ')), refused.join());
    await prompt.getByLabel('Key', { exact: true }).fill(`${KEY}x`);
    await prompt.getByRole('button', { name: 'Connect' }).click();
    await prompt.getByText('That key was not accepted.').waitFor();
    t.equal(refused.length, before + 1, 'it did not ask again by itself');
    service.reconfigure(withKey(['read']));
    await prompt.getByLabel('Key', { exact: true }).fill(KEY);
    await prompt.getByRole('button', { name: 'Connect' }).click();
    await liveState(page).waitFor();
    t.equal(await lineOf(page), 'key phone: read');
  });

  t.test('[10.keys-page] guests that may not read are asked for a key', async (t) => {
    const { service } = await start(t, withGuests(['metrics']));
    const { page, refused } = await openAt(t, service.baseUrl);
    const prompt = page.getByRole('dialog', { name: 'This service requires a key' });
    await prompt.getByLabel('Key', { exact: true }).fill(KEY);
    await prompt.getByRole('button', { name: 'Connect' }).click();
    await liveState(page).waitFor();
    t.equal(await prompt.count(), 0);
    t.strictSame(refused, []);
  });

  t.test('[10.keys-page] on a phone nothing of the line is cut off', async (t) => {
    const scopes = ['read', 'media', 'power.sleep', 'power.lock', 'power.cancel', 'wake'] as const;
    const { page } = await open(t, withKey(scopes, LONG_NAME, '2099-12-31'), PHONE);
    const box = await page.locator('footer p').boundingBox();
    t.ok(box !== null && box.x >= 0 && box.x + box.width <= PHONE.viewport.width, JSON.stringify(box));
    t.match(await lineOf(page), new RegExp(`^key ${LONG_NAME}: read, .*, until `));
    t.equal(await page.locator('footer p').evaluate((each) => each.scrollWidth - each.clientWidth), 0);
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      PHONE.viewport.width,
      'the page does not scroll',
    );
  });

  t.test('[10.keys-page] the pages of a hub', async (t) => {
    const desk = await startAgent(t, 'desk.lan', 0, { history: { minutes: 60 } });
    const agents = { desk: { url: desk.baseUrl } };
    const hub = await startHub(t, agents);
    await hub.host('desk', isUp);
    hub.reconfigure(agents, withKey(['read', 'media']));
    const address = `http://127.0.0.1:${hub.port}/`;
    const { page, complaints, refused } = await openAt(t, `${address}?view=table#key=${KEY}`, PHONE);
    await page.getByRole('link', { name: 'desk.lan' }).waitFor();
    t.equal(await lineOf(page), 'key phone: read, media');
    await page.getByRole('link', { name: 'desk.lan' }).click();
    await card(page, 'Media').getByText('An Ending (Ascent)').waitFor();
    t.equal(await lineOf(page), 'key phone: read', 'no rule of hub.commands allows a command');
    t.strictSame(await buttonsOf(page), [FORGET]);
    const commands = { phone: { commands: ['media.*'], labels: {} } };
    hub.reconfigure(agents, { ...withKey(['read', 'media']), hub: { commands } });
    await page.reload();
    await card(page, 'Media').getByRole('button', { name: 'Pause' }).waitFor();
    t.equal(await lineOf(page), 'key phone: read, media');
    t.strictSame(await buttonsOf(page), [...CONTROLS, FORGET]);
    t.strictSame(refused, []);
    t.strictSame(complaints, []);
    const filled = page.waitForResponse(/\/api\/hosts\/desk\/history/);
    await page.goto(address);
    await Promise.all([filled, liveState(page).waitFor()]);
    hub.reconfigure(agents, withKey(['media']));
    await page.getByText('This key allows media only.').waitFor();
    t.equal(await lineOf(page), 'key phone: media');
    hub.reconfigure(agents, { ...QUICK, auth: { enabled: true, keys: {} } });
    await page.reload();
    await page.getByText('The key is no longer valid').waitFor();
    t.strictSame(refused, ['401 /api/access']);
  });
}
