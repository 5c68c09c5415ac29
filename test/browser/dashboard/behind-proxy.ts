/** The tests of the dashboard behind real proxies that end TLS, each with its block of docs/operating.md. */
import '../../helpers/service/dead-buses.ts';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import type { Where } from '../../helpers/proxies/blocks.ts';
import { type ProxyProgram, skipProxy } from '../../helpers/proxies/programs.ts';
import { NAME, startProxy } from '../../helpers/proxies/start.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { card, launchBrowser, liveState, openPage, skipBrowser, until } from '../browser.ts';

/** Run by the page: the type of the first message of its WebSocket. */
const GREETING = `new Promise((resolve, reject) => {
  const socket = new WebSocket(new URL('api/ws', document.baseURI).href.replace(/^http/, 'ws'));
  socket.onmessage = ({ data }) => resolve(JSON.parse(data).type);
  socket.onerror = () => reject(new Error('no connection'));
})`;

async function openDashboard(t: Test, browser: Browser, program: ProxyProgram, where: Where) {
  const service = await serveHere(t, livelyHost(), {
    stats: { stream_interval_seconds: 1 },
    history: { minutes: 60 },
    server: { trusted_proxies: ['127.0.0.1'], allowed_hosts: [NAME] },
  });
  const proxy = await startProxy(t, program, service.port, { where, scheme: 'https' });
  const opened = await openPage(t, browser, { ignoreHTTPSErrors: true });
  const failed: string[] = [];
  opened.page.on('response', (answer) => {
    if (answer.status() >= 400) failed.push(`${answer.status()} ${answer.url()}`);
  });
  opened.page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // The stream of a page that is loaded again.
    if (reason !== 'net::ERR_ABORTED') failed.push(`${reason} ${request.url()}`);
  });
  return { ...opened, service, baseUrl: `${proxy.origin}${where}`, failed };
}

/** The dashboard behind each of `cases` is live, again after a reload, and commands the service. */
export async function judgeDashboards(t: Test, cases: readonly (readonly [ProxyProgram, Where])[]) {
  t.setTimeout(280_000);
  t.jobs = cases.length;
  if (skipBrowser) {
    t.test('the dashboard behind proxies', { skip: skipBrowser }, () => undefined);
    return;
  }
  const browser = await launchBrowser(`--host-resolver-rules=MAP ${NAME} 127.0.0.1`);
  t.teardown(() => browser.close());
  for (const [program, where] of cases)
    t.test(`${program.name}, ${where}`, { skip: skipProxy(program) }, (t) =>
      judgeDashboard(t, browser, program, where),
    );
}

async function isLive(page: Page): Promise<void> {
  await liveState(page).waitFor();
  const read = () => card(page, 'Processor').innerText();
  const before = await until(read, (text) => /\d+ %/.test(text));
  await until(read, (text) => text !== before);
}

async function judgeDashboard(t: Test, browser: Browser, program: ProxyProgram, where: Where) {
  const opened = await openDashboard(t, browser, program, where);
  const { page, service, baseUrl, failed } = opened;
  // Without the slash at its end, as people enter it.
  await page.goto(baseUrl.replace(/\/$/, ''));
  t.equal(page.url(), baseUrl);
  await isLive(page);
  await page.reload();
  await isLive(page);
  t.equal(await page.evaluate(GREETING), 'connected');
  await card(page, 'Power').getByRole('button', { name: 'Lock' }).click();
  // Its answer has the type of the endpoint.
  const state = async () => jsonOf(await ask(service.port, '/api/pw')) as PowerPayload;
  await until(state, ({ recorded }) => recorded.length === 1);
  t.pass('a command arrives');
  const isOutside = (url: string) => !`${url}/`.startsWith(baseUrl) && !url.startsWith('blob:');
  t.strictSame(opened.requested.filter(isOutside), [], 'no request outside the path');
  t.strictSame(failed, []);
  t.strictSame(opened.complaints, []);
}
