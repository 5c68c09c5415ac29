/**
 * The strip at the top: what is open since when, the tab, the figures and where they lead, a lost connection, a phone; the
 * arrangement of cards, and colours that the system chooses.
 */
import '../../../helpers/service/dead-buses.ts';
import { createHash } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { startRelay } from '../../../helpers/clients/relay.ts';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere, startHere } from '../../../helpers/service/service.ts';
import { isUp, startHub } from '../../../hub/setup.ts';
import {
  auditPage,
  card,
  liveState,
  openLive,
  openPage,
  PHONE,
  skipBrowser,
  startBrowser,
  until,
} from '../../browser.ts';
import { openEvents } from '../../dashboard/open-events.ts';
import { namedHost } from '../../fleet/rig.ts';

const QUICK: ConfigPart = {
  stats: { stream_interval_seconds: 1 },
  features: { enable_shutdown: true, enable_restart: true },
  history: { minutes: 60 },
};
t.setTimeout(280_000);

const chip = (page: Page) => page.locator('.chip');
const list = (page: Page) => page.getByRole('region', { name: 'Open events' });
const iconOf = (page: Page) => page.locator('link[rel="icon"]').getAttribute('href');
const figures = (page: Page) => page.getByRole('navigation', { name: 'Key figures' });

if (skipBrowser) t.test('the verdict in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const service = await serveHere(t, livelyHost(), QUICK);

  const openWith = async (t: Test, severities: readonly string[]): Promise<Page> => {
    const { page } = await openPage(t, browser, { bypassCSP: true });
    await page.route('**/api/events*', (route) => route.fulfill({ json: openEvents(severities) }));
    await page.goto(service.baseUrl);
    return page;
  };

  t.test('an alarm that began hours ago and lasts is shown, with its time, until it was seen', async (t) => {
    const page = await openWith(t, ['warning', 'critical', 'info']);
    await list(page).waitFor();
    const words = await list(page).getByRole('listitem').allInnerTexts();
    t.equal(words.length, 2, 'information is no alarm');
    t.match(words[0], /^● Disk \/srv\/media is 91 % full, limit 90 % since [\d :,\w]+ \(3 h 1 min\)$/);
    t.match(words[1], /^▲ /, 'shapes, not only colours');
    await until(() => page.title(), '(2) workbench · hostwire');
    t.match(await iconOf(page), /^data:image\/svg\+xml,.*%3E2%3C/, 'the icon has the number');
    t.strictSame(await auditPage(page), []);
    await list(page).getByRole('link').first().click();
    t.equal(await page.evaluate('document.activeElement?.textContent'), 'Disks', 'it leads to its card');
    t.equal(new URL(page.url()).hash, '', 'and leaves the address alone');
    await list(page).getByRole('button', { name: 'Seen' }).click();
    t.equal(await list(page).count(), 0);
    t.match(await chip(page).innerText(), /2 open/, 'still counted');
    t.equal(await page.locator('.chip.high, .chip.raised').count(), 0, 'without emphasis');
    await page.reload();
    await chip(page).waitFor();
    t.equal(await list(page).count(), 0, 'this browser keeps it');
    t.equal(await page.title(), '(2) workbench · hostwire');
    await chip(page).click();
    await list(page).waitFor();
    t.pass('shown again on request');
  });

  t.test('without events neither the title nor the icon has a number', async (t) => {
    const page = await openWith(t, []);
    await until(() => page.title(), 'workbench · hostwire');
    t.equal(await chip(page).count(), 0);
    t.match(await iconOf(page), /icon-\w+\.svg$/);
    t.equal(await page.evaluate('localStorage.length'), 0, 'nothing is kept');
  });

  t.test('figures lead to their cards, and the track pauses with one tap', async (t) => {
    const { page } = await openLive(t, browser, service.baseUrl);
    const words = await until(
      () => figures(page).innerText(),
      (text) => /Brian Eno/.test(text),
    );
    t.match(
      words.replaceAll('\n', ' '),
      /^Load \d+ % Memory \d+ % Disk \/srv\/media ▲ 91 % Hottest \d+ °C Network, B\/s ↓\S+ ↑\S+ Battery \d+ %/,
    );
    for (const [name, title] of [
      ['Hottest', 'Sensors'],
      ['Load', 'Processor'],
    ] as const) {
      await figures(page)
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .click();
      t.equal(await page.evaluate('document.activeElement?.textContent'), title);
      const top = (await card(page, title).boundingBox())?.y ?? 0;
      t.ok(top >= 50 && top < 900, `${title} is below the strip, at ${top} px`);
    }
    t.equal((await page.locator('.strip').boundingBox())?.height, 56, 'the strip is 56 px high');
    t.equal((await page.locator('.strip').boundingBox())?.y, 0, 'and stays');
    await figures(page).getByRole('button', { name: 'Pause An Ending (Ascent)' }).click();
    await figures(page).getByRole('button', { name: 'Play An Ending (Ascent)' }).waitFor();
    t.pass('paused');
  });

  t.test('without a connection the last values remain, as of their time; then it reconnects', async (t) => {
    const host = livelyHost();
    const first = await startHere(host, QUICK);
    const relay = await startRelay(t, first.port);
    const { page, complaints } = await openLive(t, browser, relay.baseUrl, { bypassCSP: true });
    await card(page, 'Processor').waitFor();
    relay.setTarget(undefined);
    await first.stop();
    await page.locator('.state.lost').waitFor();
    t.match(
      await page.locator('.state').innerText(),
      /^Connection lost, reconnecting · as of \d\d:\d\d:\d\d$/,
    );
    t.match(await card(page, 'Processor').innerText(), /\d+ %/);
    t.match(await figures(page).innerText(), /\d+ °C/);
    t.strictSame(await auditPage(page), [], 'contrast among others');
    relay.setTarget((await serveHere(t, host, QUICK)).port);
    await liveState(page).waitFor();
    // Chromium itself writes a line for each request that failed while the service was down.
    const isForeign = (text: string) => !/^Failed to load resource: (?:net::ERR_|.* 503)/.test(text);
    t.strictSame(complaints.filter(isForeign), []);
  });

  t.test(
    'on a phone: two rows of three, then media and power on the first screen, for a thumb',
    async (t) => {
      const { page } = await openLive(t, browser, service.baseUrl, PHONE);
      await card(page, 'Power').getByRole('button', { name: 'Lock' }).waitFor();
      await page.locator('.track').waitFor();
      const boxesOf = async (all: Locator) =>
        all.evaluateAll((found) => found.map((each) => each.getBoundingClientRect().toJSON()));
      const places = await boxesOf(page.locator('.figure:visible'));
      t.same(new Set(places.map(({ top }) => top)).size, 2);
      t.same(new Set(places.map(({ left }) => left)).size, 3);
      const targets = await boxesOf(
        page.locator('.figure:visible, .acts button, .track button, .chip:visible'),
      );
      t.ok(targets.length >= 12);
      for (const { width, height, x, y } of targets)
        t.ok(width >= 44 && height >= 44, `${width} × ${height} px at ${x}, ${y}`);
      const power = (await boxesOf(card(page, 'Power')))[0];
      t.ok(power.bottom < 740, `media and power end at ${power.bottom} px, and charts begin`);
    },
  );

  t.test(
    'on the page of a machine that goes away from its hub the last values remain, with their time',
    async (t) => {
      const desk = await startHere(namedHost('desk.lan'), QUICK);
      const hub = await startHub(t, { desk: { url: desk.baseUrl } });
      await hub.host('desk', isUp);
      const { page } = await openLive(t, browser, `http://127.0.0.1:${hub.port}/hosts/desk/`, {
        bypassCSP: true,
      });
      await card(page, 'Processor').waitFor();
      await desk.stop();
      const away = page.getByText(/^(Cannot be reached|Off) · as of \d\d:\d\d:\d\d$/);
      await away.waitFor();
      t.match(await card(page, 'Memory').innerText(), /GiB/);
      t.strictSame(await auditPage(page), []);
    },
  );

  t.test('cards are folded and moved, and stay so; the original order is a button away', async (t) => {
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    await card(page, 'Processes').waitFor();
    const titles = () => page.locator('.card h2').allInnerTexts();
    const own = await titles();
    const memory = card(page, 'Memory');
    await memory.getByRole('button', { name: 'Memory' }).click();
    t.equal(await memory.locator('canvas').count(), 0);
    await page.getByRole('button', { name: 'Arrange the cards' }).click();
    await page.getByRole('button', { name: 'Move Memory earlier' }).focus();
    await page.keyboard.press('Enter');
    await until(titles, (now) => now[0] === 'Memory');
    await until(() => page.evaluate('document.activeElement?.ariaLabel'), 'Move Memory earlier');
    await page.reload();
    await card(page, 'Processes').waitFor();
    t.equal((await titles())[0], 'Memory');
    t.equal(await memory.locator('canvas').count(), 0, 'still folded');
    await page.getByRole('button', { name: 'Original order' }).click();
    await memory.getByRole('button', { name: 'Memory' }).click();
    await until(titles, own);
    t.equal(await page.evaluate('localStorage.length'), 0, 'nothing is left');
    t.strictSame(complaints, []);
  });

  t.test('with forced colours a meter at 10 % and one at 90 % differ, and so do states', async (t) => {
    const { page } = await openLive(t, browser, service.baseUrl, {
      forcedColors: 'active',
      colorScheme: 'dark',
    });
    await card(page, 'Processes').waitFor();
    // Nothing may change between two pictures but what the test changes.
    await page.route('**/*', (route) => route.abort());
    await page.evaluate('window.stop()');
    const differ = async (at: string, what: string, first: string, second: string) => {
      const pictureAfter = async (change: string) => {
        await page.evaluate(`document.querySelector('${at}')${change}`);
        const picture = await page.locator(at).first().screenshot({ animations: 'disabled' });
        return createHash('sha256').update(picture).digest('hex');
      };
      const known = await pictureAfter(first);
      t.equal(await pictureAfter(first), known, `${what}: the same is drawn twice`);
      // A rendering in between undoes the change.
      const isOther = (picture: string) => picture !== known;
      const other = await until(() => pictureAfter(second), isOther, 10_000).catch(() => known);
      t.not(other, known, `${what} differs`);
    };
    await differ('.bar', 'a meter', ".firstChild.style.width = '10%'", ".firstChild.style.width = '90%'");
    const load = (percent: number) => `.style.setProperty('--load', '${percent}')`;
    await differ('.cores i', 'a core', load(10), load(90));
    await differ('.state', 'the dot', ".className = 'state live'", ".className = 'state lost'");
    const check = (at: number) => `.querySelectorAll('input')[${at}].checked = true`;
    await differ('.ranges', 'the selected range', check(0), check(1));
  });
}
