/** The dashboard for everybody: what axe-core finds, keyboard, phone, dark, unknown values. */
import '../../helpers/service/dead-buses.ts';
import t from 'tap';
import type { Counters } from '#src/host/host.js';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../helpers/service/service.ts';
import { auditPage, card, openLive, openPage, PHONE, skipBrowser, startBrowser, until } from '../browser.ts';

const EVERYTHING: ConfigPart = {
  stats: { stream_interval_seconds: 1 },
  features: { enable_shutdown: true, enable_restart: true, enable_process_control: true },
  history: { minutes: 60 },
};

t.setTimeout(280_000);

const BRIGHTNESS = `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3`;
/** The opaque colours of the first chart. */
const COLOURS = `(() => {
  const canvas = document.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(data.slice(i, i + 3).join());
  return [...seen];
})()`;

if (skipBrowser) t.test('accessibility in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const service = await serveHere(t, livelyHost(), EVERYTHING);

  for (const [name, options] of [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { ...PHONE, colorScheme: 'dark' }],
  ] as const)
    t.test(`axe-core finds no violation: ${name}`, async (t) => {
      const { page } = await openPage(t, browser, { ...options, bypassCSP: true });
      await page.goto(service.baseUrl);
      await card(page, 'Processes').waitFor();
      await page.locator('.track').waitFor();
      t.strictSame(await auditPage(page), [], 'as it opens');
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByText('All 7 sensors').click();
      await page.getByRole('table').waitFor();
      t.strictSame(await auditPage(page), [], 'with everything open');
      await page.getByRole('button', { name: 'Restart' }).click();
      await page.getByRole('dialog').waitFor();
      t.strictSame(await auditPage(page), [], 'with a question');
    });

  t.test(
    'on a phone nothing is wider than the screen, and all targets are large enough to touch',
    async (t) => {
      const { page } = await openPage(t, browser, PHONE);
      await page.goto(service.baseUrl);
      await card(page, 'Processes').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByRole('table').waitFor();
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      t.ok(width <= 360, `${width} px wide`);
      const small = await page.locator('button:visible, summary:visible').evaluateAll((buttons) =>
        buttons
          .map((button) => ({ text: button.textContent, box: button.getBoundingClientRect() }))
          .filter(({ box }) => box.width < 24 || box.height < 24)
          .map(({ text }) => text),
      );
      t.strictSame(small, [], 'WCAG 2.5.8');
    },
  );

  t.test('dark mode is dark, and charts change with it while the page is open', async (t) => {
    const { page } = await openLive(t, browser, service.baseUrl, { colorScheme: 'light' });
    const brightness = () => page.evaluate<number>(BRIGHTNESS);
    const colours = () => page.evaluate<readonly string[]>(COLOURS);
    t.ok((await brightness()) > 200);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const before = await colours();
    t.ok(before.length > 0, 'something is drawn');
    await page.emulateMedia({ colorScheme: 'dark' });
    t.ok((await brightness()) < 60);
    await until(colours, (now) => now.every((colour) => !before.includes(colour)));
    t.pass('no colour of the light scheme is left in the chart');
  });

  t.test('the keyboard reaches everything, starting with a skip link', async (t) => {
    const { page } = await openPage(t, browser, { reducedMotion: 'reduce' });
    await page.goto(service.baseUrl);
    await card(page, 'Processes').waitFor();
    await page.keyboard.press('Tab');
    t.equal(await page.evaluate('document.activeElement?.textContent'), 'Skip to the values');
    const reached = new Set<string>();
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate<string>(
          'document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? ""',
        ),
      );
    }
    for (const name of [
      'Time in the chart Processor',
      'Pause',
      'Next track',
      'Position',
      'Sleep',
      'Shut down',
      'Show all',
      'All 7 sensors',
    ])
      t.ok(reached.has(name), name);
    const moving = await page.evaluate<number>('document.getAnimations().length');
    t.equal(moving, 0, 'nothing moves by itself');
  });

  t.test('unknown values are n/a, and missing parts are listed as not available', async (t) => {
    const unknown: Partial<Counters> = {
      cpu: {
        total: { user: 0, nice: 0, system: 0, idle: 0, iowait: 0, irq: 0, steal: 0 },
        temperatureCelsius: null,
        speedHz: null,
        cores: [],
        coreSpeedsHz: [],
        loadAverage: null,
        pressure: null,
      },
      memory: null,
      gpu: [],
      disks: [],
      network: [],
      sensors: [],
      batteries: [],
    };
    const bare = await serveHere(t, fixtureHost(unknown), {
      features: { enable_media: false, enable_sleep: false, enable_hibernate: false },
    });
    const { page, complaints } = await openPage(t, browser);
    await page.goto(bare.baseUrl);
    const absent = card(page, 'Not available here');
    await absent.waitFor();
    const words = await absent.innerText();
    for (const reason of [
      /no GPU/,
      /no battery/,
      /no readable sensors/,
      /features\.enable_media/,
      /features\.enable_sleep/,
    ])
      t.match(words, reason);
    for (const title of ['Graphics', 'Battery', 'Sensors', 'Media', 'Power'])
      t.equal(await card(page, title).count(), 0, `no card ${title}`);
    t.match(await card(page, 'Processor').innerText(), /^Processor[\s\S]*n\/a[\s\S]*Temperature\s+n\/a/);
    t.match(await card(page, 'Memory').innerText(), /n\/a/);
    t.match(
      await card(page, 'Limits of this service').innerText(),
      /512 MiB of 2 GiB[\s\S]*1\.50[\s\S]*throttled/,
    );
    t.notMatch(await page.locator('main').innerText(), /NaN|undefined|null|Infinity/);
    t.strictSame(complaints, []);
  });
}
