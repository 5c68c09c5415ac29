/** The key: kept in the tab unless the user wants it remembered, for this service alone, and forgotten on request. */
import '../../../helpers/service/dead-buses.ts';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startPrefixProxy } from '../../../helpers/clients/prefix-proxy.ts';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { startHere } from '../../../helpers/service/service.ts';
import { liveState, openPage, skipBrowser, startBrowser } from '../../browser.ts';

const KEY = 'correct-horse-battery-staple-0123456789';

t.setTimeout(280_000);

if (skipBrowser) t.test('the key in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const service = await startHere(livelyHost(), {
    stats: { stream_interval_seconds: 1 },
    auth: { enabled: true, api_key: KEY },
  });
  t.teardown(() => service.stop());

  const enter = async (page: Page, isRemembered: boolean) => {
    const remember = page.getByRole('checkbox', { name: 'Remember on this device' });
    await remember.waitFor();
    t.equal(await remember.isChecked(), false, 'off by default');
    if (isRemembered) await remember.check();
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await page.getByRole('button', { name: 'Connect' }).click();
    await liveState(page).waitFor();
  };
  const stored = (page: Page) =>
    page.evaluate<readonly number[]>('[localStorage.length, sessionStorage.length, document.cookie.length]');
  const prompt = (page: Page) => page.getByRole('dialog', { name: 'This service requires a key' });

  t.test('it is kept in the tab alone', async (t) => {
    const { page } = await openPage(browser);
    t.teardown(() => page.context().close());
    await page.goto(service.baseUrl);
    await enter(page, false);
    t.strictSame(await stored(page), [0, 1, 0]);
    t.equal(await page.getByRole('button', { name: 'Forget the key' }).count(), 0);
    const other = await page.context().newPage();
    await other.goto(service.baseUrl);
    await prompt(other).waitFor();
    t.pass('another tab asks for it');
  });

  t.test('it is remembered on request, and forgotten on request', async (t) => {
    const { page } = await openPage(browser);
    t.teardown(() => page.context().close());
    await page.goto(service.baseUrl);
    await enter(page, true);
    t.strictSame(await stored(page), [1, 0, 0]);
    const other = await page.context().newPage();
    await other.goto(service.baseUrl);
    await liveState(other).waitFor();
    t.pass('another tab does not ask for it');
    await other.getByRole('button', { name: 'Forget the key on this device' }).click();
    await prompt(other).waitFor();
    t.strictSame(await stored(other), [0, 0, 0]);
  });

  t.test(
    'it is stored by the path, so that services under two paths of one origin have a key each',
    async (t) => {
      const proxy = await startPrefixProxy(t, service.port, '/a');
      const { page } = await openPage(browser);
      t.teardown(() => page.context().close());
      await page.goto(`${proxy.baseUrl}/`);
      await enter(page, true);
      const names = () => page.evaluate<readonly string[]>('Object.keys(localStorage)');
      t.strictSame(await names(), ['hostwire-key /a/']);
      t.strictSame(await page.evaluate('Object.values(localStorage)'), [KEY]);
    },
  );
}
