/** Pictures of the dashboard: a machine that has everything, five minutes of it. */
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
import { launchBrowser, openPage } from './browser.ts';
import { coverPicture } from './cover-picture.ts';

interface Shot {
  readonly name: string;
  readonly options: BrowserContextOptions;
  readonly hasTable?: boolean;
}

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true };
const SHOTS: readonly Shot[] = [
  { name: 'dashboard-light', options: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } },
  {
    name: 'dashboard-dark',
    options: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
    hasTable: true,
  },
  { name: 'dashboard-phone', options: { ...PHONE, colorScheme: 'dark' } },
];
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

/** The page gets the recorded history first, and goes on with the service's own stream. */
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
  for (const { name, options, hasTable } of SHOTS) {
    const { page } = await openPage(browser, options);
    const moved = shiftTo(recorded, Date.now() / 1000);
    await page.route(
      '**/api/stream*',
      (route) => route.fulfill({ body: moved, contentType: 'text/event-stream' }),
      {
        times: 1,
      },
    );
    await page.goto(service.baseUrl);
    await page.waitForSelector('.state.live');
    await page.waitForSelector('.controls');
    if (hasTable) await page.getByRole('button', { name: 'Show all' }).click();
    // As high as the page: charts that are not visible are not drawn.
    const { width } = page.viewportSize() ?? { width: 1280 };
    await page.waitForTimeout(3000);
    await page.setViewportSize({
      width,
      height: await page.evaluate<number>('document.documentElement.scrollHeight'),
    });
    await page.waitForTimeout(2500);
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
    await page.context().close();
  }
  await browser.close();
  await service.stop();
  rmSync(path.dirname(art), { recursive: true });
}
