/** A carrier as the socket of a session: what is full, what is lost, and what is told when it ends. */
import t from 'tap';
import { QUOTAS } from '#src/fairness/limits.js';
import { Quota } from '#src/fairness/quota.js';
import { CarriedSocket, CarriedTopics } from '#src/socket/carried-socket.js';
import type { Carrier } from '#src/socket/carrier.js';

/** Takes nothing before `take`. */
class SlowCarrier implements Carrier {
  isOpen = true;
  waitingBytes = 0;
  readonly sent: string[] = [];
  readonly ended: string[] = [];
  readonly #waiting: { readonly bytes: number; readonly onSent: (() => void) | undefined }[] = [];

  send(text: string, onSent?: () => void): void {
    this.sent.push(text);
    this.waitingBytes += text.length;
    this.#waiting.push({ bytes: text.length, onSent });
  }

  end(reason: string): void {
    this.isOpen = false;
    this.ended.push(reason);
  }

  take(): void {
    for (const { bytes, onSent } of this.#waiting.splice(0)) {
      this.waitingBytes -= bytes;
      onSent?.();
    }
  }
}

function setUp() {
  const carrier = new SlowCarrier();
  const quota = new Quota();
  const topics = new CarriedTopics();
  const events: string[] = [];
  const socket = new CarriedSocket(
    carrier,
    {
      onMessage: (bytes) => events.push(bytes.toString()),
      onControlFrame: () => events.push('(control)'),
      onDrained: () => events.push('(drained)'),
      onClosed: () => events.push('(closed)'),
    },
    { address: '192.0.2.1', quota, topics },
  );
  return { carrier, quota, topics, events, socket };
}

const LONG = 'x'.repeat(20 * 1024);

t.test('a full socket misses what is published, keeps what is sent, and reports its room', async (t) => {
  const { carrier, quota, topics, events, socket } = setUp();
  socket.join('stats 1');
  topics.publish('stats 1', Buffer.from('one'));
  topics.publish('stats 2', Buffer.from('other'));
  socket.send(LONG);
  t.ok(socket.isFull);
  topics.publish('stats 1', Buffer.from('two'));
  socket.send('answer');
  t.strictSame(carrier.sent, ['one', LONG, 'answer']);
  t.equal(quota.bytesOf('192.0.2.1'), carrier.waitingBytes);
  carrier.take();
  t.strictSame([socket.isFull, quota.bytes, events], [false, 0, ['(drained)']]);
  topics.publish('stats 1', Buffer.from('three'));
  socket.leave('stats 1');
  topics.publish('stats 1', Buffer.from('four'));
  t.equal(carrier.sent.at(-1), 'three');
});

t.test('frames and controls are events, until it ends', async (t) => {
  const { carrier, quota, topics, events, socket } = setUp();
  const deliveries: string[] = [];
  socket.onFrame(Buffer.from('{}'));
  socket.onControl();
  socket.join('stats 1');
  socket.sendTracked('a', (delivery) => deliveries.push(delivery));
  carrier.take();
  socket.sendTracked('b', (delivery) => deliveries.push(delivery));
  carrier.isOpen = false;
  socket.onEnd();
  socket.onEnd();
  socket.onFrame(Buffer.from('late'));
  topics.publish('stats 1', Buffer.from('late'));
  socket.sendTracked('c', (delivery) => deliveries.push(delivery));
  t.strictSame(events, ['{}', '(control)', '(closed)']);
  t.strictSame(deliveries, ['sent', 'closed', 'closed']);
  t.strictSame(carrier.sent, ['a', 'b']);
  t.strictSame([quota.bytes, carrier.ended], [0, []]);
});

t.test('one that takes nothing is ended; so is one that the quota cuts', async (t) => {
  const { carrier, events, socket } = setUp();
  const picture = 'x'.repeat(1_400_000);
  socket.send(picture);
  socket.send('answer');
  t.ok(socket.isOpen, 'a long answer and more');
  t.ok(2 * picture.length > QUOTAS.hubAnswers.maxBytes);
  const deliveries: string[] = [];
  socket.sendTracked(picture, (delivery) => deliveries.push(delivery));
  t.strictSame([carrier.ended, events, deliveries], [['too slow for its answers'], ['(closed)'], ['closed']]);
  const other = setUp();
  other.socket.cut();
  t.equal(other.carrier.ended.length, 1);
  t.strictSame(other.events, ['(closed)']);
});
