/**
 * /api/ws from Chromium's WebSocket: what is negotiated, the page's policy, the client's reconnect. The tests of each op, event,
 * error, limit and refusal are in contract/socket-*.test.ts.
 */
import '../../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { type ConfigPart, serveHere, serveProgram } from '../../helpers/service/service.ts';
import { openPage, skipBrowser, startBrowser, until } from '../browser.ts';
import { SocketPage } from '../page-socket.ts';

t.setTimeout(280_000);

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const CLIENT = path.resolve(import.meta.dirname, '../../../../../dist/client');

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

  t.test("the page's policy allows connections to its own service only", async (t) => {
    const { service, page } = await start(t);
    const other = await serveHere(t, fixtureHost(), {
      server: { cors_origins: [new URL(page.page.url()).origin] },
    });
    t.ok(await (await page.try()).opened());
    const plain = await SocketPage.open(t, browser, `${service.baseUrl}/api/status`);
    t.ok(await (await plain.try(other.baseUrl)).opened(), 'which a page without it reaches');
    t.equal(await (await page.try(other.baseUrl)).opened(), false);
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
