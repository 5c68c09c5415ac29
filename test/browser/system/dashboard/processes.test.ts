/** The table of processes in Chromium: on a phone, with thousands of rows, and without what would be refused. */
import '../../../helpers/service/dead-buses.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { type LivelyHost, livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';
import { card, openLive, openPage, PHONE, skipBrowser, startBrowser, until } from '../../browser.ts';
import { crowd, GUARDED } from '../../dashboard/rows.ts';

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const CONTROL: ConfigPart = { ...QUICK, features: { enable_process_control: true } };

t.setTimeout(280_000);

/** Left and right edges of the visible cells of the third row, with their texts. */
const CELLS = `[...document.querySelectorAll('tbody tr:nth-child(3) > *')]
  .map((cell) => ({ cell, box: cell.getBoundingClientRect() }))
  .filter(({ box }) => box.width > 0)
  .map(({ cell, box }) => ({ text: cell.innerText.trim(), left: box.left, right: box.right }))`;

if (skipBrowser) t.test('processes in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const openTable = async (
    t: Test,
    host: LivelyHost,
    config: ConfigPart,
    options: BrowserContextOptions = {},
  ): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> => {
    const service = await serveHere(t, host, config);
    const opened = await openLive(t, browser, service.baseUrl, options);
    await opened.page.getByRole('button', { name: 'Show all' }).click();
    await opened.page.locator('tbody tr').first().waitFor();
    return opened;
  };

  const names = (page: Page) => page.locator('tbody th').allInnerTexts();
  const ends = async (page: Page) =>
    (await page.locator('tbody .act button').evaluateAll((all) => all.map((each) => each.ariaLabel))).sort();

  t.test('on a phone the name, CPU, memory and action are on the screen, the rest after a tap', async (t) => {
    const { page, complaints } = await openTable(t, livelyHost(), CONTROL, PHONE);
    await page.locator('tbody .act button').first().waitFor();
    await page.locator('tbody').scrollIntoViewIfNeeded();
    const cells = await page.evaluate<{ text: string; left: number; right: number }[]>(CELLS);
    t.equal(cells.length, 4);
    const patterns = [/^\w/, /^[\d.]+ %$/, /^[\d.]+ [KMG]iB$/, /^End$/];
    patterns.forEach((pattern, i) => t.match(cells[i]?.text, pattern));
    cells.forEach(({ left, right, text }, i) => {
      t.ok(left >= 0 && right <= 360, `${text} is on the screen`);
      t.ok(left >= (cells[i - 1]?.right ?? 0), `${text} begins after the cell before it`);
    });
    const box = page.locator('.scroll');
    t.equal(
      await box.evaluate((each) => each.scrollWidth - each.clientWidth),
      0,
      'nothing is left of or right of it',
    );
    await page.getByRole('button', { name: 'thunderbird', exact: true }).tap();
    const dialog = page.getByRole('dialog', { name: 'thunderbird' });
    await dialog.getByText('Threads').waitFor();
    t.match(await dialog.innerText(), /User\s+root[\s\S]*Started\s+\d+ \w+ 20\d\d/);
    t.strictSame(complaints, []);
  });

  t.test(
    '"Show all" shows thousands, grouped or not, says which, and renders only what is seen',
    async (t) => {
      const { page, complaints } = await openTable(t, livelyHost({ processes: crowd(6000) }), QUICK);
      const note = page.locator('.tools .note');
      await until(() => note.innerText(), 'All 6,000 processes, by 6,000 names');
      await page.getByLabel('Group by name').uncheck();
      await until(() => note.innerText(), 'All 6,000 processes');
      await page.getByRole('button', { name: 'Name', exact: true }).click();
      await until(
        () => names(page),
        ([first]) => first === 'program-00000',
      );
      const rows = await page.locator('tbody tr').count();
      t.ok(rows >= 15 && rows <= 80, `${rows} rows are rendered`);
      t.equal(await page.getByRole('table').getAttribute('aria-rowcount'), '6001', 'the head is a row too');
      const box = page.locator('.scroll');
      await box.evaluate((each) => each.scrollTo(0, each.scrollHeight));
      const last = await until(
        () => names(page),
        (texts) => texts.includes('program-05999'),
      );
      t.ok(last.length <= 80, `${last.length} rows are rendered at the end`);
      const lastRow = page.locator('tbody tr').last();
      t.equal(await lastRow.getAttribute('aria-rowindex'), '6001');
      const { bottom, edge } = await lastRow.evaluate((row) => ({
        bottom: row.getBoundingClientRect().bottom,
        edge: row.closest('.scroll')?.getBoundingClientRect().bottom ?? 0,
      }));
      t.ok(Math.abs(bottom - edge) < 2, `the last row ends at ${bottom}, the table at ${edge}`);
      await box.evaluate((each) => each.scrollTo(0, each.scrollHeight / 2));
      await until(
        () => names(page),
        (texts) => texts.includes('program-03000'),
      );
      await page.getByRole('searchbox').fill('program-0599');
      await until(() => note.innerText(), '10 of 6,000 processes match');
      t.equal((await names(page)).length, 10, 'a short list after a long one is shown from its start');
      t.strictSame(complaints, []);
    },
  );

  t.test('the column Disk: sorted either way, unknown values last', async (t) => {
    const { page, complaints } = await openTable(t, livelyHost(), QUICK);
    const head = page.getByRole('columnheader', { name: 'Disk' });
    await head.getByRole('button').click();
    const first = page.locator('tbody tr').first();
    await until(() => first.innerText(), /^postgres[\s\S]*20\.8 MiB\/s/);
    await head.getByRole('button').click();
    await until(() => head.getAttribute('aria-sort'), 'ascending');
    await page.getByRole('searchbox').fill('systemd');
    await until(() => names(page).then(String), 'systemd-journald,systemd');
    t.pass('that of systemd is hidden');
    t.strictSame(complaints, []);
  });

  t.test('the Tab key reaches rows that are not rendered yet', async (t) => {
    const { page } = await openTable(t, livelyHost({ processes: crowd(300) }), QUICK);
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await until(
      () => names(page),
      ([first]) => first === 'program-00000',
    );
    await page.getByRole('button', { name: 'program-00000' }).focus();
    // A busy page has no time for a frame, and so for a scroll event, between two keys.
    await page.evaluate("addEventListener('scroll', (event) => event.stopImmediatePropagation(), true)");
    for (let i = 1; i <= 120; i++) await page.keyboard.press('Tab');
    t.equal(await page.evaluate('document.activeElement.textContent'), 'program-00120');
  });

  t.test('"End" is offered where the service would do it, and nowhere else', async (t) => {
    const { page } = await openTable(t, livelyHost({ processes: GUARDED }), CONTROL);
    await until(
      () => ends(page),
      (labels) => labels.length > 0,
    );
    t.strictSame(await ends(page), ['End firefox (3 processes)', 'End gedit'], 'grouped');
    t.equal((await names(page)).length, 8, 'the others are listed too');
    await page.getByLabel('Group by name').uncheck();
    await until(
      () => names(page),
      (texts) => texts.length === 10,
    );
    const labels = ['End firefox (700)', 'End firefox (701)', 'End firefox (702)', 'End gedit (710)'];
    await until(() => ends(page), labels);
    t.pass('one by one');
    await page.getByRole('button', { name: 'fish', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Threads').waitFor();
    t.equal(await dialog.getByRole('button', { name: 'End' }).count(), 0, 'a parent of the service');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'gedit', exact: true }).click();
    await dialog.getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog', { name: 'End gedit (710)?' }).waitFor();
    t.pass('and the details offer it too');
  });

  t.test('without features.enable_process_control there is no "End" and no command line', async (t) => {
    const { page } = await openTable(t, livelyHost({ processes: GUARDED }), QUICK);
    t.equal(await page.getByText('Action', { exact: true }).count(), 0);
    await page.getByRole('button', { name: 'gedit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'gedit' });
    await dialog.getByText('Threads').waitFor();
    const words = await dialog.innerText();
    t.notMatch(words, /Command|--profile/);
    t.equal(await dialog.getByRole('button', { name: 'End' }).count(), 0);
  });

  t.test('a row opens the details of its processes', async (t) => {
    const { page, complaints } = await openTable(t, livelyHost({ processes: GUARDED }), CONTROL);
    await page.getByRole('button', { name: 'firefox', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('701').waitFor();
    t.match(await dialog.innerText(), /^firefox[\s\S]*Processes\s+3[\s\S]*900 MiB[\s\S]*ada · Sleeping/);
    await dialog.getByRole('button', { name: '701' }).click();
    const one = page.getByRole('dialog', { name: 'firefox (701)' });
    await one.getByText('Threads').waitFor();
    const words = await one.innerText();
    for (const pattern of [
      /Process ID\s+701/,
      /User\s+ada/,
      /State\s+Sleeping/,
      /Started\s+\d+ \w+ 20\d\d, \d\d:\d\d \(.+ ago\)/,
      /Threads\s+41/,
      /Memory\s+300 MiB/,
      /Open files\s+37/,
      /Program\s+\/usr\/bin\/firefox/,
      /Command\s+\/usr\/bin\/firefox --profile/,
      /Working folder\s+\/home\/ada/,
    ])
      t.match(words, pattern);
    await page.keyboard.press('Escape');
    t.equal(await dialog.count(), 0);
    t.strictSame(complaints, []);
  });

  t.test('the age of the figures is shown when they are more than 2 s old', async (t) => {
    const host = livelyHost();
    const service = await serveHere(t, host, QUICK);
    const { page } = await openPage(t, browser);
    await page.goto(service.baseUrl);
    const head = card(page, 'Processes').locator('header');
    await head.waitFor();
    t.notMatch(await head.innerText(), /ago/, 'fresh figures have no age');
    host.processes.isSlow = true;
    await until(() => head.innerText(), / · updated [3-9] s ago/);
    host.processes.isSlow = false;
    await until(
      () => head.innerText(),
      (text) => !text.includes('ago'),
    );
    t.pass('and not after they were read again');
  });
}
