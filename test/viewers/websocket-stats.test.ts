/** Stats and events for sockets: few sockets per turn, each sample once, the newest to sockets that are full. */
import t, { type Test } from 'tap';
import type { Exchange, Socket, SocketEvents } from '#src/http/engine.js';
import { type Encoded, type View, viewOf } from '#src/stats/view.js';
import {
  SampleBroadcast,
  type SampleMember,
  type Shard,
  ShardQueue,
} from '#src/viewers/socket/sample-broadcast.js';
import { SocketClient } from '../helpers/clients/socket.ts';
import { encodedOf } from '../helpers/fakes/encoded.ts';
import { FAKE_EVENT } from '../helpers/fakes/history.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { serveSockets } from '../helpers/service/socket-server.ts';
import { until } from '../helpers/until.ts';

const VIEW = viewOf(1, false);
const MAX_PER_TURN = 255;

const createMember = (): SampleMember => ({
  isNamed: false,
  isFull: false,
  begin: () => undefined,
  missSample: () => undefined,
});

/** Shards whose turns a test runs one by one. */
class Rig {
  readonly sizes = new Map<string, Shard>();
  readonly #slices: (() => void)[] = [];
  /** Topic → the samples that were published to it. */
  readonly got = new Map<string, number[]>();
  /** How many sockets were written to in this turn. */
  written = 0;
  #topics = 0;
  readonly #defer = (slice: () => void) => this.#slices.push(slice);
  readonly #machine = {
    id: 'pc',
    subscribe: () => ({ newest: () => undefined, end: () => undefined }),
  } as unknown as SampleBroadcast['machine']; // Nothing else of it is used.
  readonly #deps = {
    createTopic: () => `stats ${++this.#topics}`,
    tracksMembers: false,
    counters: { sent: 0 },
    publisher: {
      publish: (topic: string, bytes: Buffer) => {
        const { timestamp } = JSON.parse(String(bytes)).data;
        this.got.set(topic, [...(this.got.get(topic) ?? []), timestamp]);
        this.written += this.sizes.get(topic)?.size ?? 0;
      },
    },
    queue: new ShardQueue(this.#defer),
    now: () => 0,
    defer: this.#defer,
  };
  readonly #broadcasts = new Map<View, SampleBroadcast>();

  join(count: number, view = VIEW): readonly { readonly shard: Shard; readonly member: SampleMember }[] {
    const broadcast = this.#broadcasts.get(view) ?? new SampleBroadcast(this.#machine, view, 0, this.#deps);
    this.#broadcasts.set(view, broadcast);
    return Array.from({ length: count }, () => {
      const member = createMember();
      const shard = broadcast.join(member);
      this.sizes.set(shard.topic, shard);
      return { shard, member };
    });
  }

  publish(encoded: Encoded): void {
    this.written = 0;
    for (const broadcast of this.#broadcasts.values()) broadcast.publish(encoded);
  }

  /** Runs the next turn; returns false when there is none. */
  turn(): boolean {
    const slice = this.#slices.shift();
    this.written = 0;
    slice?.();
    return slice !== undefined;
  }
}

t.test('[7.shards] ten thousand sockets of many views: a part of them per turn, each once', async (t) => {
  const rig = new Rig();
  for (let i = 0; i < 40; i++) rig.join(250, viewOf(i % 32, i % 2 === 0));
  rig.publish(encodedOf(1));
  const written = [rig.written];
  while (rig.turn()) written.push(rig.written);
  t.ok(Math.max(...written) <= MAX_PER_TURN, `${Math.max(...written)} at most`);
  t.equal(
    written.reduce((sum, each) => sum + each, 0),
    10_000,
  );
  t.ok(
    [...rig.got.values()].every((numbers) => numbers.join() === '1'),
    'none twice',
  );
  t.equal(
    [...rig.sizes.values()].reduce((sum, { size }) => sum + size, 0),
    10_000,
  );
});

t.test('[7.shards] a sample that arrives while one is sent replaces it; all get the newest', async (t) => {
  const rig = new Rig();
  rig.join(1000);
  rig.publish(encodedOf(1));
  rig.turn();
  rig.publish(encodedOf(2));
  rig.turn();
  rig.publish(encodedOf(3));
  while (rig.turn());
  for (const numbers of rig.got.values()) {
    t.equal(numbers.at(-1), 3);
    t.equal(new Set(numbers).size, numbers.length, 'no sample twice');
  }
  t.equal(rig.got.size, rig.sizes.size);
});

t.test('[7.shards] a socket that joins has the newest sample: it is not sent again', async (t) => {
  const rig = new Rig();
  rig.join(600);
  rig.publish(encodedOf(1));
  const [late] = rig.join(1);
  while (rig.turn());
  t.notOk(
    rig.got.get(late?.shard.topic ?? '')?.includes(1) && rig.sizes.get(late?.shard.topic ?? '')?.size === 1,
  );
  rig.publish(encodedOf(2));
  while (rig.turn());
  t.equal(rig.got.get(late?.shard.topic ?? '')?.at(-1), 2);
});

t.test('a socket that has left is not written to, and its shard is filled again', async (t) => {
  const rig = new Rig();
  const joined = rig.join(300);
  for (const { shard, member } of joined) shard.broadcast.leave(shard, member);
  rig.publish(encodedOf(1));
  while (rig.turn());
  t.equal(rig.got.size, 0);
  const [first, second] = rig.join(2);
  t.equal(first?.shard, second?.shard);
});

t.test(
  '[7.shards] over real sockets: every sample once, in order, also to sockets that join during a distribution',
  async (t) => {
    const topics = new Set<string>();
    const { port, publish, views } = await serveSockets(t, { onPublish: (topic) => topics.add(topic) });
    const clients: SocketClient[] = [];
    const join = async (count: number) => {
      const joined = await Promise.all(Array.from({ length: count }, () => SocketClient.open(port)));
      for (const client of joined) client.say('subscribe', { topics: ['cpu'] });
      clients.push(...joined);
      t.teardown(() => joined.forEach((client) => client.cut()));
      return joined;
    };
    await join(300);
    await Promise.all(clients.map((client) => client.take('system_stats')));
    let last = 0;
    for (let round = 0; round < 10; round++) {
      const joining = join(5);
      last = publish();
      await joining;
    }
    await Promise.all(clients.map((client) => client.take(({ data }) => data['timestamp'] === last)));
    for (const client of clients) await client.settle();
    const wrong = clients.filter(({ told }) => {
      const numbers = told
        .filter(({ type }) => type === 'system_stats')
        .map(({ data }) => Number(data['timestamp']));
      return numbers.some((number, i) => i > 0 && number !== Number(numbers[i - 1]) + 1);
    });
    t.equal(wrong.length, 0, 'none is missing, none comes twice');
    t.ok(topics.size >= 3, `${topics.size} shards for 350 sockets`);
    t.strictSame(views(), [VIEW], 'read once for all');
    for (const client of clients) client.cut();
    await until(() => views().length === 0, 'the demand goes with them');
  },
);

class FakeSocket {
  isOpen = true;
  isFull = false;
  readonly sent: string[] = [];
  send(text: string): void {
    this.sent.push(text);
  }
  readonly join = () => undefined;
  readonly leave = () => undefined;
  readonly end = () => undefined;
}

async function openSocket(t: Test) {
  const server = await serveSockets(t);
  const socket = new FakeSocket();
  let events: SocketEvents | undefined;
  const exchange = {
    startSocket: (given: SocketEvents) => {
      events = given;
      return socket as unknown as Socket; // The hub uses no other method here.
    },
  };
  server.open(exchange as unknown as Exchange, callerAt('127.0.0.1')); // As above.
  const say = (op: string, data: object) =>
    events?.onMessage(Buffer.from(JSON.stringify({ op, data })), false);
  t.teardown(() => events?.onClosed());
  const eventsSent = () => socket.sent.filter((text) => text.startsWith('{"type":"event"')).length;
  return { ...server, socket, say, eventsSent, drain: () => events?.onDrained() };
}

t.test('[7.events-full] a full socket misses an event, and gets the next one', async (t) => {
  const { history, socket, say, eventsSent, drain } = await openSocket(t);
  say('subscribe', { topics: ['events'] });
  history.notify(FAKE_EVENT);
  t.equal(eventsSent(), 1);
  socket.isFull = true;
  history.notify(FAKE_EVENT);
  socket.isFull = false;
  drain();
  t.equal(eventsSent(), 1, 'not kept for later');
  history.notify(FAKE_EVENT);
  t.equal(eventsSent(), 2);
});
