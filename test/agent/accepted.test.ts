/** Hubs that connect to a machine: who is let in, what they are sent, and when their connections end. */
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ClientOptions } from 'ws';
import { ask } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { ConnectingHub } from './played-hub.ts';

const KEY = 'k'.repeat(40);
const WITH_KEY: ClientOptions = { headers: { Authorization: `Bearer ${KEY}` } };
const KEYED: ConfigPart = { auth: { enabled: true, api_key: KEY } };
/** Hubs without the key are let in too. */
const OPEN: ConfigPart = { auth: { ...KEYED.auth, allowed_ips: ['127.0.0.1'] } };

async function start(t: Test, config: ConfigPart = {}, clock?: FakeClock) {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(playerOf('mpv', { playback: 'paused', title: 'A' }));
  const options = clock === undefined ? {} : { clock };
  const service = await serveHere(t, { ...fixtureHost(), media }, config, options);
  const connect = (options: ClientOptions = {}) => new ConnectingHub(t, service.port, options);
  const connected = async (options: ClientOptions = {}) => {
    const hub = connect(options);
    const status = await hub.next('status');
    return { hub, run: status['run'] ?? '' };
  };
  return { service, media, connect, connected };
}

t.test('[I.hub.agents] samples, topics, answers and commands on a connection of a hub', async (t) => {
  const { connected, service, media } = await start(t, { features: { enable_media: true } });
  const { hub, run } = await connected();
  t.match(JSON.parse(hub.on('status')[0] ?? ''), { state: 'online', version: '0.0.0-test', name: /./ });
  hub.say('want', { hub: 'h', sections: ['cpu', 'memory'], topics: ['media', 'power'] });
  const [head = '', ...lines] = (await until(() => hub.on('sample')[0])).split('\n');
  t.match(JSON.parse(head), { run, plain: ['cpu', 'memory'] });
  const payload = JSON.parse(`{${lines.join(',')}}`);
  t.same(Object.keys(payload), ['timestamp', 'uptime', 'cpu', 'memory']);
  t.match(await hub.next('media'), { title: 'A' });
  t.match(await hub.next('power'), { pending: null });
  const asked = { hub: 'h', id: 'q1', client: '192.0.2.1', key: null, what: 'system', params: {} };
  hub.say('cmd/get', asked);
  const answer = await hub.next('feedback/h');
  t.match(answer, { id: 'q1', stage: 'done', result: { hostname: 'fixture' } });
  const deadline = Number(answer['clock']) + 5000;
  const command = { ...asked, id: 'c1', run, deadline, params: { value: 30 } };
  hub.say('cmd/media/set_volume', command);
  hub.say('cmd/media/set_volume', command);
  hub.say('cmd/media/set_volume', { ...command, id: 'c2', deadline: Number(answer['clock']) - 1 });
  await until(() => hub.on('feedback/h').length === 4);
  t.equal(media.controls.length, 1, 'each command is done once, and none after its deadline');
  t.match(service.stderr(), /media: set_volume.*hub=h/, 'the audit trail names the hub');
  await service.stop();
  // The last status comes before the end of the connection.
  t.equal((await hub.end()).code, 1001);
  t.match(JSON.parse(hub.on('status').at(-1) ?? ''), { state: 'offline', run });
});

t.test('[I.hub.access] the gate judges the connection of a hub as any request', async (t) => {
  const { connect, connected, service } = await start(t, KEYED);
  const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });
  t.equal(await connect().refused(), 401, 'without the key');
  t.equal(await connect(bearer('w'.repeat(40))).refused(), 401, 'with another one');
  const origin = { ...bearer(KEY), origin: `http://127.0.0.1:${service.port}` };
  t.equal(await connect(origin).refused(), 403, 'from a page, even its own');
  const plain = await ask(service.port, '/api/agent', bearer(KEY));
  t.equal(plain.status, 426, 'no upgrade');
  const { hub } = await connected(bearer(KEY));
  service.reconfigure({ auth: { enabled: true, api_key: 'n'.repeat(40) } });
  t.equal((await hub.end()).code, 1008, 'a reload with another key ends it');
  service.reconfigure({});
  t.equal(await connect({ headers: { Host: 'evil.example' } }).refused(), 403, 'the web guard');
  const { hub: open } = await connected();
  service.reconfigure({ auth: { blocked_ips: ['127.0.0.1'] } });
  t.equal((await open.end()).code, 1008, 'a blocked address');
});

t.test('[I.hub.agents] each hub has a session of its own, and there are at most 16', async (t) => {
  const { connect, connected } = await start(t, OPEN);
  for (let i = 0; i < 4; i++) await connected();
  t.equal(await connect().refused(), 503, 'hubs without a key of one address leave places for others');
  const all = await Promise.all(Array.from({ length: 12 }, () => connected(WITH_KEY)));
  t.equal(new Set(all.map(({ run }) => run)).size, 12, 'a command for one is not one for another');
  t.equal(await connect(WITH_KEY).refused(), 503);
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error('there are 12');
  first.hub.say('want', { hub: 'h', sections: ['cpu'] });
  second.hub.say('want', { hub: 'h', sections: ['memory'] });
  const plainOf = async ({ hub }: typeof first) =>
    JSON.parse((await until(() => hub.on('sample')[0])).split('\n')[0] ?? '').plain;
  t.same(await plainOf(first), ['cpu']);
  t.same(await plainOf(second), ['memory']);
  first.hub.socket.terminate();
  const { hub } = await until(async () => {
    const next = connect(WITH_KEY);
    await until(() => next.status ?? next.on('status')[0]);
    return next.status === undefined ? { hub: next } : undefined;
  });
  t.ok(hub.on('status').length > 0, 'one that has gone makes room');
});

t.test('[I.hub.hostile] hubs that flood, are silent or send no messages are left', async (t) => {
  const clock = new FakeClock();
  const { connected } = await start(t, {}, clock);
  const { hub: silent } = await connected();
  for (let seconds = 0; seconds < 25 && silent.closed === undefined; seconds += 5) {
    await clock.advance(5000);
    await turn();
  }
  t.match(await silent.end(), { code: 1008, reason: 'no message within the timeout' });
  const { hub: binary } = await connected();
  binary.socket.send(Buffer.from('want\n{}'));
  t.match(await binary.end(), { code: 1008, reason: 'a message is malformed' });
  const { hub: flood } = await connected();
  for (let i = 0; i < 3000; i++) flood.say('want', '');
  t.match(await flood.end(), { code: 1008, reason: 'the hub sends too much' });
});

t.test('[I.hub.hostile] an address without a key has one burst, over all its connections', async (t) => {
  const clock = new FakeClock();
  const { connected } = await start(t, OPEN, clock);
  const send = async (messages: number, options: ClientOptions = {}) => {
    const { hub } = await connected(options);
    for (let i = 0; i < messages; i++) hub.say('want', '');
    return hub;
  };
  const first = await send(2390);
  await first.ask('clock', {});
  first.socket.terminate();
  t.match(await (await send(20)).end(), { code: 1008, reason: 'the hub sends too much' });
  t.match(await (await send(20, WITH_KEY)).ask('clock', {}), { stage: 'done' }, 'a hub with the key');
  await clock.advance(12_000);
  t.match(await (await send(20)).ask('clock', {}), { stage: 'done' }, 'after its rest');
});
