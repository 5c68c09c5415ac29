/** GET /api/stream over raw sockets: its head, its bytes, its rhythm, its views. */
import t, { type Test } from 'tap';
import { SECTIONS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { checkHeaders, STREAM_HEADERS } from '../helpers/clients/answers.ts';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { settle } from '../helpers/fakes/clock.ts';
import { fixtureHost, untilSent } from '../helpers/fakes/host.ts';
import { startOnClock } from '../helpers/service/clocked.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

t.jobs = 8;

const ALL_KEYS = ['timestamp', 'uptime', ...SECTIONS];

const service = await serveHere(t, fixtureHost(), { stats: { stream_interval_seconds: 1 } });
const { port } = service;

const open = (t: Test, target = '/api/stream', at = port) => EventStream.openIn(t, at, target);

async function keysOf(t: Test, query: string): Promise<readonly string[]> {
  const stream = await open(t, `/api/stream${query}`);
  return Object.keys(payloadOf(await stream.next()));
}

t.test('[4.head] [I.stream] 200 and exactly the stream headers', async (t) => {
  const stream = await open(t);
  t.equal(stream.head.status, 200);
  checkHeaders(t, stream.head, { ...STREAM_HEADERS, 'transfer-encoding': 'chunked' });
  t.strictSame(valuesOf(stream.head, 'content-length'), []);
});

t.test(
  '[4.bytes] [I.stream.message] [I.events] only data lines of JSON, each with a blank line',
  async (t) => {
    const stream = await open(t);
    for (let i = 0; i < 3; i++) t.strictSame(Object.keys(payloadOf(await stream.next())), ALL_KEYS);
    const text = stream.chunks.map((chunk) => chunk.text).join('');
    t.match(text, /^(data: \{[^\n\r]+\}\n\n)+$/, 'no comment, no id, no retry, no named event');
  },
);

t.test(
  '[4.writer] the native writer sends them, whichever engine accepted the connection',
  { skip: openNativeHost().streams === undefined && 'there is no native writer for this platform' },
  async (t) => {
    // A service of its own: a stream on its way to the writer counts as the engine's.
    const own = await serveHere(t, fixtureHost());
    for (const query of ['', '?fields=cpu']) await (await open(t, `/api/stream${query}`, own.port)).next();
    const metrics = String((await ask(own.port, '/metrics')).body);
    t.match(metrics, /^hostwire_streams\{sender="engine"\} 0$/m);
    t.match(metrics, /^hostwire_streams\{sender="writer"\} 2$/m);
  },
);

const SECOND: ConfigPart = { stats: { stream_interval_seconds: 1 } };

/** A stream that has had its first message, on a service with an interval of `seconds`. */
async function openOnClock(t: Test, seconds: number) {
  const host = fixtureHost();
  const rig = await startOnClock(t, host, { stats: { stream_interval_seconds: seconds } });
  const stream = await rig.withFirstLoad(() => rig.open());
  await stream.next();
  /** How many messages `of` has received, once everything sent has arrived. */
  const countOf = async (of: EventStream) => {
    await untilSent();
    await ask(rig.port, '/api/status');
    await settle();
    return of.count();
  };
  return { ...rig, host, stream, countOf };
}

t.test('[4.complete] each event is one complete chunk, in one write', async (t) => {
  const { clock, stream } = await openOnClock(t, 1);
  for (let i = 0; i < 2; i++) {
    await clock.advance(1000);
    await stream.next();
  }
  t.equal(stream.chunks.length, 3);
  for (const { text, wasEnded } of stream.chunks) {
    t.match(text, /^data: \{.*\}\n\n$/);
    t.equal(wasEnded, true, 'its end has arrived with it');
  }
  // The head with the first event, then one read per event.
  t.equal(stream.connection.arrivals.length, 3);
});

t.test(
  '[4.first-message] an immediate message: the latest sample if young, otherwise a fresh one',
  async (t) => {
    const host = fixtureHost();
    const { clock, open, withFirstLoad } = await startOnClock(t, host, {
      stats: { stream_interval_seconds: 30 },
    });
    const first = payloadOf(await (await withFirstLoad(() => open())).next());
    const { reads } = host;
    const second = payloadOf(await (await open()).next());
    t.strictSame(second, first, 'the next one gets the young sample, in no time');
    t.equal(host.reads, reads, 'nothing was read for it');
    await clock.advance(1100);
    const third = payloadOf(await (await withFirstLoad(() => open())).next());
    t.not(third['timestamp'], first['timestamp'], 'an old sample is not sent');
  },
);

t.test('[4.interval] [I.stream.interval] one message per interval, without drift', async (t) => {
  const { clock, stream, countOf } = await openOnClock(t, 1);
  await clock.advance(1000);
  for (let i = 2; i < 8; i++) {
    t.equal(await countOf(stream), i);
    await clock.advance(999);
    t.equal(await countOf(stream), i, 'not before');
    await clock.advance(1);
  }
});

t.test('[4.clock] the first subscriber starts the clock', async (t) => {
  const { clock, port, open, withFirstLoad } = await startOnClock(t, fixtureHost(), SECOND);
  await clock.advance(700);
  const stream = await withFirstLoad(() => open());
  await stream.next();
  const askedAt = clock.now();
  while (stream.count() < 2) {
    await clock.advance(10);
    await untilSent();
    await ask(port, '/api/status');
    await settle();
  }
  const gap = clock.now() - askedAt;
  t.ok(gap > 750 && gap <= 1250, `the second message came after ${gap} ms`);
});

t.test('[4.joiner] a joiner skips a tick that is less than half an interval away, no other', async (t) => {
  const { clock, stream, open, withFirstLoad, countOf } = await openOnClock(t, 2);
  await clock.advance(2000);
  t.equal(await countOf(stream), 2, 'a tick');
  await clock.advance(500);
  const early = await open();
  await early.next();
  await clock.advance(800);
  const late = await withFirstLoad(() => open());
  await late.next();
  await clock.advance(500);
  t.equal(await countOf(early), 2, 'joined 1.5 s before the tick: got it');
  t.equal(await countOf(late), 1, 'joined 0.7 s before it: skipped it');
  await clock.advance(2000);
  t.equal(await countOf(late), 2, 'and gets the next one');
});

t.test('[4.demand] the machine is read only while someone listens or asks', async (t) => {
  const host = fixtureHost();
  const { clock, open, withFirstLoad } = await startOnClock(t, host, SECOND);
  const idleTimers = clock.timers;
  await clock.advance(5000);
  t.equal(host.reads, 0, 'nobody: nothing');
  const stream = await withFirstLoad(() => open());
  await stream.next();
  await clock.advance(1000);
  await stream.next();
  t.ok(host.reads >= 3);
  stream.close();
  // The timer of the next reading.
  while (clock.timers > idleTimers) await settle();
  const { reads } = host;
  await clock.advance(5000);
  t.equal(host.reads, reads, 'nobody again: nothing again');
});

t.test(
  '[4.views] [I.stream.fields] [I.stream.always] only the requested sections, always timestamp and uptime',
  async (t) => {
    t.strictSame(await keysOf(t, ''), ALL_KEYS, 'all without the parameter');
    for (const section of SECTIONS)
      t.strictSame(await keysOf(t, `?fields=${section}`), ['timestamp', 'uptime', section]);
    t.strictSame(await keysOf(t, '?fields=network,cpu'), ['timestamp', 'uptime', 'cpu', 'network']);
  },
);

t.test('[4.fields] names are trimmed, case-insensitive, deduplicated, united', async (t) => {
  const cpuAndMemory = ['timestamp', 'uptime', 'cpu', 'memory'];
  t.strictSame(await keysOf(t, '?fields=%20CPU%20,%09memory,cpu'), cpuAndMemory);
  t.strictSame(await keysOf(t, '?fields=cpu&fields=memory'), cpuAndMemory);
  t.strictSame(await keysOf(t, '?fields=cpu,,memory,'), cpuAndMemory);
  t.strictSame(await keysOf(t, '?Fields=cpu'), ALL_KEYS, 'the name of the parameter is not');
});

t.test('[4.fields-empty] an empty list is not a filter', async (t) => {
  for (const query of ['?fields=', '?fields', '?fields=,', '?fields=%20,%20', '?fields=&fields='])
    t.strictSame(await keysOf(t, query), ALL_KEYS, query);
});

t.test('[4.fields-unknown] unknown names only: timestamp and uptime', async (t) => {
  for (const query of ['?fields=nope', '?fields=cpux,%E2%82%AC', '?fields=constructor,__proto__'])
    t.strictSame(await keysOf(t, query), ['timestamp', 'uptime'], query);
});

t.test('[4.ignored-header] unknown names that are safe are echoed, at most eight', async (t) => {
  const ignoredOf = async (list: string) =>
    valuesOf((await open(t, `/api/stream?fields=${list}`)).head, 'x-ignored-fields');
  t.strictSame(await ignoredOf('cpu'), []);
  t.strictSame(await ignoredOf('cpu,Nope,nope2'), ['Nope, nope2']);
  t.strictSame(await ignoredOf('a,b,c,d,e,f,g,h,i,j'), ['a, b, c, d, e, f, g, h']);
  t.strictSame(await ignoredOf(`${'x'.repeat(32)},${'y'.repeat(33)}`), ['x'.repeat(32)]);
  t.strictSame(await ignoredOf('a%0d%0ab,%0d%0aX-Evil:1,ok,%22q%22,a%20b,%E2%82%AC,a%0a'), ['ok, a']);
  t.strictSame(await ignoredOf('%0d%0a%0d%0adata:x,%00,a%0Db'), []);
});

t.test('[4.never-4xx] no parameter is ever answered with an error', async (t) => {
  const queries = [
    '?fields=%',
    '?fields=%zz',
    '?detail=%ff',
    '?detail=2&fields=,,;',
    '?&&&=',
    '?fields[]=cpu',
    '??',
    '?a=b#c',
  ];
  queries.push(`?fields=${'cpu,'.repeat(2000)}`, `?${'x=1&'.repeat(1000)}`);
  for (const query of queries)
    t.equal((await open(t, `/api/stream${query}`)).head.status, 200, query.slice(0, 20));
});

t.test('[4.detail] detail on the stream', async (t) => {
  const stream = await open(t, '/api/stream?fields=cpu&detail=true');
  const payload = payloadOf(await stream.next());
  t.strictSame(Object.keys(payload).slice(0, 5), [
    'timestamp',
    'uptime',
    'interval_seconds',
    'window_seconds',
    'host',
  ]);
  t.equal(payload['interval_seconds'], 1);
  t.ok('cores' in Object(payload['cpu']));
});

t.test(
  '[4.open] [I.stream.open] a stream is closed by its reader, not by bytes after the request',
  async (t) => {
    const stream = await open(t);
    await stream.next();
    stream.connection.write('\r\n');
    await stream.next();
    await stream.next();
    t.notOk(stream.isEnded);
  },
);

t.test(
  '[4.max-streams] [2.503] one stream too many: 503 with Retry-After, a closed one makes room',
  async (t) => {
    const small = await serveHere(t, fixtureHost(), { server: { max_streams: 2 } });
    const first = await open(t, '/api/stream', small.port);
    await open(t, '/api/stream', small.port);
    const refused = await ask(small.port, '/api/stream');
    t.equal(refused.status, 503);
    t.match(jsonOf(refused), { code: 'too_many_streams' });
    t.match(valuesOf(refused, 'retry-after'), [/^\d+$/]);
    t.equal((await ask(small.port, '/api/usage')).status, 200, 'only streams are refused');
    first.close();
    const statusNow = async () => (await open(t, '/api/stream', small.port)).head.status;
    await until(async () => (await statusNow()) !== 503);
    t.pass('as soon as the service has seen it close');
  },
);

t.test(
  '[4.second-request] a request after the one for a stream is not served on its connection',
  async (t) => {
    const connection = await RawConnection.openIn(t, port);
    connection.write(requestBytes('/api/stream'));
    await connection.until((bytes) => (bytes.includes('data: ') ? true : undefined));
    connection.write(requestBytes('/api/status'));
    // Cut, or its bytes are dropped: the next event is what comes.
    await connection
      .until((bytes) => (bytes.toString().split('data: ').length > 2 ? true : undefined))
      .catch(() => undefined);
    t.notMatch(connection.rest.toString(), /"status":"ok"/);
  },
);
