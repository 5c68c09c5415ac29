/** The wrapper of a WebSocket on an object that behaves like uWebSockets.js's, down to throwing when it is closed. */
import t from 'tap';
import { Quota } from '#src/fairness/quota.js';
import { EngineSocket, FULL_BYTES } from '#src/http/engine-socket.js';

type NativeSocket = Parameters<EngineSocket['markOpen']>[0];

/** Keeps everything it is sent; bytes beyond `room` wait. */
class FakeNative {
  readonly sent: string[] = [];
  readonly topics = new Set<string>();
  waiting = 0;
  isStuck = false;
  closedWith: number | 'cut' | undefined;
  onClose: () => void = () => undefined;

  #check(): void {
    if (this.closedWith !== undefined) throw new Error('Invalid access of closed uWS.WebSocket');
  }

  send(text: string): number {
    this.#check();
    if (this.waiting > FULL_BYTES) return 2;
    this.sent.push(text);
    if (!this.isStuck) return 1;
    this.waiting += text.length;
    return 0;
  }

  getBufferedAmount(): number {
    this.#check();
    return this.waiting;
  }

  getTopics(): string[] {
    return [...this.topics];
  }

  subscribe(topic: string): boolean {
    this.#check();
    this.topics.add(topic);
    return true;
  }

  unsubscribe(topic: string): boolean {
    this.#check();
    return this.topics.delete(topic);
  }

  cork(body: () => void): void {
    this.#check();
    body();
  }

  end(code: number): void {
    this.#check();
    this.closedWith = this.waiting > FULL_BYTES ? 'cut' : code;
    this.onClose();
  }

  close(): void {
    this.#check();
    this.closedWith = 'cut';
    this.onClose();
  }
}

function open() {
  const reported: string[] = [];
  const socket = new EngineSocket(
    {
      onMessage: (bytes) => reported.push(`message ${bytes}`),
      onControlFrame: () => reported.push('control frame'),
      onDrained: () => reported.push('drained'),
      onClosed: () => reported.push('closed'),
    },
    '10.0.0.1',
    new Quota(),
  );
  const native = new FakeNative();
  native.onClose = () => socket.markClosed();
  // The part of it that the wrapper uses.
  socket.markOpen(native as unknown as NativeSocket);
  return { socket, native, reported };
}

const nextTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const LARGE = 'x'.repeat(FULL_BYTES + 1);

t.test('sent messages go out; after the end nothing reaches the native object', async (t) => {
  for (const close of ['end', 'cut', 'peer'] as const) {
    const { socket, native, reported } = open();
    socket.send('a');
    if (close === 'end') socket.end(1008, 'x');
    else if (close === 'cut') socket.cut();
    else {
      native.closedWith = 1001;
      socket.markClosed();
    }
    socket.send('b');
    socket.join('t');
    socket.leave('t');
    socket.cork(() => t.fail('no cork'));
    socket.end(1001, 'again');
    socket.cut();
    socket.markDrained();
    socket.takeMessage(Buffer.from('late'), false);
    t.strictSame(native.sent, ['a'], close);
    t.strictSame(reported, ['closed'], 'its owner hears once');
    t.notOk(socket.isOpen || socket.isFull);
    await nextTurn();
    t.equal(native.closedWith, { end: 1008, cut: 'cut', peer: 1001 }[close]);
  }
});

t.test('a socket that was never opened does nothing', async (t) => {
  const fail = () => void t.fail('called');
  const socket = new EngineSocket(
    { onMessage: fail, onControlFrame: fail, onDrained: fail, onClosed: fail },
    '',
    new Quota(),
  );
  socket.send('a');
  socket.end(1001, '');
  socket.cut();
  t.equal(socket.isOpen, false);
});

t.test('messages that do not fit are kept in order, and sent when there is room', async (t) => {
  const { socket, native, reported } = open();
  native.isStuck = true;
  socket.send(LARGE);
  t.ok(socket.isFull);
  socket.send('1');
  socket.send('2');
  t.equal(native.sent.length, 1, 'not handed over');
  native.waiting = FULL_BYTES + 1;
  socket.markDrained();
  t.equal(native.sent.length, 1, 'still too full');
  native.waiting = 10;
  socket.markDrained();
  t.strictSame(native.sent.slice(1), ['1', '2']);
  t.strictSame(reported, ['drained']);
  native.waiting = FULL_BYTES + 1;
  socket.send('3');
  socket.send(LARGE);
  socket.send('4');
  native.waiting = 0;
  socket.markDrained();
  t.strictSame(native.sent.slice(3), ['3', LARGE], 'as far as it fits');
  native.waiting = 0;
  socket.markDrained();
  t.equal(native.sent.at(-1), '4');
});

t.test(
  'more than 64 KiB is not kept: the socket is closed with 1008 when there is room for the close frame',
  async (t) => {
    const { socket, native, reported } = open();
    socket.join('stats 1');
    native.isStuck = true;
    socket.send(LARGE);
    for (let i = 0; i < 64; i++) socket.send(`${i}`.padEnd(1024));
    t.ok(socket.isOpen);
    socket.send('one more');
    t.strictSame(reported, ['closed'], 'given up');
    t.strictSame(
      [native.closedWith, [...native.topics]],
      [undefined, []],
      'nothing is published to it any more',
    );
    native.waiting = 0;
    socket.markDrained();
    t.equal(native.closedWith, undefined, 'what was kept goes first');
    native.isStuck = false;
    native.waiting = 0;
    socket.markDrained();
    t.equal(native.closedWith, 1008);
    t.equal(native.sent.length, 65, 'and all of it');
  },
);

t.test(
  'delivery is reported when the bytes of an answer have left, or when the socket is over',
  async (t) => {
    const { socket, native } = open();
    const reported: string[] = [];
    socket.sendTracked('a', (delivery) => reported.push(`a ${delivery}`));
    t.strictSame(native.sent, [], 'in a later turn');
    await nextTurn();
    t.strictSame(reported, ['a sent']);
    native.isStuck = true;
    socket.sendTracked('b', (delivery) => reported.push(`b ${delivery}`));
    await nextTurn();
    t.strictSame(reported, ['a sent'], 'it waits');
    native.waiting = 0;
    socket.markDrained();
    t.strictSame(reported, ['a sent', 'b sent']);
    socket.sendTracked('c', (delivery) => reported.push(`c ${delivery}`));
    await nextTurn();
    socket.cut();
    t.strictSame(reported.slice(2), ['c closed']);
    socket.sendTracked('d', (delivery) => reported.push(`d ${delivery}`));
    await nextTurn();
    t.strictSame(reported.slice(3), ['d closed']);
  },
);
