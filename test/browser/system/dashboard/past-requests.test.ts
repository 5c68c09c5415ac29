/** When the page requests its past: at each opening, when it is shown again, after a lost connection; and where there is none. */
import '../../../helpers/service/dead-buses.ts';
import t from 'tap';
import { startRelay } from '../../../helpers/clients/relay.ts';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { checkTime } from '../../../helpers/limits.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';
import { card, liveState, openPage, skipBrowser, startBrowser, until } from '../../browser.ts';
import { FIVE_MINUTES, isFilled, KnownPast, labelOf, rangeSwitch } from '../../dashboard/past-rig.ts';

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };

t.setTimeout(280_000);

/** In the page, from its begin: when the past is drawn in the first chart, in milliseconds since the navigation. */
const WATCH_FIRST_CHART = `(() => {
  const look = () => {
    const canvas = document.querySelector('.plot canvas');
    if (canvas !== null) {
      const { width, height } = canvas;
      const { data } = canvas.getContext('2d').getImageData(Math.round(width * 0.3), 0, 1, height);
      const alphas = Array.from({ length: height }, (_, y) => data[4 * y + 3]);
      // The line of the past is opaque, and between those of the grid.
      if (alphas.slice(height * 0.2, height * 0.45).some((alpha) => alpha > 200)) {
        window.fullAt = performance.now();
        return;
      }
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;
const OPENINGS = 5;

if (skipBrowser) t.test('requests of the past in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  t.test('it is requested again when the page is shown again, and after a lost connection', async (t) => {
    const service = await serveHere(t, livelyHost(), QUICK, { history: new KnownPast() });
    const relay = await startRelay(t, service.port);
    const { page } = await openPage(t, browser);
    // Counts the page's requests: within a second the service repeats an answer without asking its history.
    let fills = 0;
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      const names = searchParams.get('series')?.split(',') ?? [];
      const isFine = searchParams.get('step') === '1';
      if (pathname === '/api/history' && isFine && names.includes('memory.used_percent')) fills++;
    });
    await page.goto(relay.baseUrl);
    await liveState(page).waitFor();
    await isFilled(page);
    t.equal(fills, 1, 'once');
    const setVisibility = (state: 'hidden' | 'visible') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
    await setVisibility('hidden');
    await page.locator('.state.resting').waitFor();
    await setVisibility('visible');
    await liveState(page).waitFor();
    await until(async () => fills, 2);
    relay.setTarget(undefined);
    await page.locator('.state.lost').waitFor();
    relay.setTarget(service.port);
    await liveState(page).waitFor();
    await until(async () => fills, 3);
    t.pass('and once more after the loss');
  });

  t.test('without a history the page is as before: charts of what it has seen, and no switch', async (t) => {
    const service = await serveHere(t, livelyHost(), { ...QUICK, history: { minutes: 0 } });
    const { page, complaints } = await openPage(t, browser);
    const refused = page.waitForResponse((response) => response.url().includes('/api/history'));
    await page.goto(service.baseUrl);
    t.equal((await refused).status(), 403);
    await liveState(page).waitFor();
    await until(() => labelOf(page), FIVE_MINUTES);
    t.equal(await rangeSwitch(page).count(), 0);
    t.equal(await card(page, 'Events').count(), 0);
    t.strictSame(complaints, []);
  });

  t.test('the first chart is full within 500 ms', async (t) => {
    const service = await serveHere(t, livelyHost(), QUICK, { history: new KnownPast() });
    const took: number[] = [];
    for (let i = 0; i < OPENINGS; i++) {
      const { page } = await openPage(t, browser, { bypassCSP: true });
      await page.addInitScript(WATCH_FIRST_CHART);
      await page.goto(service.baseUrl);
      await page.waitForFunction('window.fullAt !== undefined');
      took.push(await page.evaluate<number>('window.fullAt'));
    }
    const median = took.toSorted((a, b) => a - b)[OPENINGS >> 1] ?? 0;
    t.comment(`figure: the first chart is full ${Math.round(median)} ms after the navigation began`);
    checkTime(t, median, 500, 'the first chart, median');
  });
}
