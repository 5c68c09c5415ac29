/** The history over HTTP and WebSocket, from a history whose content is known. */
import '../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { ask, jsonOf, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FAKE_EVENT, FAKE_MACHINE_EVENT, FAKE_NOW, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { type ConfigPart, serveHere, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

async function start(t: Test, config: ConfigPart = {}) {
  const history = new FakeHistory();
  // Answers are kept until the test moves it.
  const clock = new FakeClock();
  const service = await serveHere(t, fixtureHost(), config, { history, clock });
  const get = (target: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(service.port, target, { headers });
  return { history, clock, port: service.port, get };
}

const objectOf = (answer: RawAnswer) => jsonOf(answer) as Record<string, unknown>; // Compared with what is expected.
const seriesIn = (answer: RawAnswer) => Object.keys(objectOf(answer)['series'] as object).sort(); // As objectOf.

t.test('[3.history] GET /api/history: columns with a start and a step', async (t) => {
  const { history, get } = await start(t);
  const answer = await get(`/api/history?series=cpu.load&since=${FAKE_NOW - 30}&until=${FAKE_NOW}&step=10`);
  t.equal(answer.status, 200);
  t.strictSame(valuesOf(answer, 'content-type'), ['application/json; charset=utf-8']);
  t.strictSame(objectOf(answer), await history.query(history.asked[0] as never), 'as the history has it');
  t.strictSame(history.asked[0], {
    series: ['cpu.load'],
    since: FAKE_NOW - 30,
    until: FAKE_NOW,
    step: 10,
  });
  t.match(objectOf(answer), {
    start: FAKE_NOW - 30,
    step: 10,
    count: 3,
    series: { 'cpu.load': { unit: '%', mean: [0.5, null, 2.5], min: [0, null, 2], max: [1, null, 3] } },
  });
});

t.test('[3.history-defaults] without a query: the last hour of the usual series', async (t) => {
  const { history, get } = await start(t);
  const answer = await get('/api/history');
  t.strictSame(history.asked, [{ series: [], since: -3600, until: undefined, step: undefined }]);
  t.ok(Array.isArray(objectOf(answer)['available']), 'with the names of all series');
  t.notOk(
    'available' in objectOf(await get('/api/history?series=cpu.load')),
    'without, where some are named',
  );
  await get('/api/history?since=-9999999999');
  t.equal(history.asked.at(-1)?.since, 0, 'nothing is before 1970');
  await get('/api/history?since=-5&until=-1.5');
  const last = history.asked.at(-1);
  const age = Date.now() / 1000 - (last?.until ?? 0);
  t.equal(last?.since, -5);
  t.ok(age >= 1.4 && age < 600, `until is ${age} s ago`);
});

t.test('[3.history-names] one list of series, or one name per parameter', async (t) => {
  const { history, get } = await start(t);
  t.strictSame(seriesIn(await get('/api/history?series=cpu.load,%20memory.used_percent,')), [
    'cpu.load',
    'memory.used_percent',
  ]);
  t.strictSame(seriesIn(await get('/api/history?series=network.*')), ['network.receive', 'network.send']);
  const mount = encodeURIComponent('disk.used_percent//mnt/a,b');
  const both = await get(`/api/history?series=${mount}&series=cpu.load`);
  t.strictSame(seriesIn(both), ['cpu.load', 'disk.used_percent//mnt/a,b']);
  t.strictSame(seriesIn(await get(`/api/history?series=${mount}&series=`)), ['disk.used_percent//mnt/a,b']);
  t.strictSame(objectOf(await get(`/api/history?series=${mount}`))['unknown'], [
    'disk.used_percent//mnt/a',
    'b',
  ]);
  t.strictSame(history.asked.at(-1)?.series, ['disk.used_percent//mnt/a', 'b']);
});

t.test('[3.history-values] a bad value is refused with a sentence', async (t) => {
  const { history, get } = await start(t);
  const names = (count: number, name = 'cpu.load') => `series=${Array(count).fill(name).join(',')}`;
  for (const [query, sentence] of [
    ['since=yesterday', /^since must be a number of Unix seconds, or negative/],
    ['since=1e3', /^since must/],
    ['since=-10000000001', /^since must/],
    ['since=1&since=2', /^since must/],
    ['until=', /^until must/],
    ['step=0', /^step must be a whole number of seconds from 1 to 86400/],
    ['step=1.5', /^step must/],
    ['step=86401', /^step must/],
    [names(65), /^series must be at most 64 names of at most 512 characters/],
    [names(1, 'x'.repeat(513)), /^series must/],
    [`since=${FAKE_NOW}&until=${FAKE_NOW - 1}`, /^since must not be after until/],
    ['since=-60&until=-61', /^since must not be after until/],
  ] as const) {
    const answer = await get(`/api/history?${query}`);
    t.equal(answer.status, 400, query);
    t.match(jsonOf(answer), { code: 'invalid_value', error: sentence }, query);
  }
  t.strictSame(history.asked, [], 'nothing was read');
  t.equal((await get(`/api/history?${names(64)}&since=-60&step=86400`)).status, 200);
  history.maxSlots = 10;
  const answer = await get('/api/history?since=-111&step=10');
  t.equal(answer.status, 400);
  t.match(jsonOf(answer), {
    code: 'invalid_value',
    error: /100,000 numbers; request fewer series, a shorter period or a longer step/,
  });
});

t.test('[3.history-processes] GET /api/history/processes?at=…', async (t) => {
  const { history, get } = await start(t);
  const answer = await get(`/api/history/processes?at=${FAKE_NOW - 600.5}`);
  t.equal(answer.status, 200);
  t.strictSame(objectOf(answer), await history.processesAt(FAKE_NOW - 600.5));
  await get('/api/history/processes?at=-600');
  const age = Date.now() / 1000 - (history.askedAt.at(-1) ?? 0);
  t.ok(age >= 599 && age < 1200, `${age} s ago`);
  for (const [query, code] of [
    ['', 'missing_field'],
    ['?at=', 'invalid_value'],
    ['?at=now', 'invalid_value'],
    ['?at=1&at=2', 'invalid_value'],
  ] as const) {
    const refused = await get(`/api/history/processes${query}`);
    t.equal(refused.status, 400, query);
    t.match(jsonOf(refused), { code }, query);
  }
});

t.test('[3.history-off] history.minutes 0, or no processes: 403 feature_disabled', async (t) => {
  const { history, get } = await start(t);
  const off = await start(t, { features: { enable_processes: false } });
  history.isOn = false;
  for (const [server, target] of [
    [{ get }, '/api/history'],
    [{ get }, '/api/history?step=x'],
    [{ get }, '/api/history/processes?at=1'],
    [off, '/api/history/processes?at=1'],
  ] as const) {
    const answer = await server.get(target);
    t.equal(answer.status, 403, target);
    t.strictSame(valuesOf(answer, 'x-error-code'), ['feature_disabled'], target);
    t.equal(answer.body.length, 0);
  }
  t.equal((await off.get('/api/history')).status, 200, 'the columns do not need processes');
  t.strictSame([...history.asked, ...history.askedAt], [], 'nothing was read');
});

t.test('[3.history-etag] an answer that the client has is not sent again', async (t) => {
  const { get } = await start(t);
  for (const target of [
    `/api/history?series=cpu.load&since=${FAKE_NOW - 100}&until=${FAKE_NOW}`,
    `/api/history/processes?at=${FAKE_NOW}`,
  ]) {
    const first = await get(target);
    const [tag = ''] = valuesOf(first, 'etag');
    t.match(tag, /^"[0-9a-f]{16}"$/);
    t.strictSame(valuesOf(first, 'cache-control'), ['no-cache'], 'kept, and asked about before each use');
    const again = await get(target, { 'If-None-Match': `"other", W/${tag}` });
    t.equal(again.status, 304);
    t.strictSame(valuesOf(again, 'etag'), [tag]);
    t.equal(again.body.length, 0);
    t.equal((await get(target, { 'If-None-Match': '"other"' })).status, 200);
  }
  const [one] = valuesOf(await get('/api/history?since=-100'), 'etag');
  const [other] = valuesOf(await get('/api/history?since=-110'), 'etag');
  t.not(one, other);
});

t.test(
  '[3.history-gzip] an answer of more than 1 KiB is compressed for clients that accept it',
  async (t) => {
    const { history, port, get } = await start(t);
    const zeros = Array.from({ length: 2000 }, (_, i) => i % 7);
    history.query = async () => ({
      ...{ start: FAKE_NOW - 2000, step: 1, count: 2000, unknown: [], marks: [], events: [] },
      series: { 'cpu.load': { unit: '%', mean: zeros } },
    });
    const target = `/api/history?series=cpu.load&since=${FAKE_NOW - 2000}`;
    const plain = await get(target);
    const [tag = ''] = valuesOf(plain, 'etag');
    t.strictSame(valuesOf(plain, 'content-encoding'), []);
    t.strictSame(valuesOf(plain, 'vary'), ['Accept-Encoding']);
    const gzip = await get(target, { 'Accept-Encoding': 'br;q=1.0, gzip;q=0.8' });
    t.strictSame(valuesOf(gzip, 'content-encoding'), ['gzip']);
    t.strictSame(valuesOf(gzip, 'content-length'), [String(gzip.body.length)]);
    t.strictSame(valuesOf(gzip, 'etag'), [`W/${tag}`], 'of the same answer');
    t.ok(gunzipSync(gzip.body).equals(plain.body), 'which it is');
    t.ok(gzip.body.length < plain.body.length / 10, `${gzip.body.length} of ${plain.body.length} bytes`);
    const head = await ask(port, target, { method: 'HEAD', headers: { 'Accept-Encoding': 'gzip' } });
    for (const name of ['content-encoding', 'content-length', 'etag', 'vary'])
      t.strictSame(valuesOf(head, name), valuesOf(gzip, name), `HEAD: ${name}`);
    const again = await get(target, { 'Accept-Encoding': 'gzip', 'If-None-Match': `W/${tag}` });
    t.strictSame([again.status, again.body.length], [304, 0]);
    t.strictSame(valuesOf(await get(target, { 'Accept-Encoding': 'gzip;q=0' }), 'content-encoding'), []);
    const short = await get(`/api/history/processes?at=${FAKE_NOW}`, { 'Accept-Encoding': 'gzip' });
    t.strictSame(valuesOf(short, 'content-encoding'), [], 'short ones are not');
  },
);

t.test('[3.history-shared] equal queries within a second have one answer', async (t) => {
  const { history, clock, get } = await start(t);
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  history.before = () => gate;
  const target = '/api/history?series=cpu.load';
  const many = Array.from({ length: 8 }, () => get(target));
  const other = get('/api/history?series=memory.used_percent');
  await until(() => history.asked.length !== 0);
  release();
  const bodies = (await Promise.all(many)).map(({ body }) => body.toString());
  t.equal((await other).status, 200);
  t.equal(new Set(bodies).size, 1);
  t.equal(history.asked.length, 2, 'one for each of the two questions');
  await clock.advance(999);
  await get(target);
  t.equal(history.asked.length, 2);
  await clock.advance(1);
  await get(target);
  t.equal(history.asked.length, 3);
});

t.test('[3.history] the program has recorded what it measured', async (t) => {
  const config = { history: { minutes: 60, idle_interval_seconds: 1 } };
  const service = await serveProgram(t, { config });
  const get = async (query: string) => objectOf(await ask(service.port, `/api/history?${query}`));
  const knownIn = (payload: Record<string, unknown>, name: string) =>
    // The documented shape, which api/requests checks.
    (payload['series'] as Record<string, { readonly mean: readonly unknown[] }>)[name]?.mean.some(
      (value) => typeof value === 'number',
    );
  let fine = await get('since=-60');
  for (let i = 0; i < 600 && !knownIn(fine, 'cpu.load'); i++) {
    await sleep(100);
    fine = await get('since=-60');
  }
  t.match(fine, { step: 1, unknown: [], available: Array, marks: [{ kind: 'start' }], events: [] });
  t.ok(knownIn(fine, 'memory.used_percent'));
  t.match(await get('series=memory.*,x'), {
    step: 10,
    series: { 'memory.used': { unit: 'MiB' } },
    unknown: ['x'],
  });
  const gone = await ask(service.port, '/api/history?since=-10000000000&step=10');
  t.equal(gone.status, 400, 'too long a time is refused before anything is read');
});

async function openSocket(t: Test, config: ConfigPart = {}) {
  const service = await start(t, config);
  const connect = () => SocketClient.openIn(t, service.port);
  return { ...service, connect, client: await connect() };
}

t.test('[7.history] the ops answer as GET /api/history and GET /api/history/processes', async (t) => {
  const { history, port, client } = await openSocket(t);
  const columns = await client.ask('history', { series: ['cpu.load', 'x'], since: FAKE_NOW - 60 }, 'h');
  t.strictSame([columns.type, columns.id], ['history', 'h']);
  t.strictSame(
    columns.data,
    jsonOf(await ask(port, `/api/history?series=cpu.load,x&since=${FAKE_NOW - 60}`)),
  );
  t.equal(history.asked.length, 1, 'one answer for both');
  const mount = 'disk.used_percent//mnt/a,b';
  const one = await client.ask('history', { series: [mount] }, 1);
  t.strictSame(Object.keys(Object(one.data['series'])), [mount], 'a name may contain commas');
  const processes = await client.ask('process_history', { at: FAKE_NOW - 60 }, 2);
  t.strictSame([processes.type, processes.id], ['process_history', 2]);
  t.strictSame(processes.data, jsonOf(await ask(port, `/api/history/processes?at=${FAKE_NOW - 60}`)));
  client.say('history');
  t.notOk('id' in (await client.take('history')), 'without data and without an id');
});

t.test('[7.history-errors] wrong data, too many numbers, and what is switched off', async (t) => {
  const { history, client } = await openSocket(t, { features: { enable_processes: false } });
  history.maxSlots = 10;
  for (const [op, data, code, message] of [
    ['history', { series: 'cpu.load' }, 'INVALID_DATA', /^series must be/],
    ['history', { since: '-60' }, 'INVALID_DATA', /^since must be/],
    ['history', { since: -60, until: -61 }, 'INVALID_DATA', /^since must not be after until/],
    ['history', { since: -200, step: 10 }, 'INVALID_DATA', /100,000 numbers/],
    ['process_history', {}, 'INVALID_DATA', /^The field at is missing/],
    ['process_history', { at: 1 }, 'FEATURE_DISABLED', /processes/],
  ] as const) {
    const error = await client.ask(op, data, 'x');
    t.strictSame([error.type, error.data['code']], ['error', code], JSON.stringify(data));
    t.match(error.data['message'], message);
  }
  history.isOn = false;
  const off = await client.ask('history', {}, 'off');
  t.match(off.data, {
    code: 'FEATURE_DISABLED',
    message: 'The history is disabled in the configuration.',
  });
});

t.test(
  '[7.events] each event is sent once to the subscribers of events, as GET /api/events has it',
  async (t) => {
    const { history, port, client, connect } = await openSocket(t);
    const other = await connect();
    await other.ask('subscribe', { topics: ['power'] }, 'o');
    const subscribed = await client.ask('subscribe', { topics: ['events', 'media'] }, 's');
    t.strictSame(subscribed.data, { topics: ['media', 'events'], unknown: [] });
    const events = [FAKE_EVENT, { ...FAKE_EVENT, state: 'end', value: 3 } as const];
    // Two events in the same turn: neither replaces the other.
    for (const event of events) history.notify(event);
    const sent = [(await client.take('event')).data, (await client.take('event')).data];
    const { begin } = FAKE_MACHINE_EVENT;
    t.match(sent, [FAKE_MACHINE_EVENT, { ...FAKE_MACHINE_EVENT, begin, state: 'end', end: begin, value: 3 }]);
    t.strictSame(sent, (jsonOf(await ask(port, '/api/events')) as { events: unknown }).events);
    const { body } = (await client.ask('request', { name: 'events', params: { limit: 1 } }, 'r')).data;
    t.match(body, { events: [sent[1]], open: [], missing: false });
    await client.ask('unsubscribe', { topics: ['events'] }, 'u');
    history.notify(FAKE_EVENT);
    await client.ask('ping', {}, 'last');
    await other.ask('ping', {}, 'last');
    t.equal(client.told.filter(({ type }) => type === 'event').length, 2, 'none after unsubscribing');
    t.equal(other.told.filter(({ type }) => type === 'event').length, 0, 'none without subscribing');
  },
);

t.test('[7.events-state] events has no present state, and may be switched off', async (t) => {
  const { history, client } = await openSocket(t);
  const error = await client.ask('get', { topics: ['events'] }, 'g');
  t.match(error.data, { code: 'INVALID_DATA', details: { topic: 'events' } });
  history.isOn = false;
  await client.ask('subscribe', { topics: ['events'] }, 's');
  const off = await client.take('error');
  t.match([off.id, off.data], ['s', { code: 'FEATURE_DISABLED', details: { topic: 'events' } }]);
  history.isOn = true;
  history.notify(FAKE_EVENT);
  t.match((await client.take('event')).data, FAKE_MACHINE_EVENT, 'sent once it is on again');
});
