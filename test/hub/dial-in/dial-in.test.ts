/** Machines that dial the hub have what the service of each has; those that the hub does not take, and their logs. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { EventStream, payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { listen } from '../../helpers/clients/listen.ts';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { type ServiceProcess, serveHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { isDown, isUp, shapeOf, startHub } from '../setup.ts';
import { HubClient, type HubTold } from '../socket-setup.ts';
import { Dialler, dialled, dialPart, KEY, OTHER_KEY, startAgent, urlOf } from './setup.ts';

t.setTimeout(280_000);

const EVERYTHING = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };

t.test('[I.hub.dial] samples, hardware and answers of a machine that dials in', async (t) => {
  const hub = await startHub(t, { pc: dialled(KEY, { labels: { site: 'berlin' } }) }, EVERYTHING);
  t.match(await hub.host('pc'), { state: 'unknown', reason: 'not connected yet' });
  const agent = await startAgent(t, urlOf(hub), { host: { name: 'desk', labels: { site: 'paris' } } });
  t.match(await hub.host('pc', isUp), { name: 'desk', labels: { site: 'berlin' }, sample_age: null });
  for (const query of ['', '?fields=memory', '?detail=1', '?fields=cpu,disks&detail=1', '?fields=none']) {
    const stream = await hub.open(`/api/hosts/pc/stream${query}`);
    const own = jsonOf(await ask(agent.port, `/api/usage${query}`));
    t.same(shapeOf(payloadOf(await stream.next())), shapeOf(own), `stream${query}`);
    t.same(shapeOf(payloadOf(await stream.next())), shapeOf(own), 'and again');
    const usage = await ask(hub.port, `/api/hosts/pc/usage${query}`);
    t.same(shapeOf(jsonOf(usage)), shapeOf(own), `usage${query}`);
    stream.close();
  }
  for (const route of ['system', 'pw', 'processes'])
    t.same(
      shapeOf(jsonOf(await ask(hub.port, `/api/hosts/pc/${route}`))),
      shapeOf(jsonOf(await ask(agent.port, `/api/${route}`))),
      route,
    );
  const lock = await ask(hub.port, '/api/hosts/pc/pw/lock', { method: 'POST' });
  t.equal(lock.status, 200);
  t.match(await until(() => /power: lock.*/.exec(agent.stderr())?.[0]), /hub=\w+/, 'with the hub that asked');
  await agent.stop();
  t.match(await hub.host('pc', isDown), { reason: 'its service has stopped' });
  t.notMatch(hub.log.join('') + agent.stderr(), KEY, 'no log has the key');
});

t.test('[I.hub.dial.long] the past, and a long cover', async (t) => {
  const file = path.join(t.testdir(), 'cover.png');
  writeFileSync(file, Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(700_000)]));
  const hub = await startHub(t, { pc: dialled() });
  const agent = await serveHere(t, livelyHost({ artUrl: `file://${file}` }), {
    hub: dialPart(hub),
    host: { id: 'pc' },
    history: { minutes: 60 },
  });
  await hub.host('pc', isUp);
  const both = async (target: string) => ({
    own: await ask(agent.port, `/api/${target}`),
    through: await ask(hub.port, `/api/hosts/pc/${target}`),
  });
  const cover = await both('media/art');
  t.equal(cover.own.body.length, 700_008);
  t.ok(cover.through.body.equals(cover.own.body), `${cover.through.status}: the same bytes`);
  const until = Math.floor(Date.now() / 1000) - 60;
  const past = await both(`history?since=${until - 60}&until=${until}&step=1`);
  t.equal(past.own.status, 200);
  t.equal(past.through.body.toString(), past.own.body.toString());
});

t.test('[I.hub.dial.pushed] media as they change, and the stages of a command', async (t) => {
  // So long that nothing is asked for again.
  const hub = await startHub(t, { pc: dialled() }, { ...EVERYTHING, stats: { stream_interval_seconds: 60 } });
  await serveHere(t, livelyHost(), { hub: dialPart(hub), host: { id: 'pc' } });
  await hub.host('pc', isUp);
  const client = await HubClient.open(t, hub);
  const isMedia =
    (playback: string) =>
    ({ type, data }: HubTold) =>
      type === 'media_update' && data['playback'] === playback;
  client.say('subscribe', { host: 'pc', data: { topics: ['media'], detail: true } }, 's');
  await client.take(isMedia('playing'));
  client.say('media', { host: 'pc', data: { action: 'pause' } }, 'p');
  await client.take(({ id, data }) => id === 'p' && data['final'] === true);
  const stages = client.told.filter(({ id }) => id === 'p').map(({ data }) => data['stage']);
  t.strictSame(stages, ['accepted', 'running', 'done']);
  await client.take(isMedia('paused'));
});

t.test("[I.hub.dial.bytes] events are those of the machine's own stream, byte for byte", async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = await startAgent(t, urlOf(hub));
  await hub.host('pc', isUp);
  for (const query of ['', '?fields=cpu,memory', '?detail=1', '?fields=disks&detail=1']) {
    const [seen, own] = await Promise.all([
      hub.open(`/api/hosts/pc/stream${query}`),
      EventStream.open(agent.port, `/api/stream${query}`),
    ]);
    t.teardown(() => own.close());
    // Events of the same ticks: each of them is one sample of the machine.
    const equal = await until(() => {
      seen.count();
      own.count();
      const texts = new Set(own.events.map(({ text }) => text));
      const found = seen.events.filter(({ text }) => texts.has(text));
      return found.length >= 3 ? found : undefined;
    });
    t.ok(equal.length >= 3, query);
    for (const stream of [seen, own]) stream.close();
  }
});

t.test(
  '[I.hub.dial.rest] a machine is asked for what is wanted, and rests when its hub is gone',
  async (t) => {
    const clock = new FakeClock();
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    const port = await listen(t, server);
    const arriving = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
    const machine = fixtureHost();
    const config = { hub: dialPart({ port }), host: { id: 'pc' } };
    const agent = await serveHere(t, machine, config, { clock });
    const socket = await arriving;
    const heard: string[] = [];
    socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()).type));
    await until(() => heard[0]);
    t.equal(heard[0], 'connected', 'it serves the session');
    /** It samples, or does not, for some intervals of a second. */
    const reads = async () => {
      await clock.advance(500);
      const before = machine.reads;
      for (let step = 0; step < 30; step++) await clock.advance(100);
      return machine.reads - before;
    };
    const isSampling = async (isWanted: boolean) => await until(async () => (await reads()) > 0 === isWanted);
    await isSampling(false);
    socket.send('{"op":"subscribe","data":{"topics":["stats.cpu"]}}');
    await isSampling(true);
    socket.send('{"op":"unsubscribe"}');
    await isSampling(false);
    socket.send('{"op":"subscribe","data":{"topics":["stats.cpu"]}}');
    await isSampling(true);
    t.ok(heard.filter((type) => type === 'system_stats').length > 3);
    socket.terminate();
    await until(() => /hub: lost connection to /.exec(agent.stderr()) ?? undefined);
    t.equal(await reads(), 0, 'the subscription has ended with the connection');
  },
);

t.test('[I.hub.dial.want] the hub asks for what its viewers want, while they want it', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const { machine } = new Dialler(t, hub.port);
  await hub.host('pc', isUp);
  t.equal(machine.streams, 0, 'nothing is wanted');
  const opening = hub.open('/api/hosts/pc/stream?fields=cpu');
  await until(() => machine.streams === 1);
  t.same(machine.queries, ['cpu']);
  machine.sample({ timestamp: 1, uptime: 2, cpu: { a: 1 } });
  const stream = await opening;
  t.same(payloadOf(await stream.next()), { timestamp: 1, uptime: 2, cpu: { a: 1 } });
  stream.close();
  await until(() => machine.streams === 0);
  for (const [reason, state] of Object.entries({ sleep: 'asleep', hibernate: 'asleep', shutdown: 'off' })) {
    machine.say('closing', { reason });
    machine.cut();
    await hub.host('pc', (row) => row.state === state);
    new Dialler(t, hub.port, {}, machine);
    await hub.host('pc', isUp);
  }
});

const logged = async (agent: ServiceProcess, text: RegExp) =>
  await until(() => text.exec(agent.stderr())?.[0]);

t.test('[I.hub.dial.key] a wrong key, a wrong id, and none', async (t) => {
  const hub = await startHub(t, { pc: dialled(), nas: dialled(OTHER_KEY) });
  for (const options of [
    { key: OTHER_KEY },
    { key: '' },
    { key: `${KEY}x` },
    { id: 'nobody' },
    { id: 'constructor' },
    { id: 'nas' },
    { id: '' },
    { id: 'a/b' },
  ]) {
    const agent = new Dialler(t, hub.port, options);
    t.equal(await agent.refused(), 401, JSON.stringify(options));
    t.match(await hub.host('pc'), { state: 'unknown', reason: 'not connected yet' });
  }
  t.notMatch(hub.log.join(''), new RegExp(`${KEY}|${OTHER_KEY}`), 'no key is logged');
  new Dialler(t, hub.port);
  await hub.host('pc', isUp);
});

t.test('[I.hub.dial.access] rules of addresses hold, the key of viewers is not needed', async (t) => {
  const agents = { pc: dialled() };
  const auth = { enabled: true, api_key: 'v'.repeat(40) };
  const hub = await startHub(t, agents, { auth });
  t.equal((await ask(hub.port, '/api/hosts')).status, 401, 'viewers need it');
  const statusOf = async (options = {}) => await new Dialler(t, hub.port, options).refused();
  t.equal(await statusOf({ key: auth.api_key }), 401, 'that of viewers is none of a machine');
  const agent = new Dialler(t, hub.port);
  await agent.settled();
  hub.reconfigure(agents, { auth: { ...auth, blocked_ips: ['127.0.0.1'] } });
  t.equal((await agent.end()).code, 1008, 'it is left');
  t.equal(await statusOf(), 403, 'blocked');
  hub.reconfigure(agents, { auth: { ...auth, allowed_ips: ['192.0.2.1'] } });
  t.equal(await statusOf(), 403, 'not on the list');
  hub.reconfigure(agents, {});
  t.equal(
    await statusOf({ origin: urlOf(hub).replace('ws', 'http') }),
    403,
    'a page, be it of the hub itself',
  );
  const bearer = { headers: { Authorization: `Bearer ${KEY}` } };
  t.equal((await ask(hub.port, '/api/agent?id=pc', bearer)).status, 426);
  hub.reconfigure({});
  t.ok([401, 404].includes(await statusOf()), 'where nobody dials in');
});

t.test('[I.hub.dial.malformed] what is not the protocol ends the connection', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const greetings = ['no JSON', '[]', '{"type":"connected"}', '{"type":"system_stats","data":{}}', '\xff'];
  for (const greeting of greetings) {
    const agent = new Dialler(t, hub.port);
    agent.machine.greeting = [greeting];
    t.equal((await agent.end()).code, 1008, greeting);
    t.not((await hub.host('pc')).state, 'up');
  }
  const silent = new Dialler(t, hub.port);
  silent.machine.greeting = [];
  t.equal((await silent.end()).code, 1008, 'one that says nothing');
});

t.test('[I.hub.dial.refused] the log of a machine says why the hub does not take it', async (t) => {
  const hub = await startHub(t, { pc: dialled(), nas: dialled(OTHER_KEY) });
  for (const wrong of [{ key: OTHER_KEY }, { id: 'other' }]) {
    const agent = await startAgent(t, urlOf(hub), wrong);
    await logged(agent, /cannot connect to .*\(401\)/);
    t.notMatch(agent.stderr(), OTHER_KEY);
    await agent.stop();
  }
  const lost = await startAgent(t, `ws://127.0.0.1:${await findFreePort()}`);
  await logged(lost, /cannot connect to .* \(connection refused\)/);
  const elsewhere = await startAgent(t, `${urlOf(hub)}/elsewhere`);
  await logged(elsewhere, /the server at this URL does not accept machines \(404\)/);
});

t.test('[I.hub.dial.reload] another key, and no hub, without a restart', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = await startAgent(t, urlOf(hub), { key: OTHER_KEY });
  await logged(agent, /cannot connect to .*\(401\)/);
  const { hub: dialling, ...without } = JSON.parse(readFileSync(agent.configFile, 'utf8'));
  writeFileSync(dialling.key_file, KEY);
  process.kill(agent.pid, 'SIGHUP');
  await hub.host('pc', isUp);
  writeFileSync(agent.configFile, JSON.stringify(without));
  process.kill(agent.pid, 'SIGHUP');
  await hub.host('pc', (row) => !isUp(row));
});
