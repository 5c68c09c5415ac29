/** A WebSocket above its engine, with an engine's object that the test makes. */
import t from 'tap';
import { Quota } from '#src/fairness/quota.js';
import { EngineSocket, type RawSocket } from '#src/http/engine-socket.js';

function open(buffered: number, maxKeptBytes?: number) {
  const calls: string[] = [];
  const raw: RawSocket = {
    getBufferedAmount: () => buffered,
    send: () => calls.push('send'),
    cork: (body) => body(),
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    getTopics: () => [],
    end: () => calls.push('end'),
    close: () => calls.push('close'),
  };
  let messages = 0;
  const handler: { onMessage?: () => void } = {};
  const events = {
    onMessage: () => {
      messages++;
      handler.onMessage?.();
    },
    onControlFrame: () => {
      messages++;
    },
    onDrained: () => undefined,
    onClosed: () => undefined,
  };
  const socket = new EngineSocket(events, '127.0.0.1', new Quota(), maxKeptBytes);
  socket.markOpen(raw);
  return Object.assign(handler, { socket, calls, countMessages: () => messages });
}

t.test('a full socket keeps 64 KiB of answers, or as much as its owner says', async (t) => {
  for (const [maxKeptBytes, most] of [
    [undefined, 64],
    [1024 * 1024, 1024],
  ] as const) {
    const { socket } = open(100_000, maxKeptBytes);
    const text = 'x'.repeat(1024);
    for (let kept = 0; kept < most; kept++) socket.send(text);
    t.ok(socket.isOpen, `${most} KiB`);
    socket.send(text);
    t.notOk(socket.isOpen, 'and no more');
    socket.markClosed();
  }
});

t.test('a full socket that waits to be closed is cut when its peer sends on', async (t) => {
  const { socket, calls, countMessages } = open(100_000);
  socket.takeMessage(Buffer.from('{}'), false);
  socket.end(1008, 'too many messages');
  t.strictSame(calls, [], 'the close frame would be dropped now');
  for (let i = 0; i < 32; i++) {
    socket.takeMessage(Buffer.from('{}'), false);
    socket.takeControlFrame();
  }
  t.strictSame(calls, [], '64 may have been on their way');
  socket.takeMessage(Buffer.from('{}'), false);
  await new Promise(setImmediate);
  t.strictSame(calls, ['close']);
  t.equal(countMessages(), 1, 'nothing after the end is taken');
  socket.cut();
});

t.test(
  'a handler closes immediately, so that the rest of a flood is not read; other code in a turn of its own',
  async (t) => {
    for (const how of ['end', 'cut'] as const) {
      const inHandler = open(0);
      inHandler.onMessage = () =>
        how === 'end' ? inHandler.socket.end(1008, 'too many messages') : inHandler.socket.cut();
      inHandler.socket.takeMessage(Buffer.from('{}'), false);
      t.strictSame(inHandler.calls, [how === 'end' ? 'end' : 'close'], how);
      const elsewhere = open(0);
      if (how === 'end') elsewhere.socket.end(1001, 'stopping');
      else elsewhere.socket.cut();
      t.strictSame(elsewhere.calls, [], `${how}, outside a handler`);
      await new Promise(setImmediate);
      t.strictSame(elsewhere.calls, [how === 'end' ? 'end' : 'close'], `${how}, in the next turn`);
      inHandler.socket.markClosed();
      elsewhere.socket.markClosed();
    }
  },
);
