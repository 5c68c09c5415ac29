/** What is sent to a target, and when: each rule by a clock that the test owns. */
import t from 'tap';
import type { Outcome } from '#src/notify/target.js';
import { settle } from '../helpers/fakes/clock.ts';
import { createRandom } from '../helpers/random.ts';
import { type BenchOptions, lineOf, makeBench } from './bench.ts';
import { begins, down, ends } from './events.ts';

const failed = (pauseMs = 0): Outcome => ({ kind: 'failed', reason: 'nothing listens there', pauseMs });
const refused: Outcome = { kind: 'refused', reason: 'it refuses a message (400)' };
const REPEATED: BenchOptions = { entry: { type: 'alertmanager', min_severity: 'warning' } };

type Bench = ReturnType<typeof makeBench>;
/** An event at a second, and what has been sent since the row before when the second is over. */
type Step = readonly [second: number, act: (bench: Bench) => void, sent: readonly string[]];

const disk = begins('Disk');
const hot = begins('Hot');
const later = { ...begins('Disk'), begin: disk.begin + 300 };
const pcDown = down();
const put =
  (...events: readonly ReturnType<typeof begins>[]) =>
  ({ delivery }: Bench) =>
    events.forEach((event) => void delivery.take(event));
const nothing = () => undefined;

const mute =
  (rule: string, isMuted = true) =>
  ({ mutes }: Bench) => {
    mutes.muted[isMuted ? 'add' : 'delete'](rule);
    mutes.change();
  };

const RULES: readonly (readonly [name: string, options: BenchOptions, steps: readonly Step[]])[] = [
  [
    'a beginning is held back, then sent once, and its end at once',
    {},
    [
      [0, put(disk), []],
      [29, nothing, []],
      [30, nothing, ['begin Disk']],
      [300, put(disk), []],
      [301, put(ends(disk, 301)), ['end Disk']],
      [9000, put(ends(disk, 400)), []],
    ],
  ],
  [
    'what is muted is not sent; what still lasts afterwards is, and others are not held up',
    {},
    [
      [0, mute('Disk'), []],
      [1, put(disk, hot), []],
      [31, nothing, ['begin Hot']],
      [500, mute('Disk', false), ['begin Disk']],
    ],
  ],
  [
    'what begins and ends while it is muted is never sent; an end is sent when that is over',
    {},
    [
      [0, put(hot), []],
      [30, nothing, ['begin Hot']],
      [40, mute('Disk'), []],
      [41, mute('Hot'), []],
      [42, put(disk, ends(hot, 42)), []],
      [500, put(ends(disk, 500)), []],
      [600, mute('Disk', false), []],
      [601, mute('Hot', false), ['end Hot']],
    ],
  ],
  [
    'Alertmanager is told that a muted alert lasts, because it would take silence for its end',
    REPEATED,
    [
      [0, put(disk), []],
      [30, nothing, ['begin Disk']],
      [40, mute('Disk'), []],
      [90, nothing, ['lasts Disk']],
      [100, put(ends(disk, 100)), ['end Disk']],
    ],
  ],
  [
    'what ends while it is held back is one message',
    {},
    [
      [0, put(disk), []],
      [12, put(ends(disk, 12)), ['was Disk']],
      [100, nothing, []],
    ],
  ],
  [
    'an end without a beginning is not sent',
    {},
    [
      [0, put(ends(disk)), []],
      [100, nothing, []],
    ],
  ],
  [
    'below the lowest severity nothing is sent',
    { entry: { type: 'ntfy', min_severity: 'critical' } },
    [
      [0, put(disk, begins('Bad', { severity: 'critical' })), []],
      [31, nothing, ['begin Bad']],
      [32, put(ends(disk)), []],
    ],
  ],
  [
    'a machine that is down is one message after the grace time, and silences the others',
    {},
    [
      [0, put(hot), []],
      [31, nothing, ['begin Hot']],
      [40, put(disk, begins('Fan'), pcDown, begins('Late')), []],
      [99, put(ends(begins('Fan'))), []],
      [100, nothing, ['begin machine_down']],
      [200, put(ends(hot)), []],
      [300, put(ends(pcDown)), ['end Hot', 'end machine_down']],
      [310, put(ends(begins('Late'))), ['was Late']],
      [330, nothing, ['begin Disk']],
      [340, put(ends(disk)), ['end Disk']],
    ],
  ],
  [
    'a machine that is back within the grace time was never down',
    {},
    [
      [0, put(pcDown, hot), []],
      [59, put(ends(pcDown, 59)), []],
      [89, nothing, ['begin Hot']],
      [9000, nothing, []],
    ],
  ],
  [
    'only its own events are silenced',
    {},
    [
      [0, put(down('nas'), hot), []],
      [31, nothing, ['begin Hot']],
      [61, nothing, ['begin machine_down']],
    ],
  ],
  [
    'a second outage of the same rule follows the end of the first',
    { limits: { batch_seconds: 0 } },
    [
      [0, put(disk), ['begin Disk']],
      [1, put(ends(disk, 1), later), ['end Disk', 'begin Disk']],
      [2, put(ends(later, 1)), ['end Disk']],
    ],
  ],
  [
    'to Alertmanager a beginning is sent again every minute until its end',
    REPEATED,
    [
      [0, put(disk), []],
      [31, nothing, ['begin Disk']],
      [90, nothing, ['lasts Disk']],
      [150, nothing, ['lasts Disk']],
      [170, put(ends(disk)), ['end Disk']],
      [900, nothing, []],
    ],
  ],
  [
    'to Alertmanager it is sent again while its machine is down too: silence would be its end',
    REPEATED,
    [
      [0, put(disk), []],
      [31, put(pcDown), ['begin Disk']],
      [90, nothing, ['lasts Disk']],
      [91, nothing, ['begin machine_down']],
      [100, put(ends(disk)), ['end Disk']],
    ],
  ],
];

for (const [name, options, steps] of RULES)
  t.test(name, async (t) => {
    const bench = makeBench(options);
    let now = 0;
    for (const [second, act, wanted] of steps) {
      await bench.seconds(second - now);
      now = second;
      act(bench);
      await bench.seconds(0);
      t.same(bench.take(), wanted, `at ${second} s`);
    }
    bench.delivery.close();
    t.equal(bench.clock.timers, 0, 'no timer is left');
  });

t.test('a target that fails is tried again with growing pauses, with one line in the log', async (t) => {
  const at: number[] = [];
  let isUp = false;
  const bench = makeBench({
    answer: () => {
      at.push(bench.clock.now());
      return isUp ? { kind: 'sent' } : failed();
    },
    limits: { batch_seconds: 0 },
  });
  bench.delivery.take(disk);
  await bench.seconds(3600);
  const pauses = at.slice(1).map((each, index) => (each - (at[index] ?? 0)) / 1000);
  t.same(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900], 'to a quarter of an hour');
  const ids = new Set(bench.attempts.map(({ id }) => id));
  t.equal(ids.size, 1, 'each attempt has the same id');
  bench.delivery.take(ends(disk, 3700));
  isUp = true;
  await bench.seconds(900);
  t.same(bench.take(), ['was Disk'], 'what has ended meanwhile is one message');
  t.same(bench.lines, [
    'warn notify.targets.phone: nothing listens there; messages are kept and sent again',
    'info notify.targets.phone: messages are accepted again',
  ]);
});

t.test('Retry-After is honoured where it is longer than the pause', async (t) => {
  let count = 0;
  const bench = makeBench({ answer: () => (count++ === 0 ? failed(120_000) : { kind: 'sent' }) });
  bench.delivery.take(disk);
  await bench.seconds(149);
  t.same(bench.take(), []);
  await bench.seconds(2);
  t.same(bench.take(), ['begin Disk']);
});

t.test('a message that is refused is not sent again, and has no end', async (t) => {
  const bench = makeBench({
    answer: ({ labels }) => (labels['alertname'] === 'Disk' ? refused : { kind: 'sent' }),
  });
  bench.delivery.take(disk);
  bench.delivery.take(hot);
  await bench.seconds(31);
  bench.delivery.take(ends(disk));
  bench.delivery.take(ends(hot));
  await bench.seconds(3600);
  t.same(bench.attempts.map(lineOf), ['begin Disk', 'begin Hot', 'end Hot']);
  t.match(bench.lines[0], 'it refuses a message (400); such messages are dropped');
});

t.test('410 switches a target off', async (t) => {
  const bench = makeBench({ answer: () => ({ kind: 'gone', reason: 'it wants no more messages (410)' }) });
  bench.delivery.take(disk);
  bench.delivery.take(hot);
  await bench.seconds(31);
  bench.delivery.take(begins('Fan'));
  await bench.seconds(3600);
  t.equal(bench.attempts.length, 1);
  t.same(bench.delivery.kept.outages, []);
  t.same(bench.lines, [
    'warn notify.targets.phone: it wants no more messages (410), so it is off until the configuration changes',
  ]);
});

t.test('an end that arrives while its beginning is on its way follows it', async (t) => {
  for (const [isAccepted, wanted] of [
    [true, ['begin Disk', 'end Disk']],
    [false, ['was Disk']],
  ] as const) {
    let finish: (outcome: Outcome) => void = nothing;
    const hanging = new Promise<Outcome>((resolve) => {
      finish = resolve;
    });
    let count = 0;
    const bench = makeBench({
      answer: () => (count++ > 0 ? { kind: 'sent' } : hanging),
    });
    bench.delivery.take(disk);
    await bench.seconds(31);
    bench.delivery.take(ends(disk));
    await bench.seconds(5);
    t.same(bench.attempts.map(lineOf), ['begin Disk'], 'one message at a time');
    finish(isAccepted ? { kind: 'sent' } : failed());
    await settle();
    await bench.seconds(6);
    t.same(bench.take(), wanted);
  }
});

t.test(
  'the last message of an hour counts the rest: 10,000 events in one moment are 20 messages',
  async (t) => {
    const bench = makeBench();
    const events = Array.from({ length: 10_000 }, (_, at) => begins(`Rule${at}`));
    for (const event of events) bench.delivery.take(event);
    await bench.seconds(31);
    const sent = bench.take();
    t.equal(sent.length, 20);
    t.match(
      sent.at(-1),
      'rest: 9981 more events are not sent (9981 began, 0 ended): the limit is 20 messages per hour.',
    );
    t.ok(bench.delivery.kept.outages.length <= 1000, 'the queue is bounded');
    for (const event of events) bench.delivery.take(ends(event));
    await bench.seconds(3600);
    const ended = bench.take();
    t.equal(ended.length, 19, 'an end for each beginning that was sent, in the next hour');
    t.ok(ended.every((line) => line.startsWith('end ')));
  },
);

t.test(
  'within the limit of an hour nothing is counted, and what waits is sent when there is room',
  async (t) => {
    const bench = makeBench({ limits: { max_per_hour: 3, batch_seconds: 0 } });
    for (const name of ['A', 'B', 'C']) {
      bench.delivery.take(begins(name));
      await bench.seconds(60);
    }
    t.same(bench.take(), ['begin A', 'begin B', 'begin C']);
    bench.delivery.take(begins('D'));
    await bench.seconds(3500 - 180);
    t.same(bench.take(), []);
    await bench.seconds(200);
    t.same(bench.take(), ['begin D']);
  },
);

t.test('1,000 outages: one beginning and one end for each and per target, in order', async (t) => {
  const random = createRandom(49);
  for (const type of ['ntfy', 'alertmanager'] as const) {
    const bench = makeBench({
      entry: { type, min_severity: 'info' },
      limits: { max_per_hour: 10_000, grace_seconds: 5, batch_seconds: 5 },
      answer: () => (random.below(10) === 0 ? failed(1000) : { kind: 'sent' }),
    });
    const open: ReturnType<typeof begins>[] = [];
    for (let count = 0; count < 1000; ) {
      if (random.below(2) === 0 && open.length < 200) {
        const event = begins(`R${count}`, { machine: `m${random.below(5)}` });
        bench.delivery.take(event);
        open.push(event);
        count++;
      } else if (open.length > 0) {
        const [event] = open.splice(random.below(open.length), 1);
        if (event !== undefined) bench.delivery.take(ends(event, 1 + random.below(100)));
      }
      await bench.seconds(random.below(3));
    }
    for (const event of open) bench.delivery.take(ends(event));
    await bench.seconds(100_000);
    const stages = new Map<string, string[]>();
    for (const { labels, stage } of bench.sent)
      if (stage !== 'lasts')
        stages.set(labels['alertname'] ?? '', [...(stages.get(labels['alertname'] ?? '') ?? []), stage]);
    t.equal(stages.size, 1000);
    const wrong = [...stages].filter(([, each]) => each.join() !== 'begin,end' && each.join() !== 'was');
    t.same(wrong, []);
    t.ok([...stages.values()].filter((each) => each.length === 2).length > 300, 'many of them were long');
    t.equal(
      new Set(bench.sent.filter(({ stage }) => stage !== 'lasts').map(({ id }) => id)).size,
      bench.sent.filter(({ stage }) => stage !== 'lasts').length,
      'no id twice',
    );
    t.same(bench.delivery.kept.outages, [], 'nothing is left');
  }
});

t.test('an outage of the last run that is not reported any more ends', async (t) => {
  const first = makeBench();
  first.delivery.take(disk);
  first.delivery.take(hot);
  await first.seconds(31);
  first.delivery.close();
  const next = makeBench({ kept: JSON.parse(JSON.stringify(first.delivery.kept)), open: [hot] });
  await next.seconds(899);
  t.same(next.take(), [], 'nothing is sent twice');
  await next.seconds(2);
  t.same(next.take(), ['end Disk']);
  next.delivery.take(ends(hot));
  await next.seconds(1);
  t.same(next.take(), ['end Hot']);
});

t.test('a message that is answered while the service stops is not sent again', async (t) => {
  let accept = (): void => undefined;
  const answer = () =>
    new Promise<Outcome>((resolve) => {
      accept = () => resolve({ kind: 'sent' });
    });
  const first = makeBench({ answer });
  first.delivery.take(disk);
  await first.seconds(31);
  const closed = first.delivery.close(60_000);
  accept();
  await closed;
  const next = makeBench({ kept: first.delivery.kept, open: [disk] });
  await next.seconds(31);
  t.same(next.take(), []);
});

t.test('a machine that was down before a restart, and is not after it, is up within a minute', async (t) => {
  const first = makeBench();
  first.delivery.take(down('nas'));
  first.delivery.take(disk);
  await first.seconds(61);
  t.same(first.take(), ['begin Disk', 'begin machine_down']);
  const next = makeBench({ kept: JSON.parse(JSON.stringify(first.delivery.kept)) });
  await next.seconds(59);
  t.same(next.take(), []);
  await next.seconds(2);
  t.same(next.take(), ['end machine_down']);
  next.delivery.take(down('nas'));
  await next.seconds(61);
  t.same(next.take(), ['begin machine_down'], 'another outage');
});

t.test('a queue that is kept over 100 stops loses nothing and doubles nothing', async (t) => {
  const random = createRandom(7);
  const received: string[] = [];
  let kept = makeBench().delivery.kept;
  const wanted: string[] = [];
  const open: ReturnType<typeof begins>[] = [];
  for (let stop = 0; stop < 100; stop++) {
    const bench = makeBench({ kept, open, limits: { batch_seconds: 2, max_per_hour: 10_000 } });
    for (let at = 0; at < 3; at++) {
      const event = begins(`S${stop}-${at}`);
      bench.delivery.take(event);
      open.push(event);
      await bench.seconds(random.below(4));
      if (random.below(2) === 0 && open.length > 0) {
        const [gone] = open.splice(random.below(open.length), 1);
        if (gone !== undefined) bench.delivery.take(ends(gone));
        wanted.push(gone?.subject ?? '');
      }
    }
    received.push(...bench.sent.map(({ id }) => id));
    names.push(...bench.sent.map(lineOf));
    kept = JSON.parse(JSON.stringify(bench.delivery.kept));
    bench.delivery.close();
  }
  const last = makeBench({ kept, open, limits: { batch_seconds: 2, max_per_hour: 10_000 } });
  for (const event of open) last.delivery.take(ends(event));
  await last.seconds(1000);
  names.push(...last.sent.map(lineOf));
  received.push(...last.sent.map(({ id }) => id));
  t.equal(new Set(received).size, received.length, 'no message twice');
  const complete = Array.from({ length: 300 }, (_, at) => `S${Math.floor(at / 3)}-${at % 3}`).filter(
    (name) =>
      names.includes(`was ${name}`) !== (names.includes(`begin ${name}`) && names.includes(`end ${name}`)),
  );
  t.equal(complete.length, 300, 'each outage has a beginning and an end, or is one message');
});

const names: string[] = [];
