/** Pictures of the dashboard: a machine that has everything, five minutes of it; then those of the fleet. */
import '../helpers/service/dead-buses.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import { ALL_SECTIONS } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample } from '#src/stats/sample.js';
import { Encoded, viewOf } from '#src/stats/view.js';
import { type LivelyHost, livelyHost } from '../helpers/fakes/lively-host.ts';
import { startHere } from '../helpers/service/service.ts';
import { launchBrowser, openPage, PHONE } from './browser.ts';
import { coverPicture } from './cover-picture.ts';
import { takeFleetPictures } from './fleet/pictures.ts';
import { takePicture } from './picture.ts';

interface Shot {
  readonly name: string;
  readonly options: BrowserContextOptions;
  readonly hasTable?: boolean;
  /** Text of twice the size. */
  readonly isLarge?: boolean;
}

const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };
const TABLET: BrowserContextOptions = { viewport: { width: 768, height: 1024 } };
/** The pages end with the browser. */
const UNTIL_CLOSED = { teardown: () => undefined };
const SHOTS: readonly Shot[] = [
  { name: 'dashboard-light', options: { ...DESKTOP, colorScheme: 'light' } },
  { name: 'dashboard-dark', options: { ...DESKTOP, colorScheme: 'dark' }, hasTable: true },
  { name: 'dashboard-tablet', options: { ...TABLET, colorScheme: 'light' } },
  { name: 'dashboard-phone-light', options: { ...PHONE, colorScheme: 'light' } },
  { name: 'dashboard-phone-dark', options: { ...PHONE, colorScheme: 'dark' }, hasTable: true },
  { name: 'dashboard-large-text', options: { ...TABLET, colorScheme: 'light' }, isLarge: true },
];
/** The rest of a long page is cut off: pictures stay below 150 KB. */
const MAX_HEIGHT = 4600;
const MAX_HEIGHT_LARGE = 2600;
const INTERVAL_SECONDS = 2;
const FIVE_MINUTES = 300;

/** The event stream of the last five minutes. */
function recordHistory(host: LivelyHost, setAhead: (seconds: number) => void): string {
  const lines: string[] = [];
  let baseline = NO_BASELINE;
  for (let ahead = -FIVE_MINUTES; ahead <= 0; ahead += INTERVAL_SECONDS) {
    setAhead(ahead);
    const counters = host.readCounters(ALL_SECTIONS, true, 0);
    const about = { interval_seconds: INTERVAL_SECONDS, host: 'workbench', processes: null };
    const derived = deriveSample(baseline, counters, about);
    baseline = derived.baseline;
    const view = viewOf(ALL_SECTIONS, true);
    // The first one has no rates.
    if (ahead > -FIVE_MINUTES) lines.push(`data: ${new Encoded(derived.sample).json(view)}\n\n`);
  }
  return lines.join('');
}

/** The same, ending at `end`. */
function shiftTo(recorded: string, end: number): string {
  const times = [...recorded.matchAll(/"timestamp":(\d+)/g)].map(([, time]) => Number(time));
  const later = Math.floor(end) - (times.at(-1) ?? 0);
  return recorded.replaceAll(/"timestamp":(\d+)/g, (_, time) => `"timestamp":${Number(time) + later}`);
}

/** Takes the screenshots. The page gets the recorded history first, and continues with the service's own stream. */
export async function takeScreenshots(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const art = path.join(mkdtempSync(path.join(os.tmpdir(), 'hostwire-art-')), 'cover.png');
  writeFileSync(art, coverPicture());
  let ahead = 0;
  const host = livelyHost({ artUrl: pathToFileURL(art).href, ahead: () => ahead });
  const recorded = recordHistory(host, (seconds) => {
    ahead = seconds;
  });
  const features = { enable_shutdown: true, enable_restart: true, enable_process_control: true };
  const service = await startHere(host, { features });
  const browser = await launchBrowser();
  for (const { name, options, hasTable, isLarge } of SHOTS) {
    const { page } = await openPage(UNTIL_CLOSED, browser, options);
    // Older than what the stream of the service starts with: the page opens it a second later, or more.
    const moved = shiftTo(recorded, Date.now() / 1000 - 1);
    await page.route(
      '**/api/stream*',
      (route) => route.fulfill({ body: moved, contentType: 'text/event-stream' }),
      {
        times: 1,
      },
    );
    // There is a history, and what was recorded is all that it has.
    const nothing = { start: 0, step: 10, count: 0, series: {}, unknown: [], marks: [], events: [] };
    await page.route('**/api/history*', (route) => route.fulfill({ json: nothing }));
    await page.goto(service.baseUrl);
    await page.waitForSelector('.state.live');
    await page.waitForSelector('.controls');
    if (isLarge) await page.evaluate('document.documentElement.style.fontSize = "200%"');
    if (hasTable) await page.getByRole('button', { name: 'Show all' }).click();
    // As high as the page: charts that are not visible are not drawn.
    const { width } = page.viewportSize() ?? { width: 1280 };
    await page.waitForTimeout(3000);
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    await page.setViewportSize({ width, height: Math.min(height, isLarge ? MAX_HEIGHT_LARGE : MAX_HEIGHT) });
    await page.waitForTimeout(2500);
    await takePicture(page, path.join(folder, `${name}.webp`));
  }
  await takeFleetPictures(folder, browser);
  await browser.close();
  await service.stop();
  rmSync(path.dirname(art), { recursive: true });
}
