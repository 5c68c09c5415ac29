/** A machine that dials hubs, which the test plays: the upgrade, the session on it, and what ends and begins it again. */
import https from 'node:https';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { parseAddressList } from '#src/access/addresses.js';
import type { Plan } from '#src/commands/power.js';
import { whyNotPlain } from '#src/exporters/dialled-hub.js';
import { HubDials } from '#src/exporters/hub-dials.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { makePair, type TestPair } from '../helpers/certificates.ts';
import { listen } from '../helpers/clients/listen.ts';
import { Talk } from '../helpers/clients/talk.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { serveSockets } from '../helpers/service/socket-server.ts';
import { until } from '../helpers/until.ts';

t.setTimeout(120_000);

const KEY = 'k'.repeat(40);

/** A connection of a machine, on which the test is the hub. */
class Accepted extends Talk {
  readonly ws: WebSocket;

  constructor(ws: WebSocket) {
    super();
    this.ws = ws;
    ws.on('message', (bytes) => this.hear(String(bytes)))
      .on('error', () => undefined)
      .on('close', (code, reason) => this.end(code, String(reason)));
  }

  override sayText(text: string): void {
    this.ws.send(text);
  }
}

async function playHub(t: Test, pair?: TestPair, isAllowed = true) {
  const verifyClient = (_: unknown, done: (isAllowed: boolean, code?: number) => void) =>
    done(isAllowed, isAllowed ? undefined : 401);
  const secure = pair && https.createServer({ cert: pair.cert, key: pair.key });
  const server = new WebSocketServer(
    secure === undefined ? { port: 0, host: '127.0.0.1', verifyClient } : { server: secure, verifyClient },
  );
  const machines: Accepted[] = [];
  const upgrades: { readonly url: URL; readonly authorization: string | undefined }[] = [];
  server.on('connection', (socket, { url = '', headers }) => {
    upgrades.push({ url: new URL(url, 'ws://hub'), authorization: headers.authorization });
    machines.push(new Accepted(socket));
  });
  if (secure !== undefined) await listen(t, secure);
  const port = await listen(t, server);
  const scheme = secure === undefined ? 'ws' : 'wss';
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    upgrades,
    /** The connection of this number, from 0. */
    machine: (at: number) => until(() => machines[at], `connection ${at}`),
  };
}

const dialling = (url: string | readonly string[], more: ConfigPart['hub'] = {}): ConfigPart => ({
  host: { id: 'pc' },
  stats: { stream_interval_seconds: 1 },
  features: { enable_media: true },
  hub: { url, key_file: { path: 'pc.key', secret: KEY }, ...more },
});

t.test('[I.hub.dial] the machine sends its key, and then serves the hub as at /api/ws', async (t) => {
  const hub = await playHub(t);
  const service = await serveHere(t, fixtureHost(), dialling(hub.url));
  const machine = await hub.machine(0);
  const [upgrade] = hub.upgrades;
  t.equal(upgrade?.url.pathname, '/api/agent');
  t.equal(upgrade?.url.searchParams.get('id'), 'pc');
  t.equal(upgrade?.authorization, `Bearer ${KEY}`);
  const { data: greeting } = await machine.take('connected');
  t.equal(machine.told[0]?.type, 'connected', 'first of all');
  t.match(greeting, {
    protocol: 2,
    machine: { id: 'pc' },
    key: 'hub.url',
    scopes: ['read', 'media', 'hub'],
  });
  machine.say('subscribe', { topics: ['stats.memory', 'power'] }, 's');
  t.match(await machine.take('power_update'), { data: { pending: null } });
  const first = await machine.take('system_stats');
  t.strictSame(Object.keys(first.data), ['timestamp', 'uptime', 'memory']);
  t.equal((await machine.take('system_stats')).id, undefined, 'each sample');
  const via = { client: '192.0.2.7', key: 'phone' };
  const ask = (id: string, name: string, more: object = {}) =>
    machine.sayText(JSON.stringify({ op: 'request', id, via, data: { name }, ...more }));
  ask('system', 'system');
  t.match(await machine.take('answer'), { id: 'system', data: { body: { hostname: 'fixture' } } });
  ask('lock', 'power.lock');
  t.match((await machine.take('answer')).data, {
    error: { code: 'scope_required', details: { scope: 'power.lock' } },
  });
  ask('late', 'media.pause', { deadline: 0 });
  t.match(await machine.take('error'), { id: 'late', data: { code: 'LATE' } });
  t.match(
    service.stderr(),
    /media: pause refused: late address=192\.0\.2\.7.*hub=hub\.url key=phone/,
    'the audit trail',
  );
  await service.stop();
  t.match(await machine.take('closing'), { data: { reason: 'stop' } });
  await machine.closed;
});

t.test('[I.hub.dial] hub.scopes are what a hub may do; several hubs have a session each', async (t) => {
  const hubs = [await playHub(t), await playHub(t)] as const;
  const urls = hubs.map(({ url }) => url);
  const service = await serveHere(t, fixtureHost(), dialling(urls, { scopes: ['power'] }));
  for (const hub of hubs) {
    const machine = await hub.machine(0);
    t.match(await machine.take('connected'), { data: { scopes: ['power', 'hub'] } });
    machine.say('request', { name: 'power.lock' }, 1);
    t.match(await machine.take('answer'), { data: { follows: true } });
    machine.say('request', { name: 'system' }, 2);
    t.match(await machine.take('answer'), { data: { error: { code: 'scope_required' } } });
  }
  service.reconfigure({ ...dialling(urls, { scopes: ['power'] }), auth: { blocked_ips: ['127.0.0.1'] } });
  const machine = await hubs[0].machine(0);
  machine.say('ping');
  await machine.take('pong');
  t.pass('rules of addresses are for those who connect to it');
});

t.test('[I.hub.dial] a connection that is lost is made again, after a second at most', async (t) => {
  const hub = await playHub(t);
  const service = await serveHere(t, fixtureHost(), dialling(hub.url));
  const first = await hub.machine(0);
  await first.take('connected');
  first.ws.terminate();
  const second = await hub.machine(1);
  await second.take('connected');
  const runs = hub.upgrades.map(({ url }) => url.searchParams.get('run'));
  t.equal(runs[0], runs[1], 'of the same run');
  second.ws.close(1001, 'the hub is shutting down');
  await hub.machine(2);
  t.match(service.stderr(), /lost connection to ws:.* \(the connection was lost\); reconnecting/);
  t.match(service.stderr(), /it closed the connection: the hub is shutting down/);
  const other = await playHub(t);
  service.reconfigure(dialling(other.url));
  await (await hub.machine(2)).closed;
  const last = await other.machine(0);
  t.pass('a reload with another URL is another connection');
  service.reconfigure(dialling(other.url, { key_file: { path: 'pc.key', secret: 'n'.repeat(40) } }));
  await last.closed;
  await other.machine(1);
  t.equal(other.upgrades[1]?.authorization, `Bearer ${'n'.repeat(40)}`, 'so is one with another key');
  service.reconfigure({});
  await (await other.machine(1)).closed;
  t.notMatch(service.stderr(), KEY, 'no log has a key');
});

t.test('[I.hub.dial] a flood ends the connection; the machine stays', async (t) => {
  const hub = await playHub(t);
  const service = await serveHere(t, fixtureHost(), dialling(hub.url));
  const machine = await hub.machine(0);
  await machine.take('connected');
  for (let i = 0; i < 4000; i++) machine.sayText('{"op":"ping"}');
  await machine.closed;
  t.ok(machine.told.filter(({ type }) => type === 'pong').length >= 2400, 'what a hub may send is answered');
  t.match(service.stderr(), /a socket was closed: it sent too many messages/);
  await (await hub.machine(1)).take('connected');
});

t.test('[I.hub.dial] a certificate must be trusted, or have the pin', async (t) => {
  const pair = await makePair();
  const hub = await playHub(t, pair);
  const log = (service: { stderr: () => string }, text: RegExp) =>
    until(
      () => text.test(service.stderr()),
      () => service.stderr(),
    );
  await log(
    await serveHere(t, fixtureHost(), dialling(hub.url)),
    /its certificate is not trusted \(\w+\); set hub\.pin/,
  );
  const { pin: otherPin } = await makePair();
  await log(
    await serveHere(t, fixtureHost(), dialling(hub.url, { pin: otherPin })),
    /its key has the pin sha256\/\S+, not the one in hub\.pin/,
  );
  t.strictSame(hub.upgrades, [], 'neither has sent its key');
  await serveHere(t, fixtureHost(), dialling(hub.url, { pin: pair.pin }));
  await (await hub.machine(0)).take('connected');
});

t.test('[I.hub.dial] without TLS the key is sent to this machine, and to hub.plain_networks', async (t) => {
  const { rules } = parseAddressList(['192.168.1.0/24', 'fd00::/8'], false);
  for (const address of [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '192.168.1.7',
    '::ffff:192.168.1.7',
    'fd00::1',
  ])
    t.equal(whyNotPlain(address, rules), undefined, address);
  for (const address of ['192.168.2.7', '10.0.0.1', '2001:db8::1', ''])
    t.match(whyNotPlain(address, rules), { isRefusal: true, reason: /hub\.plain_networks/ }, address);
});

/** The exporter alone, on a clock of the test. */
async function dialHere(t: Test, url: string) {
  const clock = new FakeClock();
  const plans = new Listeners<[plan: Plan | undefined]>();
  const log: string[] = [];
  const { sockets, machine } = await serveSockets(t);
  const dials = new HubDials({
    config: { current: configWith(dialling(url)) },
    clock,
    log: createLog((line) => log.push(line)),
    id: 'pc',
    power: { onPlan: (listener) => plans.add(listener) },
    serve: (carrier, caller) => sockets.serve(carrier, caller, machine),
    random: () => 0,
  });
  t.teardown(() => dials.close());
  const plan = (next: Plan | undefined) => {
    sockets.announce(next);
    plans.notify(next);
  };
  return { clock, plan, log };
}

t.test('[I.hub.dial] before a sleep the hub is told; after it the connection is a new one', async (t) => {
  const hub = await playHub(t);
  const { clock, plan, log } = await dialHere(t, hub.url);
  const first = await hub.machine(0);
  await first.take('connected');
  plan('sleep');
  t.match(await first.take('closing'), { data: { reason: 'sleep' } });
  first.say('ping');
  await first.take('pong');
  clock.suspend(60_000);
  plan(undefined);
  t.match(await first.closed, { reason: 'the machine has slept' });
  const second = await hub.machine(1);
  await second.take('connected');
  // A sleep that nothing has announced.
  clock.suspend(60_000);
  second.say('request', { name: 'media.stop' }, 1);
  await second.closed;
  t.notOk(
    second.told.some(({ type }) => type === 'answer'),
    'what was sent before it is not done',
  );
  await (await hub.machine(2)).take('connected');
  t.notMatch(log.join(''), /lost connection/);
});

t.test('[I.hub.dial] a hub that is off is tried again, and its reason is logged once', async (t) => {
  const port = await findFreePort();
  const { clock, log } = await dialHere(t, `ws://127.0.0.1:${port}`);
  const lines = () => log.filter((line) => line.includes('cannot connect')).length;
  for (let i = 0; i < 6; i++) {
    await until(() => clock.timers > 0 && lines() > 0);
    await clock.advance(4000);
  }
  t.equal(lines(), 1);
  t.match(log.join(''), /cannot connect to ws:.* \(connection refused\); retrying/);
  const refusing = await playHub(t, undefined, false);
  const refused = await dialHere(t, refusing.url);
  await until(() =>
    /hub\.agents has no machine with this id and this key \(401\)/.test(refused.log.join('')),
  );
});
