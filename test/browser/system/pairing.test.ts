/**
 * Pairing as a user does it: `hostwire pair` in a terminal, its code read by zbarimg from a picture of that terminal, the link
 * opened in Chromium as a phone does, and the key taken back.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { describeDigest } from '#src/access/key.js';
import { MAIN, NO_TMUX, openTerminal } from '../../cli/top/terminal.ts';
import { listen } from '../../helpers/clients/listen.ts';
import { startRelay } from '../../helpers/clients/relay.ts';
import { checkTime } from '../../helpers/limits.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { runToEnd, serveProgram } from '../../helpers/service/service.ts';
import { card, liveState, openLive, openPage, PHONE, skipBrowser, startBrowser, until } from '../browser.ts';
import { pictureOf } from '../terminal-picture.ts';

const noReader =
  spawnSync('zbarimg', ['--version'], { stdio: 'ignore' }).error !== undefined &&
  'no zbarimg: apt-get install zbar-tools';
const skip = skipBrowser || NO_TMUX || noReader;

/** Room for the widest code: two characters per module. */
const SIZE = { columns: 120, rows: 80 };
const LINK = /^(http:\/\/127\.0\.0\.1:\d+\/)#key=([\w-]{43})$/m;
const ENDED = 'The key is no longer valid';

t.setTimeout(280_000);

/** Runs `hostwire pair` for `url`; returns the screen after it, with its colours. */
async function pairIn(
  t: Test,
  configFile: string,
  url: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ readonly painted: string; readonly link: string; readonly key: string }> {
  const words = ['pair', '--name', 'phone', '--scopes', 'read,media', '--url', url, '--config', configFile];
  const set = Object.entries(variables).map(([name, text]) => `${name}=${text}`);
  const command = `env -u LC_ALL -u NO_COLOR ${set.join(' ')} ${process.execPath} ${MAIN} ${words.join(' ')}; echo "ended $?"; exec sh`;
  const terminal = openTerminal(t, SIZE, [], {}, command);
  const screen = await terminal.reached('the end', (text) => /^ended \d/m.test(text));
  t.match(screen, /^ended 0$/m);
  const [link = '', , key = ''] = LINK.exec(screen) ?? [];
  t.equal(link, `${url}#key=${key}`, 'the link is in one line');
  return { painted: terminal.painted(), link, key };
}

/** Returns the text of the code in a picture, as zbarimg reads it; empty: it finds no code. */
function readCode(t: Test, picture: Buffer): string {
  const folder = emptyFolder(t, 'code');
  const file = path.join(folder, 'code.png');
  writeFileSync(file, picture);
  return spawnSync('zbarimg', ['--raw', '-q', file], { encoding: 'utf8' }).stdout.replace(/\n$/, '');
}

/** Another site: what a page there learns of the page that led to it. */
async function startElsewhere(t: Test) {
  const referers: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    if (request.url === '/elsewhere') referers.push(request.headers.referer);
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>elsewhere</title>');
  });
  return { url: `http://localhost:${await listen(t, server)}/elsewhere`, referers };
}

const prompt = (page: Page) => page.getByRole('dialog', { name: 'This service requires a key' });

/** Adds a link to the page and follows it, in this tab or another. */
async function followLink(page: Page, url: string, target: '_self' | '_blank'): Promise<Page> {
  const opened = target === '_blank' ? page.context().waitForEvent('page') : Promise.resolve(page);
  await page.evaluate(
    `{ const link = document.createElement('a'); Object.assign(link, { href: '${url}', target: '${target}' }); document.body.append(link); link.click(); }`,
  );
  const next = await opened;
  await next.waitForURL(url);
  return next;
}

if (skip) t.test('pairing', { skip }, () => undefined);
else {
  const browser = await startBrowser(t);

  const start = async (t: Test) => {
    const service = await serveProgram(t, {
      config: {
        auth: { enabled: true, keys_folder: 'keys' },
        stats: { stream_interval_seconds: 1 },
        log: { level: 'debug' },
      } as const,
    });
    const sent: Buffer[] = [];
    const relay = await startRelay(t, service.port, (bytes) => sent.push(bytes));
    return { service, url: `${relay.baseUrl}/`, sent: () => Buffer.concat(sent).toString('latin1') };
  };

  // Without either, signs stand for light modules: a camera sees their mean, while a sharp picture shows the gaps between them.
  for (const [what, variables, blurPx] of [
    ['Unicode and colours', { LANG: 'C.UTF-8' }, 0],
    ['Unicode without colours', { LANG: 'C.UTF-8', NO_COLOR: '1' }, 0],
    ['ASCII with colours', { LANG: 'C' }, 0],
    ['ASCII without colours', { LANG: 'C', NO_COLOR: '1' }, 3],
  ] as const)
    t.test(`[10.pair-scan] zbarimg reads the code from a picture of a terminal: ${what}`, async (t) => {
      const { service, url } = await start(t);
      const { painted, link } = await pairIn(t, service.configFile, url, variables);
      t.equal(/[█▀▄]/.test(painted), variables.LANG !== 'C', 'half blocks');
      t.equal(painted.includes('\x1b['), !('NO_COLOR' in variables), 'colours');
      t.equal(readCode(t, await pictureOf(browser, painted, blurPx)), link);
    });

  t.test(
    '[10.pair-link] a phone opens the link, and the key is in its storage and nowhere else',
    async (t) => {
      const { service, url, sent } = await start(t);
      const { painted, key } = await pairIn(t, service.configFile, url, { LANG: 'C.UTF-8' });
      const scanned = readCode(t, await pictureOf(browser, painted));
      const { page, complaints } = await openPage(t, browser, PHONE);
      const sockets: string[] = [];
      page.on('websocket', (socket) => sockets.push(socket.url()));
      // The service reads the new file within a second; a phone is not faster.
      await until(
        async () => (await fetch(`${url}api/access`, { headers: { authorization: `Bearer ${key}` } })).status,
        200,
      );
      await page.goto(scanned);
      await liveState(page).waitFor();
      await until(() => card(page, 'Memory').locator('.headline').innerText(), /\d/);
      await page.getByText('key phone: read, media', { exact: true }).waitFor();
      t.strictSame(await page.evaluate('Object.values(localStorage)'), [key], 'kept');

      t.equal(await page.evaluate('location.href'), url, 'not in the address');
      t.strictSame(
        await page.evaluate('[history.length, navigation.entries().map((entry) => entry.url)]'),
        [2, [url]],
        'not in the history of the tab, whose first page was empty',
      );
      t.strictSame(sockets, [], 'the page opens no WebSocket');
      await page.goBack();
      t.equal(page.url(), 'about:blank');
      await page.goForward();
      await liveState(page).waitFor();
      t.equal(page.url(), url);
      await page.reload();
      await liveState(page).waitFor();
      t.strictSame(complaints, []);

      const bytes = sent();
      t.ok(bytes.includes('GET / HTTP/1.1'), 'the requests of the page were recorded');
      const withKey = bytes.split('\r\n').filter((line) => line.includes(key));
      t.ok(withKey.length >= 4, `${withKey.length} requests with the key`);
      t.strictSame(
        withKey.filter((line) => !/^authorization: Bearer [\w-]{43}$/i.test(line)),
        [],
        'the key is in the header Authorization alone',
      );
      t.notMatch(bytes, /^referer:/im, 'no request names the page that it came from');

      const elsewhere = await startElsewhere(t);
      const tab = await followLink(page, elsewhere.url, '_blank');
      t.equal(await tab.evaluate('document.referrer'), '');
      await followLink(page, elsewhere.url, '_self');
      t.equal(await page.evaluate('document.referrer'), '');
      t.strictSame(elsewhere.referers, [undefined, undefined], 'nor does a link');
      t.notMatch(service.stderr(), key, 'no line of the log has it');
      t.match(service.stderr(), /listening/);
    },
  );

  t.test("[10.pair-link] a browser's WebSocket, whose key can be in the query alone", async (t) => {
    const { service, url, sent } = await start(t);
    const { key, link } = await pairIn(t, service.configFile, url, { LANG: 'C.UTF-8' });
    const { page } = await openLive(t, browser, link, PHONE);
    const greeting = await page.evaluate<string>(
      `new Promise((resolve, reject) => {
        const socket = new WebSocket('${url.replace('http', 'ws')}api/ws?api_key=${key}');
        socket.onmessage = ({ data }) => resolve(data);
        socket.onerror = () => reject(new Error('refused'));
      })`,
    );
    t.match(JSON.parse(greeting), { data: { key: 'phone', scopes: ['read', 'media'] } });
    t.match(sent(), `GET /api/ws?api_key=${key} HTTP/1.1`);
    t.notMatch(sent(), /^referer:/im);
    t.equal(await page.evaluate('location.href'), url);
    t.strictSame(await page.evaluate('navigation.entries().map((entry) => entry.url)'), [url]);
    t.notMatch(service.stderr(), key, 'no line of the log has it');
  });

  t.test('[10.pair-link] taking the key back, and the end of its life', async (t) => {
    const { service, url } = await start(t);
    const { link } = await pairIn(t, service.configFile, url, { LANG: 'C.UTF-8' });
    const { page } = await openLive(t, browser, link, PHONE);
    const removed = await runToEnd(['keys', 'remove', 'phone'], { file: service.configFile });
    t.equal(removed.code, 0, removed.stderr);
    const removedAt = performance.now();
    await prompt(page).getByText(ENDED).waitFor();
    checkTime(t, performance.now() - removedAt, 1500, 'from the removal to the prompt');
    t.strictSame(await page.evaluate('[localStorage.length, sessionStorage.length]'), [0, 0]);

    const key = 'a-key-that-does-not-live-long-0123456789abc';
    const folder = path.join(path.dirname(service.configFile), 'keys');
    mkdirSync(folder, { recursive: true });
    const endsAt = Math.ceil(Date.now() / 1000) + 6;
    const expires = new Date(1000 * endsAt).toISOString();
    writeFileSync(
      path.join(folder, 'short.yaml'),
      `digest: ${describeDigest(key)}\nscopes: [read]\nexpires: ${expires}\n`,
    );
    await until(
      async () => (await fetch(`${url}api/access`, { headers: { authorization: `Bearer ${key}` } })).status,
      200,
    );
    await page.goto('about:blank');
    await page.goto(`${url}#key=${key}`);
    await liveState(page).waitFor();
    await page.getByText(/^key short: read, until /).waitFor();
    await prompt(page).getByText(ENDED).waitFor();
    t.ok(Date.now() >= 1000 * endsAt, 'not before its end');
    checkTime(t, Date.now() - 1000 * endsAt, 1500, 'from its end to the prompt');
  });
}
