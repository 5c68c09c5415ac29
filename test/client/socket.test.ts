/** A client's socket: connecting, keeping subscriptions over a loss, giving up, and leaving nothing behind. */
import { getEventListeners } from 'node:events';
import t from 'tap';
import { ClientError, connect } from '#src/client/client.js';
import { settle } from '../helpers/fakes/clock.ts';
import { fakeSockets } from './fake-sockets.ts';
import { openSocket, outcomeOf, startSocket } from './socket-setup.ts';

t.test('connects to /api/ws with the key in the query, and is open when the service says so', async (t) => {
  for (const [options, href] of [
    [{}, 'ws://pc:9990/api/ws'],
    [{ url: 'https://home/pc/', key: 'a b&c' }, 'wss://home/pc/api/ws?api_key=a+b%26c'],
  ] as const) {
    const { newest, states, socket, heard } = await startSocket(t, options);
    t.equal(newest().url.href, href);
    newest().emit('open');
    t.strictSame(states, [{ state: 'connecting' }], 'an open socket is not yet a service');
    newest().greet();
    t.strictSame(states.slice(1), [{ state: 'open' }]);
    t.strictSame(socket.state, { state: 'open' });
    t.match(heard, [['connected', { protocol: 2 }]]);
  }
});

t.test('without a WebSocket the error says what to do', async (t) => {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
  Reflect.deleteProperty(globalThis, 'WebSocket');
  t.teardown(() => own !== undefined && Object.defineProperty(globalThis, 'WebSocket', own));
  t.throws(() => connect({ url: 'http://pc' }), {
    name: 'ClientError',
    code: 'no_websocket',
    message: /package ws/,
  });
});

t.test('an invalid address throws immediately', async (t) => {
  for (const url of ['', 'pc:9990', 'ws://pc:9990', '/api'])
    t.throws(() => connect({ url, ...fakeSockets() }), TypeError);
});

t.test('another protocol, or no hostwire at all', async (t) => {
  const other = await startSocket(t);
  other.newest().say('connected', { protocol: 1 });
  t.match(other.states.at(-1), { state: 'closed', error: { code: 'bad_answer' } }, 'is not tried again');
  const noise = await startSocket(t);
  noise.newest().emit('message', { data: 'hello' });
  noise.asked[0]?.answer(new Response('', { status: 426 }));
  await settle();
  t.match(noise.states.at(-1), { state: 'waiting', error: { code: 'bad_answer' } });
});

t.test('a plain request asks why the connection failed', async (t) => {
  const cases: readonly (readonly [Response | undefined, object])[] = [
    [new Response(null, { status: 401 }), { state: 'closed', error: { code: 'unauthorized', status: 401 } }],
    [new Response(null, { status: 403 }), { state: 'closed', error: { code: 'forbidden', status: 403 } }],
    [new Response(null, { status: 426 }), { state: 'waiting', delayMs: 250, error: { code: 'unreachable' } }],
    [undefined, { state: 'waiting', delayMs: 250, error: { code: 'unreachable' } }],
    [
      new Response('{"code":"too_many_streams","error":"x"}', {
        status: 503,
        headers: { 'retry-after': '9' },
      }),
      { state: 'waiting', delayMs: 9000, error: { code: 'too_many_streams' } },
    ],
  ];
  for (const [response, state] of cases) {
    const { newest, asked, states, clock, made } = await startSocket(t, { key: 'k' });
    newest().break();
    t.equal(asked[0]?.url.href, 'http://pc:9990/api/ws');
    t.equal(asked[0]?.headers.get('authorization'), 'Bearer k');
    if (response === undefined) asked[0]?.fail();
    else asked[0]?.answer(response);
    await settle();
    t.match(states.at(-1), state);
    await clock.advance(9000);
    t.equal(
      made.length > 1,
      states.some((entry) => entry.state === 'waiting'),
      'whether it tries again',
    );
  }
});

t.test('an unanswered request for the reason delays the next attempt by 10 s at most', async (t) => {
  const { newest, states, clock, made } = await startSocket(t);
  newest().break();
  await clock.advance(10_000);
  t.match(states.at(-1), { state: 'waiting', error: { code: 'unreachable' } });
  await clock.advance(250);
  t.equal(made.length, 2);
});

t.test('an unanswered connection is given up after 10 s, and its later events are ignored', async (t) => {
  const { newest, made, asked, clock, states } = await startSocket(t);
  const [first] = made;
  await clock.advance(10_000);
  t.equal(first?.isClosed, true);
  asked[0]?.fail();
  await clock.advance(250);
  t.equal(made.length, 2);
  first?.greet();
  first?.break();
  t.match(states.at(-1), { state: 'connecting' });
  newest().greet();
  t.match(states.at(-1), { state: 'open' });
  first?.break();
  t.match(states.at(-1), { state: 'open' });
});

t.test('an announced close, a loss, a cut: it reconnects, each time with the reason', async (t) => {
  const { newest, states, clock, heard } = await openSocket(t);
  newest().say('closing', { reason: 'it stops' });
  newest().break(1001);
  t.match(states.at(-1), { state: 'waiting', delayMs: 250, error: { code: 'ended' } });
  t.strictSame(heard.at(-1), ['closing', { reason: 'it stops' }]);
  await clock.advance(250);
  newest().greet();
  newest().break();
  t.match(states.at(-1), { state: 'waiting', delayMs: 500, error: { code: 'connection_lost' } });
  await clock.advance(500);
  newest().greet();
  await clock.advance(5000);
  newest().break();
  t.match(states.at(-1), { state: 'waiting', delayMs: 250 }, 'after a healthy time');
});

t.test('a silent connection is pinged, and given up within a minute', async (t) => {
  const { newest, clock, states, made } = await openSocket(t);
  for (let i = 0; i < 20; i++) {
    await clock.advance(14_000);
    newest().say('media_update', {});
  }
  t.strictSame(newest().sent, [], 'nothing is asked while something comes');
  await clock.advance(31_000);
  t.ok(newest().sent.length >= 1);
  t.ok(newest().sent.every(({ op }) => op === 'ping'));
  newest().say('pong', {});
  await clock.advance(45_000);
  t.match(states.at(-1), { state: 'open' }, 'a pong is an answer');
  const [first] = made;
  await clock.advance(15_000);
  t.match(states.at(-2), { state: 'waiting', error: { code: 'silent' } });
  t.equal(made.length, 2, 'tried again');
  t.equal(first?.isClosed, true);
});

t.test('subscriptions are renewed after every loss, all in one message', async (t) => {
  const { socket, newest, clock, made } = await openSocket(t);
  const first = socket.subscribe(['cpu', 'media'], { detail: true });
  t.strictSame(newest().last?.data, { topics: ['cpu', 'media'], mode: 'replace', detail: true });
  newest().answer('subscribed', { topics: ['stats.cpu', 'media'] });
  t.strictSame(await outcomeOf(first), { topics: ['stats.cpu', 'media'] });
  const second = socket.subscribe(['power', 'stats.disks'], { mode: 'add' });
  t.strictSame(
    newest().last?.data,
    { topics: ['power', 'stats.disks'], mode: 'add', detail: true },
    'the detail stays',
  );
  newest().answer('subscribed', { topics: [] });
  await second;
  const third = socket.unsubscribe(['media']);
  t.strictSame(newest().last, { ...newest().last, op: 'unsubscribe', data: { topics: ['media'] } });
  newest().answer('subscribed', { topics: [] });
  await third;
  for (let i = 0; i < 5; i++) {
    newest().break();
    await clock.advance(10_000);
    newest().greet();
    t.match(newest().sent, [
      {
        op: 'subscribe',
        data: { topics: ['stats.cpu', 'power', 'stats.disks'], mode: 'replace', detail: true },
      },
    ]);
    newest().answer('subscribed', { topics: [] });
    await settle();
  }
  t.equal(made.length, 6);
  const none = socket.unsubscribe();
  t.equal(newest().last?.op, 'unsubscribe');
  newest().answer('subscribed', { topics: [] });
  await none;
  newest().break();
  await clock.advance(10_000);
  newest().greet();
  t.strictSame(newest().sent, [], 'nothing is left to ask for');
});

t.test('a subscription without a connection waits for it without a limit', async (t) => {
  const { socket, newest, clock, asked } = await startSocket(t);
  const promises = [
    socket.subscribe(['stats']),
    socket.subscribe(['media'], { mode: 'add' }),
    socket.unsubscribe(['stats.gpu']),
  ];
  for (let i = 0; i < 20; i++) {
    newest().break();
    asked.at(-1)?.fail();
    await clock.advance(10_000);
  }
  newest().greet();
  t.match(newest().sent, [
    {
      op: 'subscribe',
      data: {
        topics: ['stats.cpu', 'stats.memory', 'stats.disks', 'stats.network', 'media'],
        mode: 'replace',
        detail: false,
      },
    },
  ]);
  newest().answer('subscribed', { topics: ['media'] });
  for (const promise of promises) t.strictSame(await outcomeOf(promise), { topics: ['media'] });
});

t.test('a subscription that was pending when the connection was lost is sent again', async (t) => {
  const { socket, newest, clock } = await openSocket(t);
  const promise = socket.subscribe(['media']);
  newest().break();
  t.equal(await outcomeOf(promise), 'pending');
  await clock.advance(10_000);
  newest().greet();
  t.match(newest().sent, [{ op: 'subscribe', data: { topics: ['media'] } }]);
  newest().break();
  await clock.advance(10_000);
  newest().greet();
  t.match(newest().sent, [{ op: 'subscribe', data: { topics: ['media'] } }], 'also the second time');
  newest().answer('subscribed', { topics: ['media'] });
  t.strictSame(await outcomeOf(promise), { topics: ['media'] });
});

t.test('a refused subscription does not affect the others, now and after a loss', async (t) => {
  const { socket, newest, clock, heard } = await openSocket(t);
  const kept = socket.subscribe(['media']);
  newest().answer('subscribed', { topics: ['media'] });
  await kept;
  const refused = socket.subscribe(['processes'], { mode: 'add' });
  newest().answer('error', { code: 'FEATURE_DISABLED', message: 'It is off.' });
  t.match(await outcomeOf(refused), { code: 'FEATURE_DISABLED' });
  newest().answer('error', { code: 'FEATURE_DISABLED', message: 'One of them is off.' });
  t.match(
    heard.at(-1),
    ['error', { message: 'One of them is off.' }],
    'the snapshot of a subscription goes to listeners',
  );
  newest().break();
  const again = socket.subscribe(['processes'], { mode: 'add' });
  again.catch(() => undefined);
  await clock.advance(10_000);
  newest().greet();
  newest().answer('error', { code: 'FEATURE_DISABLED', message: 'It is off.' });
  t.match(await outcomeOf(again), { code: 'FEATURE_DISABLED' });
  t.match(
    newest().sent.map(({ data }) => data),
    [{ topics: ['media', 'processes'] }, { topics: ['media'] }],
    'the others are requested again',
  );
  newest().answer('error', { code: 'FEATURE_DISABLED', message: 'All is off.' });
  await settle();
  t.strictSame(
    heard.at(-1)?.[0],
    'error',
    'listeners receive the error of a subscription that is no longer allowed',
  );
});

t.test('a subscription that is aborted before it was sent is not requested', async (t) => {
  const { socket, newest } = await startSocket(t);
  const controller = new AbortController();
  const { signal } = controller;
  const promise = socket.subscribe(['media'], { signal });
  promise.catch(() => undefined);
  const other = socket.subscribe(['power'], { mode: 'add', signal });
  other.catch(() => undefined);
  controller.abort();
  t.match(await outcomeOf(promise), { name: 'AbortError' });
  t.match(await outcomeOf(socket.subscribe(['stats'], { signal })), { name: 'AbortError' });
  newest().greet();
  t.strictSame(newest().sent, []);
  t.equal(getEventListeners(signal, 'abort').length, 0);
});

t.test('the sample that a new connection starts with is not reported twice', async (t) => {
  const { socket, newest, clock, heard } = await openSocket(t);
  void socket.subscribe(['stats']);
  newest().answer('subscribed', { topics: ['stats'] });
  newest().answer('system_stats', { timestamp: 1, cpu: { current_load: 1.5 } });
  newest().say('system_stats', { timestamp: 2 });
  newest().break();
  await clock.advance(250);
  newest().greet();
  newest().answer('subscribed', { topics: ['stats'] });
  newest().answer('system_stats', { timestamp: 2 });
  newest().say('system_stats', { timestamp: 2 });
  newest().say('system_stats', { timestamp: 3 });
  t.strictSame(
    heard.flatMap(([type, value]) =>
      type === 'system_stats' ? [(value as { timestamp: number }).timestamp] : [],
    ),
    [1, 2, 2, 3],
    'only the first can be a repetition',
  );
});

t.test('listeners: several, removed ones, one that throws, none after the end', async (t) => {
  const { socket, newest } = await openSocket(t);
  const thrown: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => thrown.push(error));
  t.teardown(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  });
  const calls: string[] = [];
  const stop = socket.on('media_update', () => {
    calls.push('a');
    stop();
    throw new Error('mine');
  });
  socket.on('media_update', ({ status }) => calls.push(`b ${status}`));
  newest().say('media_update', { status: 'idle' });
  newest().say('media_update', { status: 'stopped' });
  newest().say('nobody_knows', {});
  await settle();
  t.strictSame(calls, ['a', 'b idle', 'b stopped']);
  t.match(thrown, [{ message: 'mine' }]);
  const [connection] = [newest()];
  socket.close();
  connection.say('media_update', { status: 'idle' });
  t.equal(calls.length, 3);
});

t.test('close() and the signal, in every state: reported once, nothing left behind', async (t) => {
  const stages = ['before', 'connecting', 'asking why', 'waiting', 'open'] as const;
  for (const stage of stages) {
    const controller = new AbortController();
    if (stage === 'before') controller.abort();
    const { socket, made, asked, states, clock } = await startSocket(t, { signal: controller.signal });
    const connection = made[0];
    if (stage === 'open') connection?.greet();
    if (stage === 'asking why' || stage === 'waiting') connection?.break();
    if (stage === 'waiting') asked[0]?.fail();
    await settle();
    controller.abort();
    socket.close();
    t.strictSame(socket.state, { state: 'closed' }, stage);
    t.equal(states.filter(({ state }) => state === 'closed').length, stage === 'before' ? 0 : 1);
    if (stage === 'open' || stage === 'connecting') t.equal(connection?.isClosed, true);
    connection?.greet();
    await clock.advance(600_000);
    t.equal(made.length, stage === 'before' ? 0 : 1, 'not tried again');
    t.equal(clock.timers, 0, 'no timer');
    t.equal(getEventListeners(controller.signal, 'abort').length, 0);
    t.ok(
      asked.every(({ signal }) => signal?.aborted !== false),
      'no request',
    );
  }
});

t.test('a constructor that throws counts as a failed attempt', async (t) => {
  class Throwing {
    constructor() {
      throw new ClientError('unreachable', 'forbidden by the page');
    }
    send(): void {}
    close(): void {}
    addEventListener(): void {}
  }
  const { states, asked } = await startSocket(t, { WebSocket: Throwing });
  asked[0]?.fail();
  await settle();
  t.match(states.at(-1), { state: 'waiting', error: { message: 'forbidden by the page' } });
});
