/**
 * Processes at the moment under the pointer, the finger or the keyboard: shown, kept while the pointer rests, and
 * hidden after it leaves.
 */
import '../../../helpers/service/dead-buses.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { card, PHONE, skipBrowser, startBrowser, until } from '../../browser.ts';
import {
  chartOf,
  KnownPast,
  labelOf,
  openPast,
  panelOf,
  partAt,
  placeAt,
  sliderOf,
} from '../../dashboard/past-rig.ts';

const PROGRAM = 'compiler-with-a-long-name × 16';

t.setTimeout(280_000);

if (skipBrowser) t.test('moments in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const open = (t: Test, past: KnownPast, how?: BrowserContextOptions) => openPast(t, browser, past, how);
  /** The place in the processor's chart of what was `age` seconds old when the history was answered. */
  const placeOf = (page: Page, past: KnownPast, age: number) =>
    placeAt(chartOf(page, 'Processor'), partAt(past, age));
  const pointAt = async (page: Page, past: KnownPast, age: number) => {
    const { x, y } = await placeOf(page, past, age);
    await page.mouse.move(x, y);
  };
  /** Waits for `count` further samples. */
  const passSamples = async (page: Page, count: number) => {
    const end = () => sliderOf(page, 'Memory').getAttribute('aria-valuetext');
    const headline = () => card(page, 'Processor').locator('.headline').innerText();
    for (let i = 0; i < count; i++) {
      const before = [await end(), await headline()].join();
      await until(
        async () => [await end(), await headline()].join(),
        (now) => now !== before,
      );
    }
  };
  /** Waits until the words of the chart are those of now again. */
  const isNow = async (page: Page) => {
    const read = async () => [
      await labelOf(page),
      await card(page, 'Processor').locator('strong').innerText(),
    ];
    await until(read, ([label, now]) => label?.includes(`Load ${now}.`) === true);
  };

  t.test('a pointer at rest keeps the list, whatever samples come', async (t) => {
    const past = new KnownPast();
    const { page, complaints } = await open(t, past);
    await pointAt(page, past, 60);
    await panelOf(page).getByText(PROGRAM).waitFor();
    t.match(await panelOf(page).innerText(), /^\d\d:\d\d:\d\d: Load 62 %/);
    t.match(await panelOf(page).innerText(), /93\.5 %[\s\S]*3\.00 GiB[\s\S]*30\.0 MiB\/s/);
    const list = await panelOf(page).elementHandle();
    const words = await panelOf(page).innerText();
    const asked = [...past.askedAt];
    t.equal(asked.length, 1);
    await passSamples(page, 12);
    t.equal(await panelOf(page).innerText(), words, 'the same moment, with the same programs');
    t.equal(await list?.isVisible(), true, 'in the same place');
    t.strictSame(past.askedAt, asked, 'nothing is requested again');
    const seen = await labelOf(page);
    t.match(seen, /Load 62 %/, 'the words of the chart are those of the moment');
    t.strictSame(complaints, []);
  });

  t.test('an answer is kept, one without programs is not: they come while the pointer rests', async (t) => {
    const past = new KnownPast();
    past.hasProcesses = false;
    const { page } = await open(t, past);
    await pointAt(page, past, 60);
    await until(
      async () => past.askedAt.length,
      (count) => count > 0,
    );
    t.equal(await panelOf(page).getByText(PROGRAM).count(), 0);
    past.hasProcesses = true;
    await panelOf(page).getByText(PROGRAM).waitFor({ timeout: 120_000 });
    t.equal(new Set(past.askedAt).size, 1, 'the same moment was asked again');
    const known = past.askedAt.length;
    await sliderOf(page, 'Processor').focus();
    await page.keyboard.press('Escape');
    await panelOf(page).waitFor({ state: 'detached' });
    past.hasProcesses = false;
    // The very moment of before, whatever time it is now: its slot is known.
    const slot = past.askedAt[0] ?? 0;
    const slider = sliderOf(page, 'Processor');
    await slider.focus();
    const isThere = () => panelOf(page).getByText(PROGRAM).isVisible();
    for (let i = 0; i < 300 && !(await isThere()); i++) await page.keyboard.press('ArrowLeft');
    t.equal(await isThere(), true, 'what is known is shown without a request');
    t.equal(past.askedAt.slice(known).filter((at) => at === slot).length, 0);
  });

  t.test('after Escape, or when the pointer leaves, everything is that of now', async (t) => {
    const past = new KnownPast();
    const { page } = await open(t, past);
    for (const leave of ['Escape', 'pointer']) {
      await pointAt(page, past, 60);
      await panelOf(page).getByText(PROGRAM).waitFor();
      t.match(await labelOf(page), /Load 62 %/);
      if (leave === 'Escape') await page.keyboard.press('Escape');
      else await page.mouse.move(2, 2);
      await panelOf(page).waitFor({ state: 'detached' });
      await isNow(page);
      await passSamples(page, 2);
      await isNow(page);
      t.equal(await panelOf(page).count(), 0, `${leave}: nothing comes back with the next samples`);
    }
  });

  t.test('a request is aborted when the pointer moves on', async (t) => {
    const past = new KnownPast();
    let release: () => void = () => undefined;
    past.before = () =>
      new Promise((resolve) => {
        release = () => resolve(undefined);
      });
    const { page } = await open(t, past);
    const aborted = page.waitForEvent('requestfailed', {
      predicate: (request) => request.url().includes('/api/history/processes'),
      timeout: 120_000,
    });
    await pointAt(page, past, 100);
    await until(async () => past.askedAt.length, 1);
    await pointAt(page, past, 60);
    t.equal((await aborted).failure()?.errorText, 'net::ERR_ABORTED');
    past.before = async () => undefined;
    release();
    await panelOf(page).getByText(PROGRAM).waitFor({ timeout: 120_000 });
    t.pass('the next one is answered');
  });

  t.test('the keyboard moves the moment, and leaving the chart ends it', async (t) => {
    const { page } = await open(t, new KnownPast());
    const slider = sliderOf(page, 'Processor');
    await slider.focus();
    await page.keyboard.press('Home');
    t.match(await slider.getAttribute('aria-valuetext'), /^\d\d:\d\d:\d\d: Load /);
    await passSamples(page, 3);
    t.equal(await panelOf(page).count(), 1, 'the oldest moment stays the oldest');
    await page.keyboard.press('End');
    for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowLeft');
    await panelOf(page).getByText(PROGRAM).waitFor();
    await page.keyboard.press('Tab');
    await panelOf(page).waitFor({ state: 'detached' });
    await isNow(page);
    t.pass('the words are those of now');
  });

  t.test('without processes a moment has its values alone, and they are requested once', async (t) => {
    const past = new KnownPast();
    const { page } = await open(t, past);
    let requests = 0;
    await page.route('**/api/history/processes*', async (route) => {
      requests++;
      await route.fulfill({ status: 403, headers: { 'x-error-code': 'feature_disabled' }, body: '{}' });
    });
    const refused = page.waitForResponse('**/api/history/processes*');
    await pointAt(page, past, 100);
    await refused;
    await pointAt(page, past, 60);
    await panelOf(page).waitFor();
    await passSamples(page, 3);
    t.equal(requests, 1);
    t.notMatch(await panelOf(page).innerText(), /Processes|Most/);
  });

  t.test('on a phone a tap shows it within the screen, and a tap elsewhere ends it', async (t) => {
    const past = new KnownPast();
    const { page } = await open(t, past, PHONE);
    // The cards of media and power are above the chart, and come with their first answers.
    await page.locator('.track').waitFor();
    await page.locator('.acts button').first().waitFor();
    await chartOf(page, 'Processor').scrollIntoViewIfNeeded();
    const { x, y } = await placeOf(page, past, 60);
    await page.touchscreen.tap(x, y);
    await panelOf(page).getByText(PROGRAM).waitFor();
    await passSamples(page, 2);
    t.equal(await panelOf(page).getByText(PROGRAM).isVisible(), true, 'it stays when the finger is lifted');
    const box = await panelOf(page).boundingBox();
    t.ok(box !== null && box.x >= 0 && box.x + box.width <= 360, `${JSON.stringify(box)}`);
    const chart = await chartOf(page, 'Processor').boundingBox();
    t.ok(box !== null && chart !== null && box.y >= chart.y + chart.height, 'below the chart');
    t.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 360);
    const texts = await panelOf(page)
      .locator('span, p, h3')
      .evaluateAll(
        (all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0).length,
      );
    t.equal(texts, 0, 'nothing is cut off');
    await page.touchscreen.tap(20, 20);
    await panelOf(page).waitFor({ state: 'detached' });
    await isNow(page);
  });
}
