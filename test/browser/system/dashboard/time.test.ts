/** Any time of the history: ranges, zoom, steps, links, and what a gap is. */
import '../../../helpers/service/dead-buses.ts';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { checkTime } from '../../../helpers/limits.ts';
import { openPage, PHONE, skipBrowser, startBrowser, until } from '../../browser.ts';
import {
  chartOf,
  isDrawn,
  KnownPast,
  openPast,
  PAST,
  panelOf,
  partAt,
  placeAt,
  rangeSwitch,
  sliderOf,
} from '../../dashboard/past-rig.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

t.setTimeout(280_000);

if (skipBrowser) t.test('times in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const open = async (t: Test, past = new KnownPast(), how: BrowserContextOptions = {}) => ({
    ...(await openPast(t, browser, past, how)),
    past,
  });
  const choose = (page: Page, range: string) => rangeSwitch(page).getByRole('radio', { name: range }).check();
  const inBand = (PAST.mean + PAST.max) / 2;
  const labelOf = (chart: Locator) => chart.getAttribute('aria-label');
  /** The begin and the end in the address. */
  const timeIn = (page: Page) => {
    const params = new URLSearchParams(new URL(page.url()).hash.slice(1));
    return { from: Number(params.get('from')), to: Number(params.get('to')), at: params.get('at') };
  };

  t.test('most memory last night', async (t) => {
    const { page, complaints, past } = await open(t);
    await choose(page, '1 d');
    await until(() => isDrawn(page, 'Memory', 0.5, inBand), true);
    const { x, y } = await placeAt(chartOf(page, 'Memory'), 0.5);
    await page.mouse.click(x, y);
    await panelOf(page).getByText('firefox × 12').first().waitFor();
    t.match(await panelOf(page).innerText(), /Most memory[\s\S]*3\.00 GiB/);
    const asked = past.askedAt.at(-1) ?? 0;
    t.ok(Math.abs(Date.now() / 1000 - asked - 12 * HOUR) < 600, 'of half a day ago');
    t.match(await page.locator('.headline').first().innerText(), /now/, 'what is of now says so');
    t.match(await page.locator('.times').innerText(), /other values of now/);
    await page.mouse.move(2, 2);
    t.equal(await panelOf(page).count(), 1, 'a pinned moment stays');
    await page.keyboard.press('Escape');
    await panelOf(page).waitFor({ state: 'detached' });
    t.notMatch(await page.locator('.headline').first().innerText(), /now/);
    t.strictSame(complaints, []);
  });

  t.test('the network at 14:05 of yesterday', async (t) => {
    const { page, complaints } = await open(t);
    const yesterday = new Date();
    yesterday.setDate(yesterday.getDate() - 1);
    yesterday.setHours(14, 5, 0, 0);
    const wanted = yesterday.getTime() / 1000;
    await choose(page, '7 d');
    await until(() => isDrawn(page, 'Network', 0.5, 0), true);
    const partOf = (at: number) => 1 - (Date.now() / 1000 - at) / (7 * DAY);
    for (const [at, act] of [
      [wanted - 3 * HOUR, 'down'],
      [wanted, 'move'],
      [wanted + 3 * HOUR, 'up'],
    ] as const) {
      const { x, y } = await placeAt(chartOf(page, 'Network'), partOf(at));
      await page.mouse.move(x, y);
      if (act !== 'move') await page.mouse[act]();
    }
    await until(() => labelOf(chartOf(page, 'Network')), /^Chart of the time from /);
    t.match(await labelOf(chartOf(page, 'Processor')), /^Chart of the time from /, 'all charts');
    t.match(await page.locator('.headline').first().innerText(), /now/, 'what is of now says so');
    const { from, to } = timeIn(page);
    t.ok(from < wanted && to > wanted && to - from < 8 * HOUR, `${from} to ${to}`);
    const { x, y } = await placeAt(chartOf(page, 'Network'), (wanted - from) / (to - from));
    await page.mouse.click(x, y);
    await panelOf(page).waitFor();
    t.ok(Math.abs(Number(timeIn(page).at) - wanted) <= 120, await panelOf(page).innerText());
    t.strictSame(complaints, []);
  });

  t.test('a link to a moment shows the same, also after a reload', async (t) => {
    const { page, complaints } = await open(t);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const { x, y } = await placeAt(chartOf(page, 'Processor'), 0.4);
    await page.mouse.click(x, y);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Link copied' }).waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    t.match(link, /#(?:.*&)?from=\d+&to=\d+/);
    const { page: other, complaints: more } = await openPage(t, browser);
    await other.goto(link);
    const words = () => other.locator('.times').innerText();
    const there = await until(words, /Charts at/);
    const [, time = ''] = /Charts at (\S+),/.exec(there) ?? [];
    t.match(await page.locator('.times').innerText(), `Charts at ${time},`, 'the moment');
    t.match(await labelOf(chartOf(other, 'Processor')), /^Chart of the time from .*Load \d+ %/);
    await other.reload();
    t.equal(await until(words, /Charts at/), there, 'a reload keeps it');
    await other.getByRole('button', { name: 'Back to now' }).click();
    await until(() => labelOf(chartOf(other, 'Processor')), /^Chart of the last/);
    t.equal(new URL(other.url()).hash, '');
    t.strictSame([...complaints, ...more], []);
  });

  t.test('a year is drawn soon after the click; ranges are as long as the history', async (t) => {
    const { page, past } = await open(t);
    const began = performance.now();
    await choose(page, '1 y');
    await until(() => isDrawn(page, 'Processor', 0.5, inBand), true);
    const took = performance.now() - began;
    t.comment(`figure: a year is drawn ${Math.round(took)} ms after the click`);
    checkTime(t, took, 500, 'a year');
    t.ok(past.asked.some(({ since, step }) => since === -365 * DAY && step === DAY));
    const young = new KnownPast();
    young.days = 0.5;
    const { page: other } = await open(t, young);
    t.equal(await rangeSwitch(other).getByRole('radio').count(), 3, 'half a day needs no more than a day');
  });

  t.test('steps back and forward by the shown time, and to now', async (t) => {
    const { page } = await open(t);
    await choose(page, '1 h');
    await page.getByRole('button', { name: 'Earlier' }).click();
    const first = timeIn(page);
    t.ok(Math.abs(first.to - first.from - HOUR) <= 10, 'an hour');
    t.ok(Math.abs(Date.now() / 1000 - first.to - HOUR) < 60, 'before the last one');
    await until(() => isDrawn(page, 'Processor', 0.5, inBand), true);
    await page.getByRole('button', { name: 'Earlier' }).click();
    t.equal(timeIn(page).to, first.from);
    await page.getByRole('button', { name: 'Later' }).click();
    t.equal(timeIn(page).to, first.to);
    await page.getByRole('button', { name: 'Back to now' }).click();
    t.equal(await rangeSwitch(page).getByRole('radio', { name: '1 h' }).isChecked(), true);
  });

  t.test('the keyboard selects a time, zooms in and out, and says so', async (t) => {
    const { page, complaints } = await open(t);
    await choose(page, '1 h');
    const slider = sliderOf(page, 'Processor');
    await slider.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+PageDown');
    await page.keyboard.press('Shift+PageDown');
    t.match(await slider.getAttribute('aria-valuetext'), /^selected from \d\d:\d\d:\d\d to \d\d:/);
    const widths = () =>
      page.evaluate<number[]>("[...document.querySelectorAll('.u-select')].map((each) => each.clientWidth)");
    // One is drawn per frame.
    await until(widths, (all) => all.length > 1 && all.every((width) => width > 0));
    await page.keyboard.press('Enter');
    await until(() => labelOf(chartOf(page, 'Memory')), /^Chart of the time from /);
    const { from, to } = timeIn(page);
    t.ok(to - from > 600 && to - from < 900, `a fifth of an hour: ${to - from} s`);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Escape');
    t.notMatch(await slider.getAttribute('aria-valuetext'), /selected/);
    t.equal(timeIn(page).from, from, 'Escape ends the selection first');
    await page.keyboard.press('Backspace');
    t.equal(await rangeSwitch(page).getByRole('radio', { name: '1 h' }).isChecked(), true);
    t.strictSame(complaints, []);
  });

  t.test('a finger that rests and then moves selects a time; one that moves at first scrolls', async (t) => {
    const { page } = await open(t, new KnownPast(), PHONE);
    await chartOf(page, 'Processor').scrollIntoViewIfNeeded();
    const { x, y } = await placeAt(chartOf(page, 'Processor'), 0.5);
    const session = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', right = 0, down = 0) => {
      const touchPoints = type === 'touchEnd' ? [] : [{ x: x + right, y: y + down }];
      return session.send('Input.dispatchTouchEvent', { type, touchPoints });
    };
    const scrolled = () => page.evaluate<number>('scrollY');
    await touch('touchStart');
    // Less than what would scroll.
    const isSelecting = async () => {
      for (const right of [3, 2]) await touch('touchMove', right);
      return (await page.locator('.u-select').first().boundingBox())?.width ?? 0;
    };
    await until(isSelecting, (width) => width > 0);
    await touch('touchMove', 60, 30);
    const now = await placeAt(chartOf(page, 'Processor'), 0.5);
    t.ok(Math.abs(now.y - y) < 1, 'the page did not scroll');
    await touch('touchEnd');
    await until(() => labelOf(chartOf(page, 'Processor')), /^Chart of the time from /);
    // Also if the page is too busy to see at once that the finger moves.
    for (const busyMs of [0, 800]) {
      const before = await scrolled();
      const block = `for (const end = performance.now() + ${busyMs}; performance.now() < end; );`;
      await page.evaluate(
        `addEventListener('pointerdown', () => setTimeout(() => { ${block} }), { once: true })`,
      );
      // Together: a finger that came to rest in between would select.
      const moves = [-20, -40, -60, -90].map((down) => () => touch('touchMove', 0, down));
      await Promise.all([() => touch('touchStart'), ...moves, () => touch('touchEnd')].map((act) => act()));
      // By less than the finger: its first pixels do not count.
      await until(scrolled, (now) => now > before + 45);
      t.notOk((await page.locator('.u-select').first().boundingBox())?.width, 'nothing is selected');
    }
  });

  t.test('a gap has its reason', async (t) => {
    const gap = async (past: KnownPast) => {
      const { page } = await open(t, past);
      const part = partAt(past, 135);
      t.equal(await isDrawn(page, 'Processor', part, PAST.mean), false);
      const { x, y } = await placeAt(chartOf(page, 'Processor'), part);
      await page.mouse.move(x, y);
      await panelOf(page).waitFor();
      return await panelOf(page).innerText();
    };
    t.match(await gap(new KnownPast()), /Load n\/a[\s\S]*Not recorded\.$/m);
    const slept = new KnownPast();
    const text = 'The machine slept for 1 min.';
    slept.marks = [{ at: Date.now() / 1000 - 122, kind: 'suspend', seconds: 60, text }];
    t.match(await gap(slept), /slept for 1 min\.$/m, 'anywhere in the gap');
    const unplugged = new KnownPast();
    unplugged.isOnBattery = true;
    t.match(await gap(unplugged), /battery\.$/m);
  });

  t.test('the heap stays flat while ranges are switched 200 times', async (t) => {
    const { page } = await open(t);
    const session = await page.context().newCDPSession(page);
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize / 2 ** 20;
    };
    const ranges = ['5 min', '1 h', '1 d', '7 d', '30 d', '1 y'];
    const switchAll = async (times: number) => {
      for (let i = 0; i < times; i++) {
        await choose(page, ranges[i % ranges.length] ?? '');
        if (i % 5 === 0) await page.getByRole('button', { name: 'Earlier' }).click();
      }
    };
    await switchAll(100);
    const before = await heap();
    await switchAll(200);
    const after = await heap();
    t.comment(`figure: ${before.toFixed(2)} MiB of heap, after 200 switches ${after.toFixed(2)} MiB`);
    t.ok(after < before * 1.25, `${before} and ${after} MiB`);
  });
}
