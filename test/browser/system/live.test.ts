/** The dashboard in Chromium: live values, the key, pauses; one stream, no complaints, no other server. */
import '../../helpers/service/dead-buses.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { checkTime } from '../../helpers/limits.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { type ConfigPart, serveHere, serveProgram } from '../../helpers/service/service.ts';
import { card, liveState, openLive, openPage, skipBrowser, startBrowser, until } from '../browser.ts';
import { coverPicture } from '../cover-picture.ts';

const KEY = 'correct-horse-battery-staple-0123456789';
const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };

t.setTimeout(280_000);

/** When the first value was painted, in milliseconds since the navigation began. */
const FIRST_PAINT = `new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => {
    const [entry] = list.getEntries();
    if (entry !== undefined) resolve(entry.renderTime);
  });
  observer.observe({ type: 'element', buffered: true });
})`;

if (skipBrowser) t.test('the dashboard in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  t.test('live values of this machine change, over one stream; no other server is contacted', async (t) => {
    const service = await serveProgram(t, { config: QUICK });
    const { page, complaints, requested } = await openLive(t, browser, service.baseUrl);
    // With the load average, because the load of a machine that runs tests is 100 %.
    const cpu = () => card(page, 'Processor').innerText();
    const first = await until(cpu, (text) => /^Processor[\s\S]*\d+ %/.test(text));
    t.ok(await until(cpu, (text) => text !== first), 'the values move');
    const chart = card(page, 'Processor').getByRole('img').first();
    const words = /^Chart of the last five minutes\. Processor: Load \d+ %\.$/;
    t.match(await chart.getAttribute('aria-label'), words);
    const memory = await card(page, 'Memory').innerText();
    const usage = (await (await fetch(`${service.baseUrl}/api/usage?detail=1`)).json()) as {
      memory: { used_percent: number };
    };
    const shown = Number(/(\d+) %/.exec(memory)?.[1]);
    t.ok(
      Math.abs(shown - usage.memory.used_percent) < 10,
      `${shown} % is near ${usage.memory.used_percent} %`,
    );
    t.match(await card(page, 'Not available here').innerText(), /features\.enable_shutdown/);
    t.equal(await page.getByRole('button', { name: 'Shut down' }).count(), 0, 'what is off is no button');
    t.equal(requested.filter((url) => url.includes('/api/stream')).length, 1, 'one stream');
    t.strictSame(
      requested.filter((url) => !url.startsWith(service.baseUrl)),
      [],
      'no request to another server',
    );
    t.strictSame(complaints, []);
  });

  t.test('the first paint with data is within 300 ms', async (t) => {
    const service = await serveProgram(t, { config: QUICK });
    const { page } = await openPage(t, browser);
    await page.goto(service.baseUrl, { waitUntil: 'commit' });
    const paintedMs = await page.evaluate<number>(FIRST_PAINT);
    t.comment(`figure: first values painted ${Math.round(paintedMs)} ms after the navigation began`);
    checkTime(t, paintedMs, 300, 'first paint');
  });

  t.test('it asks for the key, reports a wrong one, and keeps the right one out of every URL', async (t) => {
    const folder = emptyFolder(t, 'art');
    const art = path.join(folder, 'cover.png');
    writeFileSync(art, coverPicture());
    const service = await serveHere(t, livelyHost({ artUrl: pathToFileURL(art).href }), {
      ...QUICK,
      auth: { enabled: true, api_key: KEY },
    });
    const { page, complaints, requested } = await openPage(t, browser);
    await page.goto(service.baseUrl);
    const dialog = page.getByRole('dialog', { name: 'This service requires a key' });
    await dialog.waitFor();
    t.equal(await page.locator('.card').count(), 0, 'nothing is shown before');
    await page.keyboard.type('wrong-key');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    t.match(await dialog.innerText(), /not accepted/);
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await page.getByRole('button', { name: 'Connect' }).click();
    await liveState(page).waitFor();
    t.equal(await dialog.count(), 0);
    await card(page, 'Processes').waitFor();
    await page.getByRole('img', { name: /^Cover of/ }).waitFor();
    t.strictSame(
      requested.filter((url) => url.includes('correct-horse')),
      [],
    );
    t.equal(await page.evaluate('localStorage.length + document.cookie.length'), 0, 'for this tab alone');
    await page.reload();
    await liveState(page).waitFor();
    // Chromium itself writes a line for each 401.
    t.strictSame(
      complaints.filter((text) => !/status of 401/.test(text)),
      [],
    );
  });

  t.test(
    'it pauses while the tab is hidden: no stream and no requests; and resumes when it is shown',
    async (t) => {
      const host = livelyHost();
      const service = await serveHere(t, host, QUICK);
      const { page, requested } = await openLive(t, browser, service.baseUrl);
      const setVisibility = (state: 'hidden' | 'visible') =>
        page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
      await setVisibility('hidden');
      await page.locator('.state.resting').waitFor();
      await new Promise((resolve) => setTimeout(resolve, 500));
      const before = requested.length;
      const { reads } = host;
      await new Promise((resolve) => setTimeout(resolve, 3500));
      t.equal(requested.length, before, 'nothing is asked while hidden');
      t.equal(host.reads, reads, 'and nobody has to read the machine for it');
      await setVisibility('visible');
      await liveState(page).waitFor();
      t.equal(requested.slice(before).filter((url) => url.includes('/api/stream')).length, 1);
    },
  );

  t.test('a refusal of the address is shown, and the page tries again', async (t) => {
    const refusing: ConfigPart = {
      ...QUICK,
      auth: { enabled: true, api_key: KEY, allowed_ips: ['192.0.2.1'] },
    };
    const service = await serveHere(t, livelyHost(), refusing);
    const { page } = await openPage(t, browser);
    await page.goto(service.baseUrl);
    await page.locator('.state.refused').waitFor();
    t.match(await page.locator('main').innerText(), /403/);
    service.reconfigure(QUICK);
    await liveState(page).waitFor({ timeout: 120_000 });
    t.pass('live once it may');
  });
}
