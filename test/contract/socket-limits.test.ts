/** Limits on what a socket sends: sizes, bad bytes, rates, messages that make no sense, and the end. */
import '../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { RawConnection } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { bearer, keyWith } from '../helpers/keys.ts';
import { checkTime } from '../helpers/limits.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { serveHere, serveProgram, startHere } from '../helpers/service/service.ts';

t.setTimeout(280_000);

async function start(t: Test, clock?: FakeClock) {
  const service = await serveHere(t, fixtureHost(), {}, clock && { clock });
  const connect = async () => {
    const client = await SocketClient.openIn(t, service.port);
    await client.take('connected');
    return client;
  };
  return { service, connect, client: await connect() };
}

/** A ping of exactly `bytes` bytes. */
function pingOf(bytes: number): string {
  const frame = '{"op":"ping","id":1,"pad":""}';
  return frame.replace('""}', `"${'x'.repeat(bytes - frame.length)}"}`);
}

t.test('[7.limit-size] a message of 16 KiB is accepted, one byte more is closed with 1009', async (t) => {
  const { client, connect } = await start(t);
  client.sayText(pingOf(16 * 1024));
  await client.take('pong');
  for (const bytes of [16 * 1024 + 1, 64 * 1024]) {
    const other = await connect();
    other.sayText(pingOf(bytes));
    t.match(await other.closed, { code: 1009, reason: /16384 bytes/ });
  }
});

t.test('[7.limit-cut] above 64 KiB, or with bytes that are not UTF-8, the socket is cut', async (t) => {
  const { connect } = await start(t);
  const large = await connect();
  large.sayText(pingOf(64 * 1024 + 1));
  t.equal((await large.closed).code, DIFFERENCES.tooLongCode);
  const bad = await connect();
  bad.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
  t.equal((await bad.closed).code, DIFFERENCES.notUtf8Code);
});

t.test('[7.error-parse] a message that is not a JSON object, or not text: PARSE_ERROR', async (t) => {
  const { client } = await start(t);
  const texts = [
    '',
    '{',
    'null',
    '"ping"',
    '[1]',
    '1e999',
    '[{"op":"ping"}]',
    `${'['.repeat(4000)}${']'.repeat(4000)}`,
  ];
  for (const text of texts) {
    client.sayText(text);
    const told = await client.take('error');
    t.match(told.data, { code: 'PARSE_ERROR', message: /^[A-Z].*\.$/ }, text.slice(0, 20));
    t.notOk('id' in told);
  }
  client.ws.send(Buffer.from('{"op":"ping"}'), { binary: true });
  t.match((await client.take('error')).data, { code: 'PARSE_ERROR' }, 'a binary frame');
  t.equal((await client.ask('ping', undefined, 1)).type, 'pong', 'and it goes on');
});

t.test('[7.error-op] an unknown op: UNKNOWN_OP with the known ones', async (t) => {
  const { client } = await start(t);
  for (const op of ['nope', 'PING', 'constructor', '__proto__', 'toString', '']) {
    client.sayText(JSON.stringify({ op, id: op }));
    t.match(
      await client.take('error'),
      { id: op, data: { code: 'UNKNOWN_OP', details: { allowed: Array } } },
      op,
    );
  }
});

t.test(
  '[7.error-data] data that does not fit its op: INVALID_DATA, with the id if it is valid',
  async (t) => {
    const { client } = await start(t);
    const messages: readonly (readonly [object, string | number | undefined])[] = [
      [{}, undefined],
      [{ op: 1, id: 'a' }, 'a'],
      [{ op: 'ping', id: 1.5 }, undefined],
      [{ op: 'ping', id: {} }, undefined],
      [{ op: 'ping', id: 'x'.repeat(129) }, undefined],
      [{ op: 'ping', id: null }, undefined],
      [{ op: 'subscribe', id: 2 }, 2],
      [{ op: 'subscribe', id: 3, data: [] }, 3],
      [{ op: 'subscribe', id: 4, data: { topics: 'stats' } }, 4],
      [{ op: 'subscribe', id: 5, data: { topics: [1] } }, 5],
      [{ op: 'subscribe', id: 6, data: { topics: Array(65).fill('cpu') } }, 6],
      [{ op: 'subscribe', id: 7, data: { topics: [], mode: 'both' } }, 7],
      [{ op: 'subscribe', id: 8, data: { topics: [], detail: 1 } }, 8],
      [{ op: 'media', id: 9, data: { action: 'dance' } }, 9],
      [{ op: 'power', id: 10, data: { action: 'sleep', delay: -1 } }, 10],
      [{ op: 'power', id: 11, data: {} }, 11],
      [{ op: 'process_kill', id: 12, data: { pid: 0 } }, 12],
      [{ op: 'process_kill', id: 13, data: { pid: 2 ** 31 } }, 13],
      [{ op: 'process_kill', id: 14, data: { pid: 1.5 } }, 14],
      [{ op: 'process_details', id: 15, data: { pid: 1, name: 'x' } }, 15],
      [{ op: 'process_list', id: 16, data: { limit: 0 } }, 16],
    ];
    for (const [message, id] of messages) {
      client.sayText(JSON.stringify(message));
      const told = await client.take('error');
      t.match(
        told.data,
        { code: 'INVALID_DATA', message: /^[\w].*\.$/ },
        JSON.stringify(message).slice(0, 60),
      );
      t.equal(told.id, id);
      await sleep(30);
    }
    client.sayText(
      '{"op":"subscribe","id":20,"data":{"topics":["power"],"__proto__":{"mode":"add"},"more":1}}',
    );
    t.match((await client.take('subscribed')).data, { topics: ['power'] }, 'unknown keys are ignored');
  },
);

t.test('[7.limit-rate] bursts of 40, 20 per second; more are RATE_LIMITED with their ids', async (t) => {
  const clock = new FakeClock();
  const { client, connect } = await start(t, clock);
  const other = await connect();
  const answersOf = async (first: number, count: number) => {
    for (let i = first; i < first + count; i++) client.say('ping', undefined, i);
    const codes: string[] = [];
    for (let i = first; i < first + count; i++) {
      const told = await client.take((each) => each.id === i);
      codes.push(told.type === 'pong' ? 'pong' : String(told.data['code']));
    }
    return codes;
  };
  const expected = (pongs: number, refused: number) => [
    ...Array<string>(pongs).fill('pong'),
    ...Array<string>(refused).fill('RATE_LIMITED'),
  ];
  t.strictSame(await answersOf(0, 60), expected(40, 20));
  t.equal((await other.ask('ping', undefined, 'other')).type, 'pong', 'each socket by itself');
  await clock.advance(1000);
  t.strictSame(await answersOf(100, 25), expected(20, 5));
});

t.test('[7.limit-rate-hub] with the scope hub 200 per second, bursts of 2400', async (t) => {
  const keys = { desk: keyWith('desk', 'hub', 'read') };
  const config = { auth: { enabled: true, keys } };
  const service = await serveHere(t, fixtureHost(), config, { clock: new FakeClock() });
  const hub = await SocketClient.openIn(t, service.port, { headers: bearer('desk') });
  for (let i = 0; i < 2410; i++) hub.say('ping', undefined, i);
  t.match(await hub.take(({ id }) => id === 2399), { type: 'pong' });
  t.match(await hub.take(({ id }) => id === 2409), { data: { code: 'RATE_LIMITED' } });
  t.equal(hub.told.filter(({ type }) => type === 'error').length, 10);
});

t.test(
  '[7.limit-flood] a client that keeps sending is closed with 1008, and gets no more than it sent',
  async (t) => {
    const { client } = await start(t, new FakeClock());
    for (let i = 0; i < 2000; i++) client.say('ping', undefined, i);
    t.match(await client.closed, { code: 1008, reason: 'too many messages' });
    const refused = client.told.filter(({ data }) => data['code'] === 'RATE_LIMITED').length;
    t.ok(refused >= 100 && refused <= 130, `${refused} refusals`);
    t.ok(client.told.length < 200);
  },
);

t.test('a ping of the client is answered', async (t) => {
  const { client } = await start(t);
  const ponged = new Promise((resolve) => client.ws.once('pong', resolve));
  client.ws.ping('x');
  t.equal(String(await ponged), 'x');
});

for (const kind of ['ping', 'pong'] as const)
  t.test(
    `[7.limit-control] a flood of ${kind} frames counts as messages do, and ends with 1008`,
    async (t) => {
      const { client } = await start(t, new FakeClock());
      for (let i = 0; i < 20; i++) client.ws[kind]();
      t.equal((await client.ask('ping', undefined, 1)).type, 'pong', 'a few are nothing');
      for (let i = 0; i < 300; i++) client.ws[kind]();
      t.match(await client.closed, { code: 1008, reason: 'too many messages' });
    },
  );

t.test('[7.compression] no frame is compressed, whatever the client offers', async (t) => {
  const { client } = await start(t);
  t.equal(client.ws.extensions, '', 'ws offers permessage-deflate');
});

t.test('[7.closing] [9.websockets-1001] at a stop: closing with a reason, then 1001', async (t) => {
  const service = await startHere(fixtureHost());
  const clients = await Promise.all([1, 2, 3].map(() => SocketClient.open(service.port)));
  clients[0]?.say('subscribe', { topics: ['stats'] });
  await clients[0]?.take('system_stats');
  const begun = performance.now();
  await service.stop();
  for (const client of clients) {
    const { code, atMs } = await client.closed;
    t.equal(code, 1001);
    checkTime(t, atMs - begun, 1000, 'closed');
    const last = client.told.at(-1);
    t.strictSame(
      [last?.type, Object.keys(last?.data ?? {})],
      ['closing', ['reason']],
      'it is the last message',
    );
  }
});

t.test('[9.websockets-1001] SIGTERM under 1,000 sockets: all get 1001, exit 0 within a second', async (t) => {
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const clients: SocketClient[] = [];
  t.teardown(() => clients.forEach((client) => client.cut()));
  for (let i = 0; i < 20; i++)
    clients.push(...(await Promise.all(Array.from({ length: 50 }, () => SocketClient.open(service.port)))));
  for (const client of clients) client.say('subscribe', { topics: ['stats'] });
  await Promise.all(clients.map((client) => client.take('system_stats')));
  const ending = await service.stop();
  const codes = (await Promise.all(clients.map((client) => client.closed))).map(({ code }) => code);
  t.match(ending, { code: 0, signal: null });
  t.equal(codes.filter((code) => code === 1001).length, 1000);
  t.equal(clients.filter(({ told }) => told.at(-1)?.type === 'closing').length, 1000);
  await t.rejects(RawConnection.open(service.port), { code: 'ECONNREFUSED' });
  checkTime(t, ending.tookMs, 1000, 'exit');
});
