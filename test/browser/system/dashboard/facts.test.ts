/** Sentences of the cards, in plain English: free space, interfaces that are down, limits of the service. */
import '../../../helpers/service/dead-buses.ts';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import type { Counters, Host } from '#src/host/host.js';
import { livelyHost, withCounters } from '../../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';
import { card, openLive, openPage, skipBrowser, startBrowser, until } from '../../browser.ts';

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const GIB = 1024 ** 3;

t.setTimeout(280_000);

if (skipBrowser) t.test('the cards in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const open = async (t: Test, host: Host, config: ConfigPart = QUICK): Promise<Page> => {
    const service = await serveHere(t, host, config);
    const { page } = await openLive(t, browser, service.baseUrl);
    return page;
  };

  t.test('a card that would only have a reason is a line under what is not available', async (t) => {
    const service = await serveHere(t, livelyHost(), QUICK);
    const { page } = await openPage(t, browser);
    const refuse = (path: string, error: string) =>
      page.route(path, (route) => route.fulfill({ status: 501, json: { error, code: 'not_supported' } }));
    await refuse('**/api/media/status*', 'There is no session bus.');
    await refuse('**/api/pw', 'There is no power manager.');
    await page.goto(service.baseUrl);
    const absent = card(page, 'Not available here');
    const media = absent.getByText('no desktop session found');
    await media.waitFor();
    t.equal(
      await media.locator('..').getAttribute('title'),
      'There is no session bus.',
      'for administrators',
    );
    await absent.getByText('There is no power manager.').waitFor();
    for (const title of ['Media', 'Power']) t.equal(await card(page, title).count(), 0, title);
  });

  t.test('shares of processes are being measured until the first figures', async (t) => {
    const service = await serveHere(t, livelyHost(), QUICK);
    const { page } = await openPage(t, browser);
    const stats = {
      ...(await (await fetch(`${service.baseUrl}/api/usage?detail=1`)).json()),
      interval_seconds: 1,
    };
    const first = { ...stats, processes: { ...stats.processes, top_cpu: null, top_memory: [] } };
    await page.route('**/api/stream*', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(first)}\n\n` }),
    );
    await page.goto(service.baseUrl);
    await card(page, 'Processes').getByText('measuring').waitFor();
    await page.unroute('**/api/stream*');
    await until(() => card(page, 'Processes').getByText('measuring').count(), 0);
  });

  t.test('disks show how full they are and what is free, the fullest first', async (t) => {
    const page = await open(t, livelyHost());
    const words = await card(page, 'Disks').innerText();
    t.match(words, /▲ 91 %[\s\S]*\/home\s+66 %\s+469 GiB free\s+of 1\.35 TiB · ext4/);
    const bar = card(page, 'Disks').getByRole('meter', { name: '/home' });
    t.equal(await bar.getAttribute('aria-valuetext'), '66 % used');
  });

  t.test('interfaces that are down are folded away, and opened on request', async (t) => {
    const host = withCounters(livelyHost(), ({ network }) => {
      const [first] = network ?? [];
      if (first === undefined) return {};
      const named = (name: string, index: number, isUp: boolean) => ({ ...first, name, index, isUp });
      const many = Array.from({ length: 11 }, (_, i) => named(`veth${i}`, 20 + i, true));
      return { network: [...many, named('wired8', 8, false), named('wired9', 9, false)] };
    });
    const page = await open(t, host);
    const network = card(page, 'Network');
    t.equal(await network.getByText('wired8').isVisible(), false);
    t.equal(await network.getByText('veth7').isVisible(), true);
    t.equal(await network.getByText('veth8').isVisible(), false, 'more than eight are folded too');
    await network.getByText('2 not connected').click();
    t.equal(await network.getByText('wired8').isVisible(), true);
    await network.getByText('3 more').click();
    t.equal(await network.getByText('veth10').isVisible(), true);
  });

  t.test('the limits of the service are shown where it has any', async (t) => {
    const limits: Counters['limits'] = {
      memoryBytes: 2 * GIB,
      memoryUsedBytes: GIB / 2,
      cpus: 1.5,
      throttling: { group: '/box', periods: 1000, throttledPeriods: 10 },
      failure: null,
    };
    const page = await open(
      t,
      withCounters(livelyHost(), () => ({ limits })),
    );
    const words = await card(page, 'Limits of this service').innerText();
    t.match(words, /512 MiB of 2 GiB[\s\S]*Processor cores allowed\s+1\.50[\s\S]*Time throttled/);
    const without = await open(t, livelyHost());
    t.equal(await card(without, 'Limits of this service').count(), 0);
  });

  t.test('labels are in plain English', async (t) => {
    const page = await open(t, livelyHost(), { ...QUICK, features: { enable_media: false } });
    await card(page, 'Not available here').waitFor();
    const words = await page.locator('body').innerText();
    for (const label of [
      'Clock speed',
      'Power draw',
      'Load over 1, 5, 15 min',
      'CPU pressure',
      'Memory pressure',
      'Used as cache',
      'Fan speed',
      'since boot',
      'running for 1 d',
      'disabled in the configuration (features.enable_media)',
    ])
      t.ok(words.includes(label), label);
    const labels = await page.locator('dt').allInnerTexts();
    for (const vague of ['Waiting', 'Cached', 'Clock', 'Speed', 'Throttled'])
      t.notOk(labels.includes(vague), `"${vague}" alone says too little`);
  });
}
