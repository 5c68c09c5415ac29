/** Streams that the engine sends against a simple model: thousands of random turns with slow, fast, coming and going subscribers. */
import process from 'node:process';
import t from 'tap';
import { Quota } from '#src/fairness/quota.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import type { Exchange, StreamStart } from '#src/http/engine.js';
import { UwsStream } from '#src/http/uws/stream.js';
import { type View, viewOf } from '#src/stats/view.js';
import { Streams } from '#src/streams/streams.js';
import { encodedOf } from '../helpers/fakes/encoded.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { FakeSource } from '../helpers/fakes/source.ts';
import { FakeResponse, unchunk } from '../helpers/fakes/stream.ts';
import { createRandom } from '../helpers/random.ts';

/** All of them take minutes: they run where HOSTWIRE_FULL is set. */
const SEEDS = process.env['HOSTWIRE_FULL'] === '1' ? 40 : 5;

const ALL = viewOf(31, false);
const NONE = viewOf(0, false);
const DETAIL = viewOf(0, true);

/** uWebSockets.js writes the line end of a chunk with the next one: the last one's is made up for. */
function receivedBy({ response }: Pick<Peer, 'response'>): Buffer {
  const { received, isEnded } = response;
  return Buffer.concat([...received, ...(isEnded || received.length === 0 ? [] : [Buffer.from('\r\n')])]);
}

interface Peer {
  readonly view: View;
  readonly response: FakeResponse;
  /** The newest number when it joined, and whether it skips the next. */
  readonly joinedAt: number;
  readonly skips: boolean;
  readonly client: number;
}

/** Streams whose time, turns and sockets the test controls. */
class Stage {
  readonly peers: Peer[] = [];
  readonly deferred: (() => void)[] = [];
  readonly source = new FakeSource();
  readonly counts = new ViewerCounts();
  readonly streams: Streams;
  /** The timers that are set: those of sweeps. */
  readonly #timers = new Set<() => void>();
  nowMs = 1_000_000;
  /** Milliseconds added to the clock at each look, which sets how fast slices are used up. */
  msPerLook = 0;
  number = 0;
  padding = 0;
  newest = encodedOf(0);

  constructor(limits: { readonly stallLimitSeconds?: number } = {}) {
    const now = () => {
      this.nowMs += this.msPerLook;
      return this.nowMs;
    };
    this.streams = new Streams({
      quota: new Quota(),
      counts: this.counts,
      clock: {
        now,
        sinceBoot: now,
        setTimer: (fire) => {
          this.#timers.add(fire);
          return fire;
        },
        clearTimer: (fire) => this.#timers.delete(fire as () => void), // Only what setTimer returned.
      },
      defer: (slice) => this.deferred.push(slice),
      ...limits,
    });
  }

  join(view: View, options: { kernelBytes?: number; skips?: boolean; client?: number } = {}): Peer {
    const { kernelBytes = 1 << 20, skips = false, client = 0 } = options;
    let socket: UwsStream | undefined;
    let handler: StreamStart['onEvent'] | undefined;
    const response = new FakeResponse({
      kernelBytes,
      onEvent: (offset) => {
        if (socket !== undefined) handler?.call(socket, offset);
      },
    });
    const exchange = {
      startStream(start: StreamStart) {
        socket = new UwsStream(response, start);
        handler = start.onEvent;
        let isWhole = true;
        response.cork(() => {
          isWhole = socket?.sendFirst(start.event) ?? true;
        });
        return { socket, isWhole };
      },
    };
    const peer = { view, response, joinedAt: this.number, skips, client };
    // Nothing else of an exchange is used.
    this.streams.open(this.source, view, {
      exchange: exchange as unknown as Exchange,
      headers: [],
      event: this.newest.event(view),
      caller: callerAt(`10.0.0.${client}`),
      skipsNext: skips,
    });
    this.peers.push(peer);
    return peer;
  }

  publish(): void {
    this.newest = encodedOf(++this.number, this.padding);
    this.source.publish(this.newest);
  }

  /** The time of the next sweep has come. */
  sweep(): void {
    for (const fire of [...this.#timers]) {
      this.#timers.delete(fire);
      fire();
    }
  }

  turn(): boolean {
    const slice = this.deferred.shift();
    slice?.();
    return slice !== undefined;
  }

  /** Runs until nothing is left to do: every peer reads, every slice runs. */
  settle(): void {
    for (let quiet = 0; quiet < 3; quiet++) {
      while (this.turn()) quiet = 0;
      for (const { response } of this.peers) {
        const before = response.received.length;
        if (!response.isClosed) response.read(1 << 30);
        if (response.received.length !== before) quiet = 0;
      }
    }
  }
}

/** The numbers of the whole events that `peer` got, each checked byte for byte; throws on anything torn. */
function numbersOf(peer: Peer, paddings: ReadonlyMap<number, number>): readonly number[] {
  const text = unchunk(receivedBy(peer)).body.toString();
  if (!text.endsWith('\n\n')) throw new Error('an event is cut short, or its chunk is incomplete');
  const events = text.split(/(?<=\n\n)/).filter((part) => part !== ':\n\n');
  return events.map((event) => {
    const number = Number(/^data: \{"timestamp":(\d+)/.exec(event)?.[1]);
    const whole = encodedOf(number, paddings.get(number) ?? 0)
      .event(peer.view)
      .toString();
    if (event !== whole) throw new Error(`event ${number} is torn: ${event.slice(0, 100)}`);
    return number;
  });
}

const strictlyRising = (numbers: readonly number[]) =>
  numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0));

t.test('random turns', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = createRandom(seed);
    const stage = new Stage({ stallLimitSeconds: Number.POSITIVE_INFINITY });
    stage.msPerLook = 1;
    const paddings = new Map<number, number>();
    const gone = new Set<Peer>();
    const pick = () => stage.peers[random.below(stage.peers.length)];
    const acts: readonly (() => void)[] = [
      () =>
        stage.join(random.pick([ALL, NONE, DETAIL]), {
          kernelBytes: random.pick([300, 5000, 20_000, 40_000, 1 << 20]),
          skips: random.below(4) === 0,
          client: random.below(10),
        }),
      () => {
        stage.padding = random.pick([0, 0, 12_000, 16_250, 16_310, 16_320, 20_000, 64_000]);
        paddings.set(stage.number + 1, stage.padding);
        stage.publish();
      },
      () => stage.turn(),
      () => stage.turn(),
      () => pick()?.response.read(1 + random.below(30_000)),
      () => pick()?.response.read(1 + random.below(3000)),
      () => pick()?.response.read(1 << 30),
      () => {
        const peer = pick();
        if (random.below(4) > 0 || peer === undefined || peer.response.isClosed) return;
        gone.add(peer);
        peer.response.abort();
      },
      () => stage.sweep(),
      () => {
        stage.nowMs += random.below(2000);
      },
    ];
    for (let i = 0; i < 3000; i++) random.pick(acts)();
    stage.settle();
    let most = 0;
    for (const peer of stage.peers) {
      most = Math.max(most, peer.response.mostKeptBytes);
      if (gone.has(peer)) continue;
      const numbers = numbersOf(peer, paddings);
      if (!strictlyRising(numbers)) t.fail(`seed ${seed}: not rising: ${numbers.join()}`);
      const newestDue = stage.number - (peer.skips && stage.number === peer.joinedAt + 1 ? 1 : 0);
      if (numbers.at(-1) !== newestDue) t.fail(`seed ${seed}: ended at ${numbers.at(-1)}, not ${newestDue}`);
      if (peer.skips && numbers.includes(peer.joinedAt + 1))
        t.fail(`seed ${seed}: a joiner got the tick that was near`);
    }
    const open = stage.peers.length - gone.size;
    if (stage.streams.size !== open) t.fail(`seed ${seed}: size ${stage.streams.size}, open ${open}`);
    const there = stage.peers.filter((peer) => !gone.has(peer));
    for (let client = 0; client < 10; client++) {
      const counted = stage.counts.places.of(`10.0.0.${client}`);
      const own = there.filter((peer) => peer.client === client).length;
      if (counted !== own) t.fail(`seed ${seed}: ${counted} streams of an address with ${own}`);
    }
    const views = new Set(there.map(({ view }) => view)).size;
    if (stage.source.size !== views)
      t.fail(`seed ${seed}: ${stage.source.size} subscriptions of ${views} views`);
    t.ok(most <= 2 * 16_400, `seed ${seed}: ${stage.peers.length} peers, at most ${most} bytes kept of one`);
  }
});

t.test('[4.encode-once] encoded once per view and sample; one send per subscriber', async (t) => {
  const stage = new Stage();
  const peers = Array.from({ length: 3000 }, (_, at) => stage.join(at % 2 === 0 ? ALL : NONE));
  stage.publish();
  stage.settle();
  t.equal(stage.newest.encodes, 2);
  t.ok(
    peers.every(({ response }) => response.sends === 2),
    'the first event and one more',
  );
});

t.test('samples during a distribution: all get the newest, even at the end of the lists', async (t) => {
  const stage = new Stage();
  stage.msPerLook = 10;
  for (let i = 0; i < 1000; i++) stage.join(ALL);
  const got = () => stage.peers.map(({ response }) => response.sends - 1);
  // As many new samples as slices: the distribution is always late.
  for (let i = 0; i < 200; i++) {
    stage.publish();
    stage.turn();
  }
  const counts = got();
  t.ok(Math.min(...counts) > 0, 'none starved');
  t.ok(
    Math.max(...counts) - Math.min(...counts) <= 1,
    `served in turn: ${Math.min(...counts)}–${Math.max(...counts)}`,
  );
  stage.settle();
  for (const peer of stage.peers) {
    const numbers = numbersOf(peer, new Map());
    if (numbers.at(-1) !== 200 || !strictlyRising(numbers)) t.fail(numbers.join());
  }
});

t.test(
  '[4.slow-skips] [4.slow-drained] a full socket skips, and gets the newest as soon as it drains',
  async (t) => {
    const stage = new Stage();
    const slow = stage.join(ALL, { kernelBytes: 200 });
    for (let i = 0; i < 20; i++) stage.publish();
    const frame = stage.newest.event(ALL).length + 16;
    t.ok(slow.response.bufferedBytes <= 2 * frame, `${slow.response.bufferedBytes} bytes kept`);
    const sendsBefore = slow.response.sends;
    stage.publish();
    t.equal(slow.response.sends, sendsBefore, 'not even tried while full');
    stage.settle();
    const numbers = numbersOf(slow, new Map());
    t.equal(numbers.at(-1), 21);
    t.ok(numbers.length < 10, `skipped most: ${numbers.join()}`);
  },
);

t.test('the rest of the newest event does not wait for the next one', async (t) => {
  const stage = new Stage();
  const slow = stage.join(ALL, { kernelBytes: 80 });
  stage.settle();
  stage.publish();
  stage.settle();
  t.same(numbersOf(slow, new Map()), [0, 1]);
  t.equal(slow.response.bufferedBytes, 0);
});

t.test('[4.long] comments come after 15 s of silence only, whole, and not to full sockets', async (t) => {
  const stage = new Stage();
  const early = stage.join(ALL);
  stage.nowMs += 10_000;
  const late = stage.join(ALL);
  const full = stage.join(ALL, { kernelBytes: 10 });
  stage.publish();
  stage.publish();
  const commentsOf = (peer: Peer) =>
    unchunk(receivedBy(peer))
      .body.toString()
      .split(/(?<=\n\n)/)
      .filter((part) => part === ':\n\n').length;
  const tendFor = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      stage.nowMs += 1000;
      stage.sweep();
      while (stage.turn());
    }
  };
  tendFor(14);
  early.response.read(1 << 20);
  t.equal(commentsOf(early), 0);
  tendFor(2);
  early.response.read(1 << 20);
  late.response.read(1 << 20);
  t.equal(commentsOf(early), 1);
  t.equal(commentsOf(late), 1);
  tendFor(13);
  early.response.read(1 << 20);
  t.equal(commentsOf(early), 1, 'the comment broke the silence');
  stage.settle();
  t.equal(commentsOf(full), 0);
});

t.test('a full socket that takes nothing for 30 s is cut', async (t) => {
  const stage = new Stage();
  const full = stage.join(ALL, { kernelBytes: 10 });
  stage.publish();
  stage.publish();
  for (let i = 0; i < 9; i++) {
    stage.nowMs += 3000;
    stage.sweep();
  }
  t.equal(full.response.isClosed, false);
  stage.nowMs += 4000;
  stage.sweep();
  t.equal(stage.streams.size, 0);
  stage.settle();
  t.equal(full.response.isClosed, true);
});

t.test('access checked again: subscribers without it are cut, the others lose nothing', async (t) => {
  const stage = new Stage();
  stage.msPerLook = 10;
  for (let i = 0; i < 500; i++) stage.join(ALL, { client: i % 3 });
  stage.publish();
  stage.turn();
  stage.streams.revalidate((client) => client.address !== '10.0.0.1');
  stage.settle();
  for (const peer of stage.peers) {
    if (peer.client === 1) t.ok(peer.response.isClosed);
    else if (numbersOf(peer, new Map()).join() !== '0,1') t.fail('a sample was lost');
  }
  t.equal(stage.streams.size, stage.peers.filter(({ client }) => client !== 1).length);
});

t.test('the end: every stream on a frame boundary, full ones and long events too', async (t) => {
  const stage = new Stage();
  for (let i = 0; i < 200; i++)
    stage.join(i % 2 === 0 ? ALL : DETAIL, { kernelBytes: i % 5 === 0 ? 300 : 1 << 20 });
  const paddings = new Map([[2, 20_000]]);
  for (const padding of [0, 20_000, 0]) {
    stage.padding = padding;
    stage.publish();
  }
  const full = stage.streams.close();
  t.ok(full > 0 && full <= 40, `${full} full`);
  stage.settle();
  for (const peer of stage.peers) {
    numbersOf(peer, paddings);
    if (!unchunk(receivedBy(peer)).isEnded) t.fail('a stream has no end');
  }
  t.equal(stage.streams.size, 0);
  t.equal(stage.source.size, 0);
});
