/** Agents that fail: killed, stopped, restarted, silent, hostile, with a key, with TLS. Viewers' streams stay open. */
import { createHash } from 'node:crypto';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { listen } from '../helpers/clients/listen.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { startSecure } from '../helpers/service/secure.ts';
import { serveHere, serveProgram, startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { frameOf } from './played-machine.ts';
import { eventWith, isDown, isUp, PlayedMachine, startHub, watch, watchPlayed } from './setup.ts';

/** A server that a test makes of raw sockets; `play` gets each with its request. */
async function serveRaw(t: Test, play: (socket: net.Socket, request: string) => unknown) {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined).once('data', (bytes) => play(socket, bytes.toString('latin1')));
  });
  return { port: await listen(t, server) };
}

const EACH_SECOND = { stats: { stream_interval_seconds: 1 } };

t.test('[I.hub.faults] an agent that is killed and started again: the stream continues', async (t) => {
  const first = await startService({ config: EACH_SECOND, port: await findFreePort() });
  const hub = await startHub(t, { a: { url: first.baseUrl }, b: { url: 'http://127.0.0.1:1' } });
  const stream = await watch(hub, 'a');
  await stream.next();
  await first.stop('SIGKILL');
  const down = await hub.host('a', isDown);
  t.match(down.reason, /./, 'with a reason');
  t.equal((await ask(hub.port, '/api/hosts/a/stream')).status, 503, 'a new viewer is refused');
  t.notOk(stream.isEnded, 'an old one stays');
  const before = stream.count();
  await serveProgram(t, { config: EACH_SECOND, port: first.port });
  await hub.host('a', isUp);
  await until(() => stream.count() >= before + 2);
  t.pass('events came on the stream that was open before');
});

t.test('[I.hub.faults] [I.hub.kept] an agent without viewers is found down, and up again', async (t) => {
  const agent = await PlayedMachine.start(t, await findFreePort());
  const hub = await startHub(t, { a: { url: agent.url } });
  t.match(await hub.host('a', isUp), { name: 'played' });
  t.equal(agent.queries.length, 0, 'it takes no samples');
  t.equal(agent.connections, 1);
  agent.stop();
  const { since } = await hub.host('a', ({ reason }) => reason === 'connection refused');
  t.ok(since > Date.now() / 1000 - 3600 && since <= Date.now() / 1000, 'since when');
  await PlayedMachine.start(t, agent.port);
  await hub.host('a', isUp);
});

t.test('[I.hub.faults] an agent that is stopped for some seconds: the stream continues', async (t) => {
  const agent = await startService({ config: EACH_SECOND });
  t.teardown(() => agent.stop('SIGKILL'));
  const hub = await startHub(t, { a: { url: agent.baseUrl } });
  const stream = await watch(hub, 'a');
  await stream.next();
  process.kill(agent.pid, 'SIGSTOP');
  await sleep(3000);
  process.kill(agent.pid, 'SIGCONT');
  const before = stream.count();
  await until(() => stream.count() >= before + 2);
  t.notOk(stream.isEnded);
});

t.test('[I.hub.faults] an agent that falls silent is given up, and tried again', async (t) => {
  const agent = await PlayedMachine.start(t);
  const hub = await startHub(t, { a: { url: agent.url } }, {}, { headMs: 500 });
  const stream = await watchPlayed(hub, agent);
  agent.isAnswering = false;
  await hub.host('a', ({ reason }) => reason === 'no message within the timeout');
  agent.isAnswering = true;
  // It is asked again and again.
  const pulse = setInterval(() => agent.streams === 1 && agent.sample({ timestamp: 2 }), 50);
  t.teardown(() => clearInterval(pulse));
  await eventWith(stream, (event) => event['timestamp'] === 2);
  await hub.host('a', isUp);
});

t.test('[I.hub.faults] a connection that takes nothing is pinged, and ended', async (t) => {
  const { port } = await serveRaw(t, (socket, request) => {
    const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? '';
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    const greeting = frameOf('connected', new PlayedMachine().connected);
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
    socket.write(`${head}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.write(Buffer.concat([Buffer.from([0x81, 126, 0, greeting.length]), Buffer.from(greeting)]));
  });
  const hub = await startHub(t, { a: { url: `http://127.0.0.1:${port}` } }, {}, { headMs: 1000 });
  await hub.host('a', isUp);
  await hub.host('a', ({ reason }) => reason === 'no message within the timeout');
});

t.test('[I.hub.faults] unanswered attempts follow each other: the time that one took counts', async (t) => {
  const begun: number[] = [];
  const gaps: number[] = [];
  let endedAtMs: number | undefined;
  const server = net.createServer((socket) => {
    begun.push(performance.now());
    if (endedAtMs !== undefined) gaps.push(performance.now() - endedAtMs);
    socket.on('error', () => undefined).resume();
    socket.on('close', () => {
      endedAtMs = performance.now();
    });
  });
  const port = await listen(t, server);
  const times = { headMs: 300, maxDelayMs: 300, initialDelayMs: 20 };
  await startHub(t, { a: { url: `http://127.0.0.1:${port}` } }, {}, times);
  await until(() => begun.length === 12);
  // Without this the last ones are half of 300 ms at least.
  const shortest = Math.min(...gaps.slice(-4));
  t.ok(shortest < 150, `${shortest.toFixed(0)} ms from the end of an attempt to the next`);
});

t.test('[I.hub.hostile] an address without a hostwire service is shown with the reason', async (t) => {
  const cases: readonly (readonly [answer: string, reason: string, state?: string])[] = [
    ['SSH-2.0-OpenSSH_9.2p1\r\n\r\n\r\n', 'the server at this URL is not hostwire'],
    [`HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(4000)}\r\n`, 'the server at this URL is not hostwire'],
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>', 'the server at this URL is not hostwire'],
    ['HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n', 'the server at this URL is not hostwire'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n',
      'the server at this URL is not hostwire',
    ],
    ['HTTP/1.1 500 Oops\r\n\r\n', 'it answered with status 500'],
    ['HTTP/1.1 503 Full\r\n\r\n', 'it answered with status 503'],
    ['HTTP/1.1 403 No\r\n\r\n', 'it does not allow this address or host name (403)', 'refused'],
  ];
  let answer = '';
  const { port } = await serveRaw(t, (socket) => socket.end(answer));
  const hub = await startHub(t, { a: { url: `http://127.0.0.1:${port}` } });
  for (const [text, reason, state = 'unknown'] of cases) {
    answer = text;
    const row = await hub.host('a', (each) => each.reason === reason);
    t.equal(row.state, state, reason);
    answer = 'HTTP/1.1 599 Next\r\n\r\n';
    await hub.host('a', (each) => each.reason === 'it answered with status 599');
  }
  const other = await PlayedMachine.start(t);
  other.greeting = [frameOf('connected', { ...other.connected, machine: undefined })];
  hub.reconfigure({ a: { url: other.url } });
  await hub.host(
    'a',
    ({ reason }) => reason === 'the server at this URL is a hub, not the service of a machine',
  );
  other.greeting = ['{"event":"hello"}'];
  await hub.host('a', ({ reason }) => reason === 'the server at this URL is not hostwire');
});

t.test('[I.hub.hostile] an agent that sends rubbish is reported, and viewers see none of it', async (t) => {
  const rubbish: readonly (readonly [text: string, reason: string])[] = [
    [frameOf('system_stats', { a: 1 }), 'its samples are malformed: timestamp'],
    ['{"type":"system_stats"}', 'it sent a malformed message'],
    ['[]', 'it sent a malformed message'],
    ['no JSON', 'it sent a malformed message'],
    [frameOf('system_stats', { x: 'x'.repeat(2 ** 21) }), 'it sent a malformed message'],
  ];
  const agent = await PlayedMachine.start(t);
  const hub = await startHub(t, { a: { url: agent.url } }, {}, { floodMs: 100 });
  const stream = await watchPlayed(hub, agent);
  await stream.next();
  for (const [text, reason] of rubbish) {
    await until(() => agent.streams === 1);
    agent.send(text);
    await hub.host('a', (row) => row.reason === reason);
    await hub.host('a', isUp);
  }
  t.equal(stream.count(), 1, 'nothing was passed on');
  const pulse = setInterval(() => agent.streams === 1 && agent.sample({ timestamp: 2 }), 50);
  t.teardown(() => clearInterval(pulse));
  await eventWith(stream, (event) => event['timestamp'] === 2);
  t.equal((await hub.host('a', isUp)).reason, undefined);
});

t.test(
  '[I.hub.key] an agent with a key: refused without it or with another one, served with it',
  async (t) => {
    const KEY = 'k'.repeat(32);
    const service = await serveHere(t, fixtureHost(), {
      ...EACH_SECOND,
      auth: { enabled: true, api_key: KEY },
    });
    const url = service.baseUrl;
    const keyed = (secret: string) => ({ url, key_file: { path: '/nowhere', secret } });
    const hub = await startHub(t, { none: { url }, wrong: keyed('w'.repeat(32)), right: keyed(KEY) });
    const stream = await watch(hub, 'right');
    t.ok(payloadOf(await stream.next()));
    t.equal((await ask(hub.port, '/api/hosts/right/system')).status, 200);
    for (const id of ['none', 'wrong']) {
      const { reason } = await hub.host(id, ({ state }) => state === 'refused');
      t.equal(reason, 'it requires a key, or rejected this one (401)');
      const answer = await ask(hub.port, `/api/hosts/${id}/stream`);
      t.match(jsonOf(answer), { code: 'host_unreachable', details: { state: 'refused' } });
    }
    t.notOk(hub.log.join('').includes(KEY), 'no key is logged');
  },
);

t.test(
  '[I.hub.pin] an agent with TLS: by its pin, not by another, and not without an authority',
  async (t) => {
    const service = await startSecure(t, EACH_SECOND);
    const url = `https://127.0.0.1:${service.securePort}`;
    const { pin } = service.pair;
    const hub = await startHub(t, {
      right: { url, pin },
      wrong: { url, pin: `sha256/${'A'.repeat(43)}=` },
      none: { url },
      plain: { url: url.replace('https', 'http') },
    });
    const stream = await watch(hub, 'right', '?detail=1');
    await stream.next();
    await stream.next();
    t.match((await hub.host('wrong', ({ state }) => state === 'refused')).reason, pin);
    t.match(
      (await hub.host('none', ({ state }) => state === 'refused')).reason,
      /its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\); set its pin in hub\.agents/,
    );
    t.match((await hub.host('plain', ({ reason }) => reason !== 'not contacted yet')).state, 'unknown');
  },
);

t.test(
  '[I.hub.reload] a reload adds and removes agents, and leaves the others and their viewers as they are',
  async (t) => {
    const [a, b, c] = [
      await PlayedMachine.start(t),
      await PlayedMachine.start(t),
      await PlayedMachine.start(t),
    ];
    const hub = await startHub(t, { a: { url: a.url }, b: { url: b.url } });
    const [first, second] = [await watchPlayed(hub, a, 'a'), await watchPlayed(hub, b, 'b')];
    hub.reconfigure({ a: { url: a.url, labels: { site: 'berlin' } }, c: { url: c.url } });
    t.strictSame(
      (await hub.hosts()).map(({ id }) => id),
      ['a', 'c'],
    );
    await second.ended();
    await until(() => b.streams === 0);
    a.sample({ timestamp: 2 });
    await eventWith(first, (event) => event['timestamp'] === 2);
    t.equal(a.queries.length, 1, 'its stream is still the first one');
    t.strictSame((await hub.host('a')).labels, { site: 'berlin' });
    await hub.host('c', isUp);
    // Another place for the same machine: its viewers stay.
    hub.reconfigure({ a: { url: b.url }, c: { url: c.url } });
    await until(() => b.streams === 1);
    b.sample({ timestamp: 3 });
    await eventWith(first, (event) => event['timestamp'] === 3);
    t.equal(a.streams, 0);
  },
);
