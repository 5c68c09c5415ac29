/**
 * The pages of machines of every shape, and in every state: nothing overlaps, leaves its card or is empty, and axe-core finds
 * nothing, from 320 to 3840 px, light, dark, with forced colours and text of twice the size; on paper and on a wall.
 * Light at two widths in `check`, all with HOSTWIRE_FULL=1. With HOSTWIRE_PICTURES=FOLDER the pictures are kept there.
 */
import '../../helpers/service/dead-buses.ts';
import path from 'node:path';
import process from 'node:process';
import type { BrowserContextOptions, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { describeDigest } from '#src/access/key.js';
import type { Host } from '#src/host/host.js';
import type { Scope } from '#src/scopes.js';
import { startRelay } from '../../helpers/clients/relay.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { livelyHost, withCounters } from '../../helpers/fakes/lively-host.ts';
import { type ConfigPart, startHere } from '../../helpers/service/service.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { auditPage, card, openPage, skipBrowser, startBrowser } from '../browser.ts';
import { problemsOn, RECORD_LABELS, setSize } from '../dashboard/layout.ts';
import { openEvents } from '../dashboard/open-events.ts';
import { KnownPast } from '../dashboard/past-rig.ts';
import { namedHost, startAgent } from '../fleet/rig.ts';

const isFull = process.env['HOSTWIRE_FULL'] === '1';
const WIDTHS = isFull ? [320, 360, 768, 1280, 1920, 3840] : [360, 1280];
/** Not everything in every combination, which system/dashboard/overflow.test.ts has. */
const LOOKS: readonly (readonly [name: string, options: BrowserContextOptions, textPercent: number])[] = [
  ['light', { colorScheme: 'light' }, 100],
  ['dark, large text', { colorScheme: 'dark' }, 200],
  ['forced colours', { colorScheme: 'dark', forcedColors: 'active' }, 100],
];
const LOOKED_AT = isFull ? LOOKS : LOOKS.slice(0, 1);
const LABEL_PX = 11;
const KEY = 'correct-horse-battery-staple-0123456789abcd';
const QUICK: ConfigPart = {
  stats: { stream_interval_seconds: 1 },
  features: { enable_shutdown: true, enable_restart: true, enable_process_control: true },
};

t.setTimeout(1_800_000);

/** A workstation with other counters. */
const withCores = (count: number): Host =>
  withCounters(livelyHost(), ({ cpu }) => {
    const [core] = cpu?.cores ?? [];
    if (!cpu || !core) return {};
    return { cpu: { ...cpu, cores: Array.from({ length: count }, (_, index) => ({ ...core, index })) } };
  });

const withDisks = (count: number): Host =>
  withCounters(livelyHost(), ({ disks }) => {
    const [disk] = disks ?? [];
    const { usage = null } = disk ?? {};
    if (disk === undefined || usage === null) return {};
    return {
      disks: Array.from({ length: count }, (_, i) => ({
        ...disk,
        mountPoint: `/srv/${i}`,
        device: `/dev/sd${String.fromCharCode(97 + i)}1`,
        usage: i === count - 1 ? { ...usage, freeBytes: 0, availableBytes: 0 } : usage,
      })),
    };
  });

/** One disk, four cores, no graphics card of its own. */
const laptop = (): Host =>
  withCounters(livelyHost(), ({ cpu, disks }) => ({
    ...(cpu && { cpu: { ...cpu, cores: cpu.cores?.slice(0, 4) ?? [] } }),
    ...(disks && { disks: disks.slice(0, 1) }),
    gpu: [],
  }));

const container = (): Host => fixtureHost({ gpu: [], sensors: [], batteries: [], disks: [] });

const withKey = (scopes: readonly Scope[]): ConfigPart => ({
  ...QUICK,
  auth: { enabled: true, keys: { phone: { digest: describeDigest(KEY), scopes } } },
});

const restarted = () => {
  const past = new KnownPast();
  const text = 'The machine restarted.';
  past.marks = [{ at: Date.now() / 1000 - 60, kind: 'boot', seconds: 30, text }];
  return past;
};

const onBattery = () => {
  const past = new KnownPast();
  past.isOnBattery = true;
  return past;
};

interface Shape {
  readonly name: string;
  readonly host?: () => Host;
  readonly config?: ConfigPart;
  readonly past?: () => KnownPast;
  readonly severities?: readonly string[];
  readonly fragment?: string;
  /** The title of the card that is drawn last. */
  readonly waitFor?: string;
}

const SHAPES: readonly Shape[] = [
  { name: 'a laptop', host: laptop },
  { name: '64 cores', host: () => withCores(64) },
  { name: '256 cores', host: () => withCores(256) },
  { name: '20 disks, of which the last is full', host: () => withDisks(20), waitFor: 'Disks' },
  { name: 'a container', host: container, waitFor: 'Memory' },
  { name: 'restarted a minute ago', past: restarted },
  { name: 'on battery', past: onBattery },
  { name: 'events that are three hours old', severities: ['critical', 'warning'] },
  {
    name: 'a key with few scopes',
    config: withKey(['read', 'media']),
    fragment: `#key=${KEY}`,
    waitFor: 'Media',
  },
  {
    name: 'a guest',
    config: { ...QUICK, auth: { ...withKey(['admin']).auth, enabled: false, guests: ['read'] } },
    waitFor: 'Memory',
  },
];

if (skipBrowser) t.test('shapes in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const keep = async (page: Page, name: string) => {
    const folder = process.env['HOSTWIRE_PICTURES'];
    if (folder !== undefined)
      await page.screenshot({ path: path.join(folder, `${name.replaceAll(/\W+/g, '-')}.png`) });
  };

  /** Looks at the page at all widths. */
  const look = async (t: Test, page: Page, name: string, textPercent: number) => {
    for (const width of WIDTHS) {
      await setSize(page, width, textPercent);
      t.strictSame(await problemsOn(page, (LABEL_PX * textPercent) / 100), [], `${width} px`);
      await keep(page, `${name} ${width}`);
    }
    t.strictSame(await auditPage(page), [], 'axe-core');
  };

  const open = async (
    t: Test,
    url: string,
    options: BrowserContextOptions,
    severities?: readonly string[],
  ) => {
    const { page } = await openPage(t, browser, { ...options, bypassCSP: true });
    await page.addInitScript(RECORD_LABELS);
    if (severities !== undefined)
      await page.route('**/api/events*', (route) => route.fulfill({ json: openEvents(severities) }));
    await page.goto(url);
    return page;
  };

  for (const shape of SHAPES) {
    const { name, host = livelyHost, config = QUICK, past = () => new KnownPast() } = shape;
    for (const [how, options, textPercent] of LOOKED_AT)
      t.test(`${name}: ${how}`, async (t) => {
        const service = await startHere(host(), config, { history: past() });
        t.teardown(() => service.stop());
        const page = await open(t, `${service.baseUrl}/${shape.fragment ?? ''}`, options, shape.severities);
        await card(page, shape.waitFor ?? 'Processes').waitFor();
        await look(t, page, `${name} ${how}`, textPercent);
      });
  }

  for (const [how, options, textPercent] of LOOKED_AT) {
    t.test(`connection lost: ${how}`, async (t) => {
      const service = await startHere(livelyHost(), QUICK);
      const relay = await startRelay(t, service.port);
      const page = await open(t, relay.baseUrl, options);
      await card(page, 'Processes').waitFor();
      relay.setTarget(undefined);
      await service.stop();
      await page.locator('.state.lost').waitFor();
      await look(t, page, `lost ${how}`, textPercent);
    });

    t.test(`a machine that is gone: ${how}`, async (t) => {
      const desk = await startHere(namedHost('desk.lan'), QUICK);
      const hub = await startHub(t, { desk: { url: desk.baseUrl } });
      await hub.host('desk', isUp);
      const page = await open(t, `http://127.0.0.1:${hub.port}/hosts/desk/`, options);
      await card(page, 'Processor').waitFor();
      await desk.stop();
      await page.getByText(/^(Cannot be reached|Off) · as of/).waitFor();
      await look(t, page, `gone ${how}`, textPercent);
    });
  }

  const busy = await startAgent(t, 'busy');
  for (const count of [0, 31, 1000])
    for (const [how, options, textPercent] of LOOKED_AT)
      t.test(`a fleet of ${count}: ${how}`, async (t) => {
        const agents = Array.from({ length: count }, (_, i) => {
          // Most of a thousand do not answer.
          const url = i < 31 ? busy.baseUrl : 'http://127.0.0.1:1';
          return [`m${i}`, { url, name: `machine-${i}`, labels: { site: i % 2 ? 'berlin' : 'paris' } }];
        });
        const hub = await startHub(t, Object.fromEntries(agents));
        if (count > 0) await hub.host('m0', isUp);
        const page = await open(t, `http://127.0.0.1:${hub.port}/`, options);
        if (count > 0) await page.locator('[data-item]').first().waitFor();
        else await page.locator('.empty').waitFor();
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          await page.evaluate(`document.documentElement.style.fontSize = '${textPercent}%'`);
          t.strictSame(await problemsOn(page), [], `${width} px`);
          await keep(page, `fleet of ${count} ${how} ${width}`);
        }
        t.strictSame(await auditPage(page), [], 'axe-core');
      });

  t.test('on paper: all values in black on white, nothing cut off, no controls', async (t) => {
    const service = await startHere(livelyHost(), QUICK, { history: new KnownPast() });
    t.teardown(() => service.stop());
    // A4 without margins, at 96 px an inch.
    const page = await open(t, service.baseUrl, {
      viewport: { width: 794, height: 1123 },
      colorScheme: 'dark',
    });
    await card(page, 'Processes').waitFor();
    await page.emulateMedia({ media: 'print' });
    await keep(page, 'print');
    t.equal(await page.locator('.card button:not(.fold, .open):visible').count(), 0, 'no controls');
    const wide = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.card')]
        .filter((card) => card.scrollWidth > card.clientWidth + 1 || card.getBoundingClientRect().right > innerWidth)
        .map((card) => card.querySelector('h2').textContent)`,
    );
    t.strictSame(wide, [], 'nothing is cut off');
    const colours = await page.evaluate<readonly string[]>(
      `['body', '.card', '.bar', '.art'].map((at) => getComputedStyle(document.querySelector(at)).backgroundColor)`,
    );
    for (const colour of colours) t.match(colour, /^rgb\(2[23]\d|^rgb\(255/, 'ink for values only');
  });

  t.test('on a wall: figures are legible from three metres', async (t) => {
    const service = await startHere(livelyHost(), QUICK, { history: new KnownPast() });
    t.teardown(() => service.stop());
    const page = await open(t, `${service.baseUrl}/#kiosk`, { viewport: { width: 1920, height: 1080 } });
    await card(page, 'Processor').waitFor();
    await keep(page, 'kiosk');
    const sizes = await page
      .locator('.figure b:visible')
      .evaluateAll((all) => all.map((each) => Number.parseFloat(getComputedStyle(each).fontSize)));
    t.ok(sizes.length >= 5);
    // 1/200 of the distance is 15 mm: 27 px of a screen of 40 inches, which has 55 px an inch.
    for (const px of sizes) t.ok(px >= 27, `${px} px`);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    t.equal(width, 1920);
  });
}
