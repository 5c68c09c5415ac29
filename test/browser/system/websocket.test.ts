/**
 * /api/ws from Chromium's WebSocket: what is negotiated, close codes, failed handshakes, the client's reconnect. The tests
 * of each op, event and error are in contract/socket-*.test.ts.
 */
import '../../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import t, { type Test } from 'tap';
import { listen } from '../../helpers/clients/listen.ts';
import { judgeRate } from '../../helpers/clients/talk.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { DIFFERENCES } from '../../helpers/service/differences.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { type ConfigPart, serveHere, serveProgram } from '../../helpers/service/service.ts';
import { openPage, skipBrowser, startBrowser, until } from '../browser.ts';
import { SocketPage } from '../page-socket.ts';

t.setTimeout(280_000);

const KEY = 'correct-horse-battery-staple-0123456789';
const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const CLIENT = path.resolve(import.meta.dirname, '../../../../../dist/client');

/** A ping of exactly `bytes` bytes. */
function pingOf(bytes: number): string {
  const frame = '{"op":"ping","id":1,"pad":""}';
  return frame.replace('""}', `"${'x'.repeat(bytes - frame.length)}"}`);
}

/** A page of another site. */
async function startStranger(t: Test): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>elsewhere</title>');
  });
  return `http://127.0.0.1:${await listen(t, server)}`;
}

/** Run by the page: the built client connects, subscribes, and tries a command while it waits. */
const FOLLOW = `async (url) => {
  const { connect } = await import(url + '/built-client/client.js');
  const socket = connect({ url });
  const seen = { states: [], times: [], closing: 0, connected: 0, whileLost: '' };
  Object.assign(globalThis, { seen, socket });
  socket.on('state', ({ state }) => {
    seen.states.push(state);
    if (state === 'waiting') socket.power('lock').catch(({ code }) => { seen.whileLost ||= code; });
  });
  socket.on('system_stats', ({ timestamp }) => seen.times.push(timestamp));
  socket.on('connected', () => seen.connected++);
  socket.on('closing', () => seen.closing++);
  return (await socket.subscribe(['stats.cpu'])).topics;
}`;

interface Seen {
  readonly states: readonly string[];
  readonly times: readonly number[];
  readonly connected: number;
  readonly closing: number;
  readonly whileLost: string;
}

if (skipBrowser) t.test("Chromium's WebSocket", { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const start = async (t: Test, config: ConfigPart = QUICK) => {
    const service = await serveHere(t, fixtureHost(), config);
    const page = await SocketPage.open(t, browser, service.baseUrl);
    return { service, page };
  };
  /** Waits for the page's report of a failed handshake; `wanted` is the status in it. */
  const complained = (page: SocketPage, wanted: RegExp, times: number) =>
    until(
      async () => page.complaints.filter((text) => wanted.test(text)),
      (found) => found.length >= times,
    );

  t.test(
    '[7.upgrade] [7.compression] [7.closing] one text frame per message, until the service stops',
    async (t) => {
      const { service, page } = await start(t);
      const client = await page.connect();
      t.strictSame([client.protocol, client.extensions], ['', ''], 'Chromium offers permessage-deflate');
      const { text, data } = await client.take('connected');
      t.equal(text, JSON.stringify({ type: 'connected', data }));
      t.match(await client.ask('ping', undefined, 'ä"\\ 🎵'), { type: 'pong', id: 'ä"\\ 🎵' });
      t.match((await client.ask('subscribe', { topics: ['cpu'] }, 1)).data, { topics: ['stats.cpu'] });
      for (let i = 0; i < 3; i++) t.match((await client.take('system_stats')).data, { cpu: {} });
      const other = await page.connect();
      other.close();
      t.equal((await other.closed).code, 1000);
      await service.stop();
      t.equal((await client.closed).code, 1001);
      t.match(client.told.at(-1), { type: 'closing', data: { reason: String } });
      t.ok(client.wasClean && other.wasClean);
      t.strictSame(page.complaints, []);
    },
  );

  t.test(
    '[7.limit-size] [7.limit-cut] a message has at most 16 KiB; more is 1009, much more is cut',
    async (t) => {
      const { page } = await start(t);
      const client = await page.connect();
      client.sayText(pingOf(16 * 1024));
      await client.take('pong');
      client.sayText(pingOf(16 * 1024 + 1));
      t.match(await client.closed, { code: 1009, reason: /16384 bytes/ });
      t.equal(client.wasClean, true);
      const large = await page.connect();
      large.sayText(pingOf(64 * 1024 + 1));
      t.equal((await large.closed).code, DIFFERENCES.tooLongCode);
      t.equal(large.wasClean, DIFFERENCES.tooLongCode !== 1006);
    },
  );

  t.test('[7.limit-rate] [7.limit-flood] bursts of 40; more are RATE_LIMITED; a flood is 1008', async (t) => {
    const { page } = await start(t);
    const client = await page.connect();
    const pings = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => JSON.stringify({ op: 'ping', id: from + i }));
    const begun = performance.now();
    client.sayAll(pings(0, 60));
    const answers = [];
    for (let i = 0; i < 60; i++) answers.push(await client.take((message) => message.id === i));
    judgeRate(t, answers, begun);
    client.sayAll(pings(100, 1000));
    t.match(await client.closed, { code: 1008, reason: 'too many messages' });
    t.equal((await (await page.connect()).ask('ping', undefined, 1)).type, 'pong', 'another one is served');
  });

  t.test('[7.key-query] [I.auth.ws] the key in the query; a wrong one fails, twice', async (t) => {
    const { service, page } = await start(t, { ...QUICK, auth: { enabled: true, api_key: KEY } });
    const refused = [
      '/api/ws?api_key=wrong',
      '/api/ws?api_key=wrong',
      '/api/ws',
      `/api/ws?api_key=${KEY}&api_key=${KEY}`,
    ];
    for (const [i, target] of refused.entries()) {
      const client = await page.try(target);
      t.equal(await client.opened(), false, target.replaceAll(KEY, 'KEY'));
      t.match(await client.closed, { code: 1006, reason: '' });
      t.strictSame([client.wasClean, client.told], [false, []]);
      await complained(page, /WebSocket.*(?:401|HTTP Authentication failed)/, i + 1);
    }
    const client = await page.connect(`/api/ws?api_key=${KEY}`);
    t.match(await client.take('connected'), { data: { protocol: 2 } });
    t.equal((await client.ask('subscribe', { topics: ['cpu'] }, 1)).type, 'subscribed');
    await client.take('system_stats');
    t.notMatch(service.stderr(), KEY, 'it is in no line of the log');
  });

  t.test('[7.upgrade-origin] a page of a foreign origin gets no socket without the key', async (t) => {
    const { service, page } = await start(t, { ...QUICK, auth: { api_key: KEY } });
    t.ok(await (await page.try()).opened(), "the service's own page does");
    const foreign = await SocketPage.open(t, browser, await startStranger(t));
    for (const times of [1, 2]) {
      const client = await foreign.try('/api/ws', service.baseUrl);
      t.equal(await client.opened(), false);
      t.equal((await client.closed).code, 1006);
      await complained(foreign, /Unexpected response code: 403/, times);
    }
    t.ok(
      await (await foreign.try(`/api/ws?api_key=${KEY}`, service.baseUrl)).opened(),
      'with the key it does',
    );
  });

  t.test("the page's policy allows connections to its own service only", async (t) => {
    const { service, page } = await start(t);
    const other = await serveHere(t, fixtureHost(), {
      server: { cors_origins: [new URL(page.page.url()).origin] },
    });
    t.ok(await (await page.try()).opened());
    const plain = await SocketPage.open(t, browser, `${service.baseUrl}/api/status`);
    t.ok(await (await plain.try('/api/ws', other.baseUrl)).opened(), 'which a page without it reaches');
    t.equal(await (await page.try('/api/ws', other.baseUrl)).opened(), false);
    await complained(
      page,
      /Content Security Policy.*connect-src 'self'|connect-src 'self'.*Content Security/,
      1,
    );
  });

  t.test('the built client in the page reconnects after a restart of the service', async (t) => {
    const port = await findFreePort();
    const first = await serveProgram(t, { config: QUICK, port });
    const { page } = await openPage(t, browser);
    await page.route('**/built-client/*.js', (route) => {
      const file = path.basename(new URL(route.request().url()).pathname);
      return route.fulfill({ contentType: 'text/javascript', body: readFileSync(path.join(CLIENT, file)) });
    });
    await page.goto(`${first.baseUrl}/api/status`);
    const seen = () => page.evaluate<Seen>('seen');
    t.strictSame(await page.evaluate(`(${FOLLOW})(${JSON.stringify(first.baseUrl)})`), ['stats.cpu']);
    await until(seen, ({ times }) => times.length >= 2);
    t.equal((await first.stop()).code, 0);
    await until(seen, ({ states }) => states.includes('waiting'));
    const before = await seen();
    t.match(before, { states: ['connecting', 'open', 'waiting'], connected: 1, closing: 1 });
    await serveProgram(t, { config: QUICK, port });
    const after = await until(seen, ({ times }) => times.length >= before.times.length + 2, 20_000);
    t.equal(after.connected, 2);
    t.equal(after.whileLost, 'not_connected', 'a command is not kept for later');
    t.equal(after.states.at(-1), 'open');
    t.strictSame(
      after.times,
      after.times.toSorted((a, b) => a - b),
      'samples in their order',
    );
    const stages = 'socket.power("lock").then(({ stage, success }) => ({ stage, success }))';
    t.strictSame(await page.evaluate(stages), { stage: 'done', success: true });
    t.strictSame(await page.evaluate('socket.close(), socket.state'), { state: 'closed' });
  });
}
