/** Requests over a client's socket: the message sent, the answer that settles them, and that nothing is sent twice. */
import { getEventListeners } from 'node:events';
import t from 'tap';
import type { Feedback, HostSocket } from '#src/client/client.js';
import { settle } from '../helpers/fakes/clock.ts';
import { openSocket, outcomeOf, startSocket } from './socket-setup.ts';

const feedback = (more: Partial<Feedback>): Feedback => ({
  success: true,
  action: 'x',
  message: 'It is so.',
  final: true,
  ...more,
});

type Row = readonly [name: string, ask: (socket: HostSocket) => Promise<unknown>, op: string, data: object];

/** Each command: the call, and the message that is sent for it. */
const COMMANDS: readonly Row[] = [
  ['media', (s) => s.media('play'), 'media', { action: 'play' }],
  [
    'media with a value',
    (s) => s.media('seek', { value: 12.5, player: 'vlc' }),
    'media',
    { action: 'seek', value: 12.5, player: 'vlc' },
  ],
  ['power', (s) => s.power('sleep'), 'power', { action: 'sleep' }],
  [
    'power with options',
    (s) => s.power('shutdown', { delay: 60, force: true }),
    'power',
    { action: 'shutdown', delay: 60, force: true },
  ],
  [
    'kill',
    (s) => s.processes.kill({ pid: 7, started_at: 1.5 }, { by: 'kill', tree: true, endsWithinMs: 100 }),
    'process_kill',
    { pid: 7, started_at: 1.5, signal: 'kill', tree: true, timeout_ms: 100 },
  ],
  ['kill by name', (s) => s.processes.kill({ name: 'vi' }), 'process_kill', { name: 'vi' }],
  [
    'launch',
    (s) => s.processes.launch('editor', { args: ['a'] }),
    'process_launch',
    { app: 'editor', args: ['a'] },
  ],
  ['wake', (s) => s.wake('nas'), 'wake', { host: 'nas' }],
];

/** The type of an answer is the op. */
const QUESTIONS: readonly Row[] = [
  ['list', (s) => s.processes.list(), 'process_list', {}],
  [
    'list with options',
    (s) => s.processes.list({ sort: 'name', limit: 5, query: 'ba', grouped: false, disk: true }),
    'process_list',
    { sort: 'name', limit: 5, query: 'ba', grouped: false, disk: true },
  ],
  ['history', (s) => s.history(), 'history', {}],
  [
    'history with options',
    (s) => s.history({ series: ['cpu.load'], since: -60, until: -1, step: 10 }),
    'history',
    { series: ['cpu.load'], since: -60, until: -1, step: 10 },
  ],
  ['processesAt', (s) => s.processesAt(-60), 'process_history', { at: -60 }],
  ['details', (s) => s.processes.details({ name: 'sh' }), 'process_details', { name: 'sh' }],
  ['details by pid', (s) => s.processes.details({ pid: 3 }), 'process_details', { pid: 3 }],
];

for (const [name, give, op, data] of COMMANDS) {
  const type = `${op.split('_')[0]}_feedback`;

  t.test(`${name}: resolves with the last feedback`, async (t) => {
    const { socket, newest } = await openSocket(t);
    const promise = give(socket);
    t.match(newest().last, { op, id: Number });
    t.strictSame(newest().last?.data, data);
    newest().answer(type, feedback({ final: false, stage: 'accepted' }));
    t.equal(await outcomeOf(promise), 'pending', 'not with a stage');
    newest().answer(type, feedback({ stage: 'done' }));
    t.strictSame(await outcomeOf(promise), feedback({ stage: 'done' }));
  });

  t.test(`${name}: rejects with the code of a failure, or of an error`, async (t) => {
    const { socket, newest, heard } = await openSocket(t);
    const failed = give(socket);
    newest().answer(type, feedback({ success: false, code: 'CONFLICT', message: 'Another one.' }));
    t.match(await outcomeOf(failed), {
      name: 'ClientError',
      code: 'CONFLICT',
      message: 'Another one.',
      details: { success: false },
    });
    const refused = give(socket);
    newest().answer('error', { code: 'FEATURE_DISABLED', message: 'It is off.' });
    t.match(await outcomeOf(refused), { code: 'FEATURE_DISABLED', message: 'It is off.' });
    t.strictSame(heard.slice(1), [], 'answers go to the caller, not to listeners');
  });

  t.test(`${name}: pending when the connection is lost: rejects, and is never sent again`, async (t) => {
    const { socket, newest, made, clock } = await openSocket(t);
    const promise = give(socket);
    newest().answer(type, feedback({ final: false, stage: 'running' }));
    newest().break();
    t.match(await outcomeOf(promise), { code: 'connection_lost' });
    await clock.advance(250);
    t.equal(made.length, 2);
    newest().greet();
    await clock.advance(30_000);
    t.strictSame(
      newest().sent.filter((sent) => sent.op === op),
      [],
    );
  });

  t.test(`${name}: not kept for later while the connection is lost`, async (t) => {
    const { socket, newest, clock } = await openSocket(t);
    newest().break();
    t.match(await outcomeOf(give(socket)), { code: 'not_connected' });
    await clock.advance(250);
    t.match(await outcomeOf(give(socket)), { code: 'not_connected' }, 'also while it is made again');
    newest().greet();
    t.strictSame(newest().sent, []);
  });
}

for (const [name, ask, op, data] of QUESTIONS)
  t.test(`${name}: resolves with its answer; waits for the connection; is not asked again`, async (t) => {
    const { socket, newest, clock } = await startSocket(t);
    const promise = ask(socket);
    t.strictSame(newest().sent, []);
    newest().greet();
    t.match(newest().last, { op });
    t.strictSame(newest().last?.data, data);
    newest().say(op, { not: 'mine' });
    newest().say(op, { not: 'mine' }, 999);
    t.equal(await outcomeOf(promise), 'pending', 'only by the answer to it');
    newest().answer(op, { a: 1 });
    t.strictSame(await outcomeOf(promise), { a: 1 });
    const lost = ask(socket);
    newest().break();
    t.match(await outcomeOf(lost), { code: 'connection_lost' });
    const waiting = ask(socket);
    await clock.advance(500);
    newest().greet();
    t.strictSame(
      newest().sent.map((sent) => sent.op),
      [op],
    );
    newest().answer(op, { b: 2 });
    t.strictSame(await outcomeOf(waiting), { b: 2 });
  });

t.test('the first command waits for the first connection', async (t) => {
  const { socket, newest } = await startSocket(t);
  const promise = socket.media('next');
  newest().greet();
  t.match(newest().last, { op: 'media', data: { action: 'next' } });
  newest().answer('media_feedback', feedback({}));
  t.match(await outcomeOf(promise), { success: true });
});

t.test('stages are passed on as they arrive, also when the listener throws', async (t) => {
  const { socket, newest } = await openSocket(t);
  const stages: (string | undefined)[] = [];
  const promise = socket.power('sleep', { onStage: ({ stage }) => stages.push(stage) });
  newest().answer('power_feedback', feedback({ final: false, stage: 'accepted' }));
  newest().answer('power_feedback', feedback({ final: false, stage: 'running' }));
  newest().answer('power_feedback', feedback({ stage: 'cancelled', success: false, code: 'CONFLICT' }));
  t.strictSame(stages, ['accepted', 'running']);
  t.match(await outcomeOf(promise), { code: 'CONFLICT', details: { stage: 'cancelled' } });
});

t.test('get collects one message per topic', async (t) => {
  const { socket, newest, heard } = await openSocket(t);
  const promise = socket.get(['stats.cpu', 'memory', 'media', 'power', 'processes'], { detail: true });
  t.strictSame(newest().last?.data, {
    topics: ['stats.cpu', 'memory', 'media', 'power', 'processes'],
    detail: true,
  });
  newest().answer('media_update', { status: 'idle' });
  newest().answer('system_stats', { timestamp: 1, cpu: 1 });
  newest().answer('process_list', { total_count: 2 });
  newest().answer('power_update', { pending: null });
  t.equal(await outcomeOf(promise), 'pending', 'each name has an answer of its own');
  newest().answer('system_stats', { timestamp: 1, memory: 2 });
  t.strictSame(await outcomeOf(promise), {
    stats: { timestamp: 1, cpu: 1, memory: 2 },
    media: { status: 'idle' },
    processes: { total_count: 2 },
    power: { pending: null },
  });
  t.strictSame(heard.slice(1), []);
  t.strictSame(await socket.get([]), {});
});

t.test(
  'get rejects after the last answer if one is an error, and immediately if the whole request failed',
  async (t) => {
    const { socket, newest, heard } = await openSocket(t);
    const some = socket.get(['processes', 'media']);
    newest().answer('error', { code: 'FEATURE_DISABLED', message: 'off', details: { topic: 'processes' } });
    t.equal(await outcomeOf(some), 'pending');
    newest().answer('media_update', { status: 'idle' });
    t.match(await outcomeOf(some), { code: 'FEATURE_DISABLED', details: { topic: 'processes' } });
    const all = socket.get(['processes', 'media']);
    newest().answer('error', { code: 'RATE_LIMITED', message: 'wait' });
    t.match(await outcomeOf(all), { code: 'RATE_LIMITED' });
    t.strictSame(heard.slice(1), []);
  },
);

t.test('a question that fails is answered with feedback, or an error', async (t) => {
  const { socket, newest } = await openSocket(t);
  const details = socket.processes.details({ pid: 99 });
  newest().answer('process_feedback', feedback({ success: false, code: 'NOT_FOUND', action: 'details' }));
  t.match(await outcomeOf(details), { code: 'NOT_FOUND' });
  const list = socket.processes.list();
  newest().answer('error', { code: 'FEATURE_DISABLED', message: 'off' });
  t.match(await outcomeOf(list), { code: 'FEATURE_DISABLED' });
});

t.test('ping returns the round-trip time', async (t) => {
  const { socket, newest, clock } = await openSocket(t);
  const promise = socket.ping();
  await clock.advance(7);
  newest().answer('pong', {});
  t.equal(await outcomeOf(promise), 7);
});

t.test(
  "a request has a limit: its own, the socket's, or 10 s; and what the command may take on top",
  async (t) => {
    for (const [ask, limitMs, timeoutMs] of [
      [(s) => s.ping(), 10_000],
      [(s) => s.media('play'), 10_000],
      [(s) => s.media('play', { timeoutMs: 50 }), 50],
      [(s) => s.media('play'), 700, 700],
      [(s) => s.power('sleep', { delay: 3600 }), 3_610_000],
      [(s) => s.processes.kill({ pid: 2 }), 13_000],
      [(s) => s.processes.kill({ pid: 2 }, { endsWithinMs: 60_000, timeoutMs: 1000 }), 61_000],
      [(s) => s.get(['stats']), 10_000],
    ] satisfies [(socket: HostSocket) => Promise<unknown>, number, number?][]) {
      const { socket, newest, clock } = await openSocket(t, { timeoutMs });
      const promise = ask(socket);
      promise.catch(() => undefined);
      for (let left = limitMs - 1; left > 0; left -= 20_000) {
        await clock.advance(Math.min(left, 20_000));
        newest().say('pong', {});
      }
      t.equal(await outcomeOf(promise), 'pending', `${limitMs} ms`);
      await clock.advance(1);
      t.match(await outcomeOf(promise), { code: 'timeout' });
    }
  },
);

t.test('the limit also applies while there is no connection', async (t) => {
  const { socket, clock } = await startSocket(t);
  const promise = socket.processes.list({ timeoutMs: 2000 });
  promise.catch(() => undefined);
  await clock.advance(1999);
  t.equal(await outcomeOf(promise), 'pending');
  await clock.advance(1);
  t.match(await outcomeOf(promise), { code: 'timeout' });
});

t.test('after the limit, feedback of a command goes to listeners, and an answer is dropped', async (t) => {
  const { socket, newest, clock, heard } = await openSocket(t);
  const promise = socket.power('sleep', { timeoutMs: 10 });
  promise.catch(() => undefined);
  await clock.advance(10);
  t.match(await outcomeOf(promise), { code: 'timeout' });
  newest().answer('power_feedback', feedback({ stage: 'done' }));
  t.strictSame(heard.slice(1), [['power_feedback', feedback({ stage: 'done' })]]);
  const question = socket.get(['stats', 'media'], { timeoutMs: 10 });
  question.catch(() => undefined);
  await clock.advance(10);
  newest().answer('system_stats', { timestamp: 1 });
  newest().answer('error', { code: 'FEATURE_DISABLED', message: 'off' });
  t.equal(heard.length, 2);
});

t.test(
  'a signal rejects with its reason, before and after the request was sent, and is released',
  async (t) => {
    const { socket, newest, clock } = await openSocket(t);
    const controller = new AbortController();
    const { signal } = controller;
    const asked = [
      socket.media('play', { signal }),
      socket.ping({ signal }),
      socket.get(['media'], { signal }),
    ];
    const answered = socket.processes.list({ signal });
    newest().answer('process_list', { total_count: 1 });
    await answered;
    const reason = new Error('mine');
    for (const promise of asked) promise.catch(() => undefined);
    controller.abort(reason);
    for (const promise of asked) t.equal(await outcomeOf(promise), reason);
    const sent = newest().sent.length;
    t.equal(await outcomeOf(socket.media('play', { signal })), reason);
    t.equal(newest().sent.length, sent, 'nothing is sent for one that is aborted already');
    t.equal(getEventListeners(signal, 'abort').length, 0);
    t.equal(clock.timers, 1, 'the watchdog is left');
  },
);

t.test("a message over the service's limit is not sent", async (t) => {
  const { socket, newest } = await openSocket(t);
  const promise = socket.processes.launch('x', { args: ['é'.repeat(8 * 1024)] });
  t.match(await outcomeOf(promise), { code: 'too_large' });
  t.strictSame(newest().sent, []);
  void socket.processes.launch('x', { args: ['é'.repeat(8 * 1024 - 60)] }).catch(() => undefined);
  t.equal(newest().sent.length, 1);
});

t.test('close() rejects everything pending, immediately and for good', async (t) => {
  const { socket, newest, clock, made } = await openSocket(t);
  const waiting = [socket.ping(), socket.media('play'), socket.subscribe(['stats'])];
  socket.close();
  waiting.push(socket.ping(), socket.power('lock'), socket.subscribe(['media']), socket.unsubscribe());
  for (const promise of waiting) promise.catch(() => undefined);
  for (const promise of waiting) t.match(await outcomeOf(promise), { code: 'closed' });
  t.equal(newest().isClosed, true);
  await clock.advance(600_000);
  t.equal(made.length, 1);
  t.equal(clock.timers, 0);
  await settle();
});
