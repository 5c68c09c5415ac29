/** The dashboard over HTTPS in Chromium, with the certificate that `hostwire keygen --tls` makes. */
import '../../helpers/service/dead-buses.ts';
import path from 'node:path';
import t, { type Test } from 'tap';
import { type ConfigPart, runToEnd, serveProgram } from '../../helpers/service/service.ts';
import { card, launchBrowser, openLive, openPage, skipBrowser, startBrowser, until } from '../browser.ts';

t.setTimeout(280_000);

/** The program with a new certificate, on HTTPS alone. */
async function start(t: Test) {
  const folder = t.testdir();
  const { stdout } = await runToEnd(['keygen', '--tls', '--out', folder]);
  const [cert, key] = ['tls-cert.pem', 'tls-key.pem'].map((name) => path.join(folder, name));
  // As a file spells it.
  const config = {
    stats: { stream_interval_seconds: 1 },
    server: { tls: { cert, key } },
  } as unknown as ConfigPart;
  const service = await serveProgram(t, { config });
  t.match(service.stderr(), new RegExp(`listening on https://127\\.0\\.0\\.1:${service.port}\n`));
  return { service, pin: /sha256\/(\S+)/.exec(stdout)?.[1] ?? '' };
}

if (skipBrowser) t.test('the dashboard over HTTPS', { skip: skipBrowser }, () => undefined);
else {
  t.test('[8.tls-browser] the page is live over HTTPS, and a page may open a WebSocket', async (t) => {
    const { service } = await start(t);
    const browser = await startBrowser(t);
    const { page, complaints, requested } = await openLive(t, browser, service.baseUrl, {
      ignoreHTTPSErrors: true,
    });
    const memory = () => card(page, 'Memory').innerText();
    t.match(await until(memory, (text) => /\d+ %/.test(text)), /^Memory/);
    t.ok(requested.every((url) => url.startsWith(service.baseUrl)));
    const greeting = await page.evaluate(
      `new Promise((resolve, reject) => {
        const socket = new WebSocket('wss://' + location.host + '/api/ws');
        socket.onmessage = ({ data }) => resolve(JSON.parse(data).type);
        socket.onerror = () => reject(new Error('no connection'));
      })`,
    );
    t.equal(greeting, 'connected');
    t.strictSame(complaints, []);
  });

  t.test('[9.keygen-tls-use] Chromium accepts exactly the pin that keygen has printed', async (t) => {
    const { service, pin } = await start(t);
    for (const [given, isAccepted] of [
      [pin, true],
      [`${'A'.repeat(43)}=`, false],
    ] as const) {
      const browser = await launchBrowser(`--ignore-certificate-errors-spki-list=${given}`);
      t.teardown(() => browser.close());
      const { page } = await openPage(t, browser);
      const opened = page.goto(service.baseUrl);
      if (isAccepted) t.equal((await opened)?.status(), 200);
      else await t.rejects(opened, /ERR_CERT_AUTHORITY_INVALID/);
    }
  });
}
