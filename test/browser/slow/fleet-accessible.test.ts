/** The page of all machines for everybody: what axe-core finds, the layout, keyboard, phone, dark, large text. */
import '../../helpers/service/dead-buses.ts';
import t from 'tap';
import { auditPage, openLive, openPage, PHONE, skipBrowser, startBrowser, until } from '../browser.ts';
import { problemsOn } from '../dashboard/layout.ts';
import { startFleet } from '../fleet/rig.ts';

const WIDTHS = [360, 390, 768, 1280] as const;

t.setTimeout(580_000);

if (skipBrowser) t.test('the fleet for everybody', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const hub = await startFleet(t);
  const address = `http://127.0.0.1:${hub.port}`;

  for (const colorScheme of ['light', 'dark'] as const)
    for (const view of ['table', 'tiles', 'compare'] as const)
      t.test(
        `[I.hub.page] nothing overlaps or is cut off, no violation: ${view}, ${colorScheme}`,
        async (t) => {
          const { page, complaints } = await openLive(
            t,
            browser,
            `${address}/?view=${view}&pick=desk,nas&group=site`,
            {
              colorScheme,
              bypassCSP: true,
            },
          );
          const names = view === 'compare' ? page.locator('.compared h2 a') : page.locator('[data-item] a');
          await until(() => names.count(), view === 'compare' ? 2 : 3);
          for (const textPercent of [100, 200])
            for (const width of WIDTHS) {
              await page.setViewportSize({ width, height: 900 });
              await page.evaluate(`document.documentElement.style.fontSize = '${textPercent}%'`);
              const name = `${width} px, text ${textPercent} %`;
              t.strictSame(await problemsOn(page), [], name);
              t.strictSame(await auditPage(page), [], `axe-core, ${name}`);
            }
          t.strictSame(complaints, []);
        },
      );

  t.test('[I.hub.page] on a phone all targets are large enough to touch', async (t) => {
    const { page } = await openPage(t, browser, PHONE);
    for (const view of ['table', 'tiles']) {
      await page.goto(`${address}/?view=${view}`);
      await page.locator('[data-item]').first().waitFor();
      const small = await page
        .locator('button:visible, select:visible, input:visible, a:visible')
        .evaluateAll((all) =>
          all
            .filter((element) => !element.matches('.skip, .tile a'))
            .map((element) => ({ text: element.outerHTML, box: element.getBoundingClientRect() }))
            .filter(({ box }) => box.width < 24 || box.height < 24)
            .map(({ text }) => text),
        );
      t.strictSame(small, [], `WCAG 2.5.8, ${view}`);
    }
    await page
      .locator('.tile')
      .filter({ hasText: 'nas.lan' })
      .tap({ position: { x: 20, y: 90 } });
    await page.getByRole('heading', { name: 'nas.lan' }).waitFor();
    t.equal(page.url(), `${address}/hosts/nas/`, 'the whole tile opens its machine');
  });

  t.test('[I.hub.page] the keyboard reaches everything, starting with a skip link', async (t) => {
    const { page } = await openPage(t, browser, { reducedMotion: 'reduce' });
    await page.goto(`${address}/?view=table`);
    await page.getByRole('link', { name: 'nas.lan' }).waitFor();
    await page.keyboard.press('Tab');
    const focused = () =>
      page.evaluate<string>('document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? ""');
    t.equal(await focused(), 'Skip to the machines');
    const reached: string[] = [];
    for (let i = 0; i < 24; i++) {
      await page.keyboard.press('Tab');
      reached.push(await focused());
    }
    for (const name of ['Load', 'Memory', 'Disk', 'Temperature', 'desk.lan', 'gone', 'nas.lan'])
      t.ok(reached.includes(name), `${name} of ${reached.join(', ')}`);
    await page.getByRole('link', { name: 'nas.lan' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'nas.lan' }).waitFor();
    t.pass('Enter opens a machine');
  });
}
