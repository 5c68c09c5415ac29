/** streamStats against fake answers: its requests, its callbacks, and its further attempts. */
import { getEventListeners } from 'node:events';
import t, { type Test } from 'tap';
import type { ConnectionState, StatsPayload } from '#src/client/client.js';
import { type StreamOptions, streamStats, streamStatsIn } from '#src/client/stream.js';
import { settle } from '../helpers/fakes/clock.ts';
import { openStream, surroundings } from './surroundings.ts';

type Options = Partial<StreamOptions<'cpu', boolean>>;

async function start(t: Test, options: Options = {}) {
  const around = surroundings();
  const samples: unknown[] = [];
  const states: ConnectionState[] = [];
  const stream = streamStatsIn<'cpu', boolean>(
    {
      url: 'http://pc:9990',
      onSample: (sample) => samples.push(sample),
      onState: (state) => states.push(state),
      ...options,
    },
    around.environment,
  );
  t.teardown(() => stream.close());
  await settle();
  return { ...around, stream, samples, states, last: () => states.at(-1) };
}

const line = (timestamp: number, more = '') => `data: {"timestamp":${timestamp}${more}}\n\n`;

t.test('requests the given sections and detail, with the key in the header', async (t) => {
  for (const [options, href, authorization] of [
    [{}, 'http://pc:9990/api/stream', null],
    [{ key: 'secret' }, 'http://pc:9990/api/stream', 'Bearer secret'],
    [{ fields: ['cpu', 'cpu'], detail: true }, 'http://pc:9990/api/stream?fields=cpu%2Ccpu&detail=1', null],
    [{ fields: [], detail: false }, 'http://pc:9990/api/stream', null],
    [{ url: 'https://home/pc/?x=1#y' }, 'https://home/pc/api/stream', null],
    [{ url: 'http://[::1]:9990/' }, 'http://[::1]:9990/api/stream', null],
  ] satisfies [Options, string, string | null][]) {
    const { asked } = await start(t, options);
    t.equal(asked[0]?.url.href, href);
    t.equal(asked[0]?.headers.get('authorization'), authorization);
  }
  t.throws(() => streamStats({ url: 'pc:9990', onSample: () => undefined }), TypeError);
  t.throws(() => streamStats({ url: '/api', onSample: () => undefined }), TypeError);
});

t.test(
  'every sample is reported once, however it was split; comments and named events are ignored',
  async (t) => {
    const { asked, samples, states } = await start(t);
    const body = openStream(asked[0]);
    await settle();
    t.strictSame(states, [{ state: 'connecting' }, { state: 'open' }]);
    body.send(`${line(1)}:\n\n${line(2)}data: {"time`);
    await settle();
    t.strictSame(samples, [{ timestamp: 1 }, { timestamp: 2 }]);
    body.send('stamp":3}\n');
    body.send(`\nevent: other\ndata: {}\n\n${line(3)}`);
    await settle();
    t.strictSame(samples.slice(2), [{ timestamp: 3 }, { timestamp: 3 }], 'equal ones of one stream are two');
  },
);

t.test('samples that arrived before the end of the stream are reported before the end', async (t) => {
  const { asked, samples, states } = await start(t);
  const body = openStream(asked[0]);
  body.send(line(1));
  body.send(`${line(2)}${line(3)}data: {"half":`);
  body.end();
  await settle();
  t.equal(samples.length, 3);
  t.match(states.at(-1), { state: 'waiting', delayMs: 250, error: { code: 'ended' } });
});

t.test('the sample that a new stream starts with is not reported twice', async (t) => {
  const { asked, samples, clock } = await start(t);
  const first = openStream(asked[0]);
  first.send(`${line(1)}${line(2)}`);
  await settle();
  first.end();
  await clock.advance(250);
  openStream(asked[1]).send(`${line(2)}${line(2)}${line(3)}`);
  await settle();
  t.strictSame(
    samples.map((sample) => (sample as StatsPayload).timestamp),
    [1, 2, 2, 3],
    'only the first of the new stream can be a repetition',
  );
});

t.test('tries again after every kind of loss, with growing delays, and reports the reason', async (t) => {
  const { asked, clock, last } = await start(t);
  const fails: readonly (readonly [string, () => void])[] = [
    ['unreachable', () => asked.at(-1)?.fail()],
    [
      'bad_answer',
      () => asked.at(-1)?.answer(new Response('<html>', { headers: { 'content-type': 'text/html' } })),
    ],
    ['refused', () => asked.at(-1)?.answer(new Response('bad gateway', { status: 502 }))],
    [
      'not_found',
      () => asked.at(-1)?.answer(Response.json({ error: 'no', code: 'not_found' }, { status: 404 })),
    ],
    ['bad_answer', () => openStream(asked.at(-1)).send('data: {]\n\n')],
    ['bad_answer', () => openStream(asked.at(-1)).send('data: 7\n\n')],
    ['unreachable', () => openStream(asked.at(-1)).break(new TypeError('terminated'))],
    ['ended', () => openStream(asked.at(-1)).end()],
  ];
  let step = 250;
  for (const [code, fail] of fails) {
    const before = asked.length;
    fail();
    await settle();
    t.match(last(), { state: 'waiting', delayMs: step, error: { code } }, code);
    await clock.advance(step - 1);
    t.equal(asked.length, before, 'not a moment earlier');
    await clock.advance(1);
    t.equal(asked.length, before + 1);
    t.match(last(), { state: 'connecting' });
    t.equal(clock.timers, 1, 'the limit of the attempt and nothing else');
    step = Math.min(10_000, step * 2);
  }
});

t.test('401 and 403 end it for good, with their reason', async (t) => {
  for (const [response, code, status] of [
    [new Response(null, { status: 401 }), 'unauthorized', 401],
    [new Response(null, { status: 403 }), 'forbidden', 403],
    [
      new Response(null, { status: 403, headers: { 'x-error-code': 'host_not_allowed' } }),
      'host_not_allowed',
      403,
    ],
  ] as const) {
    const { asked, clock, last, stream } = await start(t, { key: 'wrong' });
    asked[0]?.answer(response);
    await settle();
    t.match(last(), { state: 'closed', error: { code, status } });
    t.equal(stream.state, last());
    await clock.advance(600_000);
    t.equal(asked.length, 1, 'it is not tried again');
    t.equal(clock.timers, 0);
  }
});

t.test('a key that is changed at the service ends a client with the old one', async (t) => {
  const { asked, clock, last } = await start(t, { key: 'old' });
  const body = openStream(asked[0]);
  await settle();
  body.break(new TypeError('terminated'));
  await clock.advance(250);
  asked[1]?.answer(new Response(null, { status: 401 }));
  await settle();
  t.match(last(), { state: 'closed', error: { code: 'unauthorized' } });
});

t.test('Retry-After is kept, in seconds and as a date', async (t) => {
  const refuse = (retryAfter: string) =>
    new Response('{"error":"too many","code":"too_many_streams"}', {
      status: 503,
      headers: { 'retry-after': retryAfter },
    });
  const { asked, clock, last } = await start(t);
  asked[0]?.answer(refuse('30'));
  await settle();
  t.match(last(), { state: 'waiting', delayMs: 30_000, error: { code: 'too_many_streams', status: 503 } });
  await clock.advance(29_999);
  t.equal(asked.length, 1);
  await clock.advance(1);
  asked[1]?.answer(refuse(new Date(Date.now() + 60_000).toUTCString()));
  await settle();
  const state = last();
  t.ok(state?.state === 'waiting' && state.delayMs > 50_000 && state.delayMs <= 60_000);
  await clock.advance(60_000);
  asked[2]?.answer(refuse('soon'));
  await settle();
  t.match(last(), { state: 'waiting', delayMs: 1000 }, 'what is neither is not there');
});

t.test('retry of the stream is kept', async (t) => {
  const { asked, clock, last } = await start(t);
  const body = openStream(asked[0]);
  body.send(`retry: 4000\n\n${line(1)}`);
  await settle();
  body.end();
  await clock.advance(0);
  t.match(last(), { state: 'waiting', delayMs: 4000 });
});

t.test(
  'a stream without a byte for more than 45 s is given up; a comment counts as a sign of life',
  async (t) => {
    const { asked, clock, last } = await start(t);
    const body = openStream(asked[0]);
    await clock.advance(0);
    for (let i = 0; i < 10; i++) {
      await clock.advance(45_000);
      t.equal(last()?.state, 'open', 'after 45 s');
      body.send(':\n\n');
      await settle();
    }
    await clock.advance(60_000);
    t.match(last(), { state: 'waiting', delayMs: 250, error: { code: 'silent' } }, 'within a minute');
    t.equal(asked[0]?.signal?.aborted, true);
    await clock.advance(250);
    t.equal(asked.length, 2, 'it is tried again');
  },
);

t.test('an unanswered attempt is given up after 10 s', async (t) => {
  const { asked, clock, states } = await start(t);
  await clock.advance(9_999);
  t.equal(asked[0]?.signal?.aborted, false);
  await clock.advance(1);
  t.match(states.at(-1), { state: 'waiting', delayMs: 250, error: { code: 'unreachable' } });
});

t.test('close() and the signal end it immediately, in every state, and leave nothing behind', async (t) => {
  const controllers = [0, 1, 2, 3].map(() => new AbortController());
  const [connecting, open, waiting, before] = controllers;
  before?.abort();
  const runs = await Promise.all(controllers.map(({ signal }) => start(t, { signal })));
  const body = openStream(runs[1]?.asked[0]);
  runs[2]?.asked[0]?.fail();
  await settle();
  t.same(
    runs.map(({ stream }) => stream.state.state),
    ['connecting', 'open', 'waiting', 'closed'],
  );
  connecting?.abort();
  open?.abort();
  waiting?.abort();
  body.isCancelled = true;
  for (const { states, clock, stream, asked } of runs) {
    t.strictSame(states.at(-1), { state: 'closed' });
    stream.close();
    await clock.advance(600_000);
    t.equal(clock.timers, 0, 'no timer is left');
    t.ok(asked.length <= 1, 'nothing more is asked');
    t.equal(states.filter(({ state }) => state === 'closed').length, 1, 'reported once');
  }
  for (const { signal } of controllers) t.equal(getEventListeners(signal, 'abort').length, 0);
});

t.test('closed from within onSample: no further sample', async (t) => {
  const around = surroundings();
  const samples: unknown[] = [];
  const stream = streamStatsIn(
    {
      url: 'http://pc:9990',
      onSample(sample) {
        samples.push(sample);
        stream.close();
      },
    },
    around.environment,
  );
  await settle();
  openStream(around.asked[0]).send(line(1) + line(2));
  await settle();
  t.equal(samples.length, 1);
  t.equal(around.clock.timers, 0);
});

t.test('an error that onSample throws is reported as uncaught, and costs no other sample', async (t) => {
  const thrown: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => thrown.push(error));
  t.teardown(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  });
  const samples: unknown[] = [];
  const { asked } = await start(t, {
    onSample(sample) {
      samples.push(sample);
      throw new Error('mine');
    },
  });
  openStream(asked[0]).send(line(1) + line(2));
  await settle();
  await settle();
  t.equal(samples.length, 2);
  t.match(thrown, [{ message: 'mine' }, { message: 'mine' }]);
});
