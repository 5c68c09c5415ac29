/**
 * The twelve tasks that people do on the pages, by the number of their actions: clicks or taps, and screens that have to be
 * scrolled; with a mouse, on the smallest phone, and with the keyboard alone, whose presses are not counted.
 */
import '../../helpers/service/dead-buses.ts';
import type { Page } from 'playwright-core';
import t from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { card, openPage, skipBrowser, startBrowser, until } from '../browser.ts';
import { openEvents } from '../dashboard/open-events.ts';
import { chartOf, KnownPast, panelOf, rangeSwitch, sliderOf } from '../dashboard/past-rig.ts';
import { startAgent } from '../fleet/rig.ts';
import { Hand, type Means, SCREENS } from '../hand.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const MACHINES = 31;

t.setTimeout(900_000);

/** A page that is open, and what it shows. */
interface Scene {
  readonly page: Page;
  readonly hand: Hand;
  readonly means: Means;
  readonly host: ReturnType<typeof livelyHost>;
  readonly past: KnownPast;
  readonly pending: () => Promise<PowerPayload['pending']>;
}

interface Task {
  readonly name: string;
  /** Actions, at most. */
  readonly most: number;
  /** On the smallest phone, where that is more: what people look at is not on its first screen. */
  readonly mostByTouch?: number;
  readonly act: (scene: Scene) => Promise<unknown>;
}

/** Waits until texts are on the first screen, where they are seen without an action. */
async function see(page: Page, ...wanted: readonly RegExp[]): Promise<void> {
  for (const words of wanted) {
    const place = page.getByText(words).filter({ visible: true }).first();
    await until(
      () => place.evaluate((each) => each.getBoundingClientRect().bottom - innerHeight),
      (below) => below <= 0,
    );
  }
}

/** The figure of the strip at the top that leads to a card. */
const FIGURES = {
  Processor: /^Load/,
  Memory: /^Memory/,
  Network: /^Network/,
};

/** Chooses the moment `age` seconds ago in a chart of `shown` seconds. */
async function chooseMoment(
  { page, hand, means }: Scene,
  title: keyof typeof FIGURES,
  age: number,
  shown: number,
) {
  const part = 1 - age / shown;
  const chart = chartOf(page, title);
  if (means === 'keyboard') return await hand.slide(sliderOf(page, title), part);
  if (!(await hand.sees(chart)))
    await hand.use(
      page.getByRole('navigation', { name: 'Key figures' }).getByRole('link', { name: FIGURES[title] }),
    );
  const area = chart.locator('.u-over');
  const box = await area.boundingBox();
  await hand.use(area, { x: part * (box?.width ?? 0), y: (box?.height ?? 0) / 2 });
}

const yesterdayAt = (hours: number, minutes: number) => {
  const at = new Date();
  at.setDate(at.getDate() - 1);
  at.setHours(hours, minutes, 0, 0);
  return at.getTime() / 1000;
};

const ON_A_MACHINE: readonly Task[] = [
  {
    name: 'is it well',
    most: 0,
    act: ({ page }) => see(page, /Disk \/srv\/media is 91 % full/, /^Live/),
  },
  {
    name: 'which disk fills, and when',
    most: 0,
    act: ({ page }) => see(page, /^Disk \/srv\/media$/, /91 % · 9 d$/),
  },
  {
    name: 'most memory last night',
    most: 3,
    act: async (scene) => {
      const { page, hand, past } = scene;
      await hand.use(rangeSwitch(page).getByRole('radio', { name: '1 d' }));
      await chooseMoment(scene, 'Memory', 12 * HOUR, DAY);
      await panelOf(page).getByText('firefox × 12').first().waitFor();
      const isThen = (at = 0) => Math.abs(Date.now() / 1000 - at - 12 * HOUR) < HOUR;
      await until(async () => past.askedAt.at(-1), isThen);
    },
  },
  {
    name: 'the network at 14:05 of yesterday',
    most: 3,
    mostByTouch: 4,
    act: async (scene) => {
      const { page, hand } = scene;
      await hand.use(rangeSwitch(page).getByRole('radio', { name: '1 d' }));
      let end = Date.now() / 1000;
      if (end - yesterdayAt(14, 5) > DAY) {
        await hand.use(page.getByRole('button', { name: 'Earlier' }));
        end -= DAY;
      }
      await chooseMoment(scene, 'Network', end - yesterdayAt(14, 5), DAY);
      await until(() => panelOf(page).innerText(), /Received/);
    },
  },
  {
    name: 'pause',
    most: 1,
    act: async ({ page, hand, host }) => {
      await hand.use(page.getByRole('button', { name: 'Pause' }).filter({ visible: true }).first());
      await until(async () => host.media.controls.at(-1)?.verb, 'pause');
    },
  },
  {
    name: 'volume',
    most: 1,
    act: async ({ page, hand, host }) => {
      await hand.slide(card(page, 'Media').getByRole('slider', { name: 'Volume' }), 0.25);
      await until(
        async () => host.media.controls.at(-1),
        (last) => Math.abs((last?.value ?? 1) - 0.25) < 0.08,
      );
    },
  },
  {
    name: 'sleep in 30 minutes',
    most: 2,
    act: async ({ page, hand, pending }) => {
      await hand.use(card(page, 'Power').getByRole('button', { name: 'Sleep' }));
      await hand.use(page.getByRole('dialog').getByRole('button', { name: 'In 30 minutes' }));
      await until(pending, (now) => now?.action === 'sleep');
    },
  },
  {
    name: 'cancel it',
    most: 1,
    act: async ({ page, hand, pending }) => {
      await hand.use(card(page, 'Power').getByRole('button', { name: 'Cancel it' }));
      await until(pending, null);
    },
  },
  {
    name: 'end the process under "Most CPU"',
    most: 3,
    mostByTouch: 4,
    act: async ({ page, hand, host }) => {
      const busiest = card(page, 'Processor').locator('.rows').getByRole('button');
      await hand.use(busiest.filter({ hasNotText: 'systemd' }).first());
      const end = page.getByRole('dialog').getByRole('button', { name: 'End', exact: true });
      await hand.use(end);
      await hand.use(end);
      await until(
        async () => host.processes.sent.length,
        (sent) => sent > 0,
      );
    },
  },
  {
    name: 'a link to a moment',
    most: 2,
    mostByTouch: 4,
    act: async (scene) => {
      const { page, hand } = scene;
      await chooseMoment(scene, 'Processor', 120, 300);
      if (scene.means === 'keyboard') await page.keyboard.press('Enter');
      await hand.use(page.getByRole('button', { name: 'Copy link' }));
      await until(() => page.evaluate<string>('navigator.clipboard.readText()'), /#(?:.*&)?from=\d+&to=\d+/);
    },
  },
];

const ON_A_FLEET: readonly Task[] = [
  { name: 'a full disk on a fleet of 31', most: 0, act: ({ page }) => see(page, /\/srv\/media/) },
  {
    name: 'compare two machines',
    most: 3,
    act: async ({ page, hand }) => {
      await hand.use(page.getByLabel('Compare machine-1', { exact: true }));
      await hand.use(page.getByLabel('Compare machine-2', { exact: true }));
      await hand.use(page.getByRole('radio', { name: 'Compare' }));
      await until(() => page.locator('.compared > section').count(), 2);
    },
  },
];

if (skipBrowser) t.test('tasks in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const busy = await startAgent(t, 'busy');
  const full = await startAgent(t, 'full', 0, {
    history: { minutes: 60 },
    watch: {
      defaults: false,
      rules: { 'disk-full': { series: 'disk.used_percent/*', above: 90, for_seconds: 1 } },
    },
  });
  const hub = await startHub(
    t,
    Object.fromEntries(
      Array.from({ length: MACHINES }, (_, i) => [
        `m${String(i).padStart(2, '0')}`,
        { url: (i === MACHINES - 1 ? full : busy).baseUrl, name: `machine-${i}` },
      ]),
    ),
  );
  await hub.host(`m${MACHINES - 1}`, isUp);

  for (const means of ['mouse', 'touch', 'keyboard'] as const) {
    const host = livelyHost();
    const past = new KnownPast();
    past.daysLeft = { '/srv/media': 9.2 };
    const service = await serveHere(
      t,
      host,
      {
        stats: { stream_interval_seconds: 1 },
        features: { enable_shutdown: true, enable_restart: true, enable_process_control: true },
      },
      { history: past },
    );
    const pending = async () =>
      ((await (await fetch(`${service.baseUrl}/api/pw`)).json()) as PowerPayload).pending; // Its own service.
    for (const [address, tasks] of [
      [service.baseUrl, ON_A_MACHINE],
      [`http://127.0.0.1:${hub.port}`, ON_A_FLEET],
    ] as const)
      for (const { name, most, mostByTouch = most, act } of tasks)
        t.test(`${name}: ${means}`, async (t) => {
          const { page } = await openPage(t, browser, {
            ...SCREENS[means],
            permissions: ['clipboard-read', 'clipboard-write'],
          });
          if (address === service.baseUrl)
            await page.route('**/api/events*', (route) => route.fulfill({ json: openEvents(['warning']) }));
          await page.goto(address);
          await page.locator('.state.live, .head').first().waitFor();
          await until(
            () => page.locator('.track, [data-item]').count(),
            (count) => count > 0,
          );
          const hand = new Hand(page, means);
          await act({ page, hand, means, host, past, pending });
          t.comment(`figure: ${name}, ${means}: ${hand.actions} actions`);
          const limit = means === 'touch' ? mostByTouch : most;
          t.ok(hand.actions <= limit, `${hand.actions} of ${limit} actions`);
        });
  }
}
