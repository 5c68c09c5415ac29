/** The key: kept in the tab unless the user wants it remembered, for this service alone, and forgotten on request. */
import '../../../helpers/service/dead-buses.ts';
import type { Page } from 'playwright-core';
import t from 'tap';
import { describeDigest } from '#src/access/key.js';
import { startPrefixProxy } from '../../../helpers/clients/prefix-proxy.ts';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { liveState, openLive, openPage, skipBrowser, startBrowser, until } from '../../browser.ts';

const KEY = 'correct-horse-battery-staple-0123456789';
const TV_KEY = 'another-horse-battery-staple-0123456789';

t.setTimeout(280_000);

if (skipBrowser) t.test('the key in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const service = await serveHere(t, livelyHost(), {
    stats: { stream_interval_seconds: 1 },
    auth: {
      enabled: true,
      api_key: KEY,
      keys: { tv: { digest: describeDigest(TV_KEY), scopes: ['read'] } },
    },
  });

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
    const { page } = await openPage(t, browser);
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
    const { page } = await openPage(t, browser);
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
      const { page } = await openPage(t, browser);
      await page.goto(`${proxy.baseUrl}/`);
      await enter(page, true);
      const names = () => page.evaluate<readonly string[]>('Object.keys(localStorage)');
      t.strictSame(await names(), ['hostwire-key /a/']);
      t.strictSame(await page.evaluate('Object.values(localStorage)'), [KEY]);
    },
  );

  t.test('[10.link-kept] a page that leads here with another key replaces no key that works', async (t) => {
    const { page } = await openPage(t, browser);
    const kept = () =>
      page.evaluate<readonly string[]>('[...Object.values(localStorage), ...Object.values(sessionStorage)]');
    /** As another site does, also where the page is open: then only the fragment changes. */
    const lead = (key: string) => page.evaluate(`{ location.href = '${service.baseUrl}/#key=${key}'; }`);
    await page.goto('about:blank');
    await page.goto(`${service.baseUrl}/#key=wrong`);
    await prompt(page).getByText('That key was not accepted.').waitFor();
    t.strictSame(await kept(), [], 'nothing was kept, and nothing is');

    await page.goto('about:blank');
    await page.goto(`${service.baseUrl}/#key=${KEY}`);
    await liveState(page).waitFor();
    t.strictSame(await kept(), [KEY]);
    const questions: string[] = [];
    let isWanted = false;
    page.on('dialog', async (dialog) => {
      questions.push(dialog.message());
      await (isWanted ? dialog.accept() : dialog.dismiss());
    });
    for (const from of ['about:blank', undefined]) {
      if (from !== undefined) await page.goto(from);
      if (from === undefined) await lead('wrong');
      else await page.goto(`${service.baseUrl}/#key=wrong`);
      await page.getByText("The link's key was not accepted. The saved key remains in use.").waitFor();
      await liveState(page).waitFor();
      t.strictSame(await kept(), [KEY]);
      t.equal(questions.length + (await prompt(page).count()), 0, 'and nothing is asked');
    }
    for (isWanted of [false, true]) {
      const asked = page.waitForEvent('dialog');
      await lead(TV_KEY);
      await asked;
      await liveState(page).waitFor();
      await until(kept, ([key]) => key === (isWanted ? TV_KEY : KEY));
    }
    t.strictSame(
      new Set(questions),
      new Set(['This browser has the valid key default. Replace it with the key tv of the link?']),
    );
    t.equal(questions.length, 2);
    await page.getByText('key tv: read', { exact: true }).waitFor();
  });

  t.test('[10.link-kept] a link replaces a key that is not valid any more', async (t) => {
    const { page } = await openPage(t, browser);
    await page.goto(`${service.baseUrl}/api/status`);
    await page.evaluate("localStorage.setItem('hostwire-key /', 'an-old-key')");
    await page.goto(`${service.baseUrl}/#key=${KEY}`);
    await liveState(page).waitFor();
    t.strictSame(await page.evaluate('Object.values(localStorage)'), [KEY]);
    t.equal(await prompt(page).count(), 0);
  });

  t.test('[10.link-kept] the document that shows the page was not loaded from the link', async (t) => {
    const { page } = await openLive(t, browser, `${service.baseUrl}/#key=${KEY}`);
    const places =
      '[performance.getEntries().map(({ name }) => name), navigation.activation.entry.url, navigation.entries().map(({ url }) => url), location.href, document.referrer, JSON.stringify(history.state)]';
    t.notMatch(JSON.stringify(await page.evaluate(places)), KEY);
  });
}
