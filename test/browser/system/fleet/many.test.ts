/** A fleet of 31 in Chromium: what is wrong is seen first, and machines are compared. */
import '../../../helpers/service/dead-buses.ts';
import t from 'tap';
import { isDown, isUp, startHub } from '../../../hub/setup.ts';
import { openLive, PHONE, skipBrowser, startBrowser, until } from '../../browser.ts';
import { namesOn, startAgent } from '../../fleet/rig.ts';

const MACHINES = 31;
const RECORDED = { history: { minutes: 60 }, watch: { defaults: false, rules: {} } };
const RULES = { 'disk-full': { series: 'disk.used_percent/*', above: 90, for_seconds: 1 } };
/** 34 characters. */
const LONG_NAME = 'backup-storage-2.frankfurt.example';

t.setTimeout(580_000);

if (skipBrowser) t.test('a fleet of 31 in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const busy = await startAgent(t, 'busy', 0, RECORDED);
  const full = await startAgent(t, 'full', 0, {
    ...RECORDED,
    watch: { defaults: false, rules: RULES },
  });
  const dead = await startAgent(t, 'dead', 0, RECORDED);
  const agents = Object.fromEntries(
    Array.from({ length: MACHINES }, (_, i) => {
      const id = `m${String(i).padStart(2, '0')}`;
      const { baseUrl } = i === 29 ? full : i === 30 ? dead : busy;
      const name = i === 0 ? LONG_NAME : `machine-${i}`;
      return [
        id,
        { url: baseUrl, name, labels: { site: i % 3 === 0 ? 'berlin' : 'paris', rack: `r${i % 2}` } },
      ];
    }),
  );
  const hub = await startHub(t, agents);
  for (const id of ['m00', 'm29', 'm30']) await hub.host(id, isUp);
  // Its last values are those of a viewer.
  await hub.hosts('?fields=cpu');
  const address = `http://127.0.0.1:${hub.port}`;

  t.test(
    'what is down and what has an alarm comes first, since when, and with the last values',
    async (t) => {
      const { page, complaints } = await openLive(t, browser, address, {
        viewport: { width: 1280, height: 1400 },
      });
      const row = (name: string) => page.getByRole('row').filter({ hasText: name });
      await until(() => row('machine-30').innerText(), /\d+ %/);
      await dead.stop();
      await hub.host('m30', isDown);
      await until(async () => (await namesOn(page)).slice(0, 2), ['machine-30', 'machine-29']);
      t.match(await row('machine-30').innerText(), /Down\s+since \d\d:\d\d/);
      await until(() => row('machine-30').innerText(), /\d+ %[\s\S]*9\d %/);
      t.match(await row('machine-30').getAttribute('title'), /^Last values, as of \d\d:\d\d$/);
      const events = page.getByRole('region', { name: /open event/ });
      await until(
        () => events.innerText(),
        /machine-30[\s\S]*since[\s\S]*machine-29[\s\S]*\/srv\/media[\s\S]*since \d\d:\d\d/,
      );
      const bottom = await events.boundingBox();
      t.ok(bottom !== null && bottom.y + bottom.height < 450, 'on the first half of the first screen');
      t.equal(await page.title(), '1 down, 1 alarm · hostwire');
      t.strictSame(
        // What the machine that is ending was asked.
        complaints.filter((text) => !/status of 503/.test(text)),
        [],
      );
    },
  );

  t.test('the line of the last minute is there within a second', async (t) => {
    const { page } = await openLive(t, browser, address, { viewport: { width: 1280, height: 900 } });
    const lengths = () =>
      page
        .locator('tr[data-item] .spark path')
        .evaluateAll((all) => all.slice(2, 8).map((path) => path.getAttribute('d')?.split('L').length ?? 0));
    const begun = performance.now();
    // The services have been recorded for this long at least.
    await until(lengths, (all) => all.length === 6 && all.every((points) => points > 3));
    t.comment(
      `figure: six lines were there ${Math.round(performance.now() - begun)} ms after the first event`,
    );
  });

  t.test('two machines are compared, with one cursor', async (t) => {
    const { page, complaints } = await openLive(t, browser, `${address}/?state=up`, {
      viewport: { width: 1280, height: 900 },
      bypassCSP: true,
    });
    await page.getByLabel('Compare machine-1', { exact: true }).check();
    await page.getByLabel('Compare machine-2', { exact: true }).check();
    await page.getByRole('radio', { name: 'Compare' }).check();
    const columns = page.locator('.compared > section');
    await until(() => columns.count(), 2);
    t.match(page.url(), /pick=m01%2Cm02/);
    await until(
      () => columns.first().innerText(),
      /machine-1[\s\S]*Load\s+\d+ %[\s\S]*Received\s+[\d.]+ \w+\/s/,
    );
    await columns.first().locator('svg').first().hover();
    await until(() => page.locator('.compared .cursor').count(), 10);
    await page.reload();
    await until(() => columns.count(), 2);
    t.strictSame(complaints, []);
  });

  t.test('labels and groups', async (t) => {
    const { page } = await openLive(t, browser, address, { viewport: { width: 1280, height: 900 } });
    await page.getByLabel('Label').selectOption('site: berlin');
    await page.getByText('11 of 31 machines').waitFor();
    await page.getByLabel('Label').selectOption('rack: r0');
    await page.getByText('6 of 31 machines').waitFor();
    await page.getByRole('button', { name: 'Remove the filter rack: r0' }).click();
    await page.getByText('11 of 31 machines').waitFor();
    await page.getByRole('button', { name: 'Remove the filter site: berlin' }).click();
    await page.getByLabel('Group by').selectOption('site');
    const groups = page.locator('tr.group');
    await until(
      () => groups.first().innerText(),
      /site: berlin[\s\S]*11 machines, 1 down[\s\S]*\d+ %[\s\S]*9\d %/,
    );
    await until(() => groups.last().innerText(), /site: paris[\s\S]*20 machines/);
  });

  t.test('columns leave one by one from the right, and the others have room', async (t) => {
    const { page } = await openLive(t, browser, address);
    const heads = page.locator('thead th:visible');
    const counts: number[] = [];
    for (const width of [1920, 1440, 1366, 1280, 900, 768]) {
      await page.setViewportSize({ width, height: 900 });
      const found = await heads.evaluateAll((all) => all.slice(1).map((each) => each.clientWidth));
      counts.push(found.length);
      t.ok(Math.min(...found) >= 70, `${width} px: ${found.map(Math.round)}`);
    }
    t.strictSame(counts, [12, 11, 10, 9, 7, 6]);
  });

  t.test('on a phone: a line of 48 px per machine, with its whole name', async (t) => {
    const { page } = await openLive(t, browser, `${address}/?sort=name&state=up`, PHONE);
    const first = page.locator('tr[data-item]').first();
    await until(() => first.innerText(), new RegExp(`${LONG_NAME}[\\s\\S]*Up`));
    t.equal((await first.boundingBox())?.height, 48);
    const cells = await first
      .locator('th a, td:visible')
      .evaluateAll((all) =>
        all
          .filter((cell) => cell.scrollWidth > cell.clientWidth || cell.getBoundingClientRect().right > 348)
          .map((cell) => cell.textContent),
      );
    t.strictSame(cells, [], 'nothing is cut off');
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    t.ok(wide <= 0, 'nothing is beside the screen');
  });
}
