/** WebSocket messages in many small parts that are never finished, and the rate limit of messages. */
import t, { type Test } from 'tap';
import { RATES } from '#src/fairness/limits.js';
import { Quota } from '#src/fairness/quota.js';
import { Bucket } from '#src/fairness/rate.js';
import { RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { createEngine } from '../helpers/service/engine.ts';
import { until } from '../helpers/until.ts';
import { frameBytes, OPCODES } from './socket-frames.ts';

const UPGRADE = requestBytes('/api/ws', {
  headers: {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version': '13',
  },
});
const part = (opcode: number, text: string, isPart = true) =>
  frameBytes({ opcode, payload: Buffer.from(text), isPart });

/** An engine whose sockets note their messages, and a connection to it that has become one. */
async function open(t: Test) {
  const quota = new Quota();
  const messages: string[] = [];
  let controlFrames = 0;
  const engine = await createEngine({
    headersRead: new Set(['connection', 'upgrade']),
    quota,
    onRequest: (exchange) =>
      exchange.startSocket({
        onMessage: (bytes) => messages.push(bytes.toString()),
        onControlFrame: () => {
          controlFrames++;
        },
        onDrained: () => undefined,
        onClosed: () => undefined,
      }),
  });
  t.teardown(() => engine.close());
  const port = await engine.listen('127.0.0.1', 0);
  const connection = await RawConnection.openIn(t, port);
  connection.write(UPGRADE);
  await connection.until((bytes) => (bytes.includes('\r\n\r\n') ? true : undefined));
  return { quota, messages, connection, countControlFrames: () => controlFrames };
}

t.test('[7.parts] a message may have 64 parts', async (t) => {
  const { messages, connection } = await open(t);
  connection.write(part(OPCODES.text, 'a'));
  for (let i = 0; i < 62; i++) connection.write(part(OPCODES.continuation, 'b'));
  connection.write(part(OPCODES.continuation, 'c', false));
  await until(() => messages.length > 0);
  t.strictSame(messages, [`a${'b'.repeat(62)}c`]);
});

t.test('parts without an end, empty ones too', async (t) => {
  for (const text of ['b', '']) {
    const { messages, connection } = await open(t);
    connection.write(part(OPCODES.text, 'a'));
    const parts = Buffer.concat(Array.from({ length: 100 }, () => part(OPCODES.continuation, text)));
    for (let sent = 0; sent < 16_000 && !connection.isClosed; sent += 100) connection.write(parts);
    if (Number.isFinite(DIFFERENCES.maxParts)) await connection.closed();
    else {
      // uWebSockets.js joins them, so they cost their bytes alone.
      connection.write(part(OPCODES.continuation, 'c', false));
      await until(() => messages.length > 0);
    }
    t.ok(messages.length <= 1, JSON.stringify(text));
  }
});

if (Number.isFinite(DIFFERENCES.maxParts)) {
  t.test('a frame in reads of a byte each ends after 128 of them', async (t) => {
    const { connection } = await open(t);
    const frame = part(OPCODES.text, 'x'.repeat(1000), false);
    for (const byte of frame) {
      if (connection.isClosed) break;
      connection.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await connection.closed();
  });

  t.test('the quota is charged with buffers, not with bytes, until the message is complete', async (t) => {
    const { quota, messages, connection, countControlFrames } = await open(t);
    connection.write(part(OPCODES.text, 'a'));
    for (let i = 0; i < 40; i++) {
      connection.write(part(OPCODES.continuation, 'b'));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until(() => quota.bytes > 40 * 100);
    connection.write(part(OPCODES.continuation, 'c', false));
    await until(() => messages.length > 0);
    t.equal(quota.bytes, 0, 'nothing is kept any more');
    for (let i = 0; i < 200; i++) connection.write(frameBytes({ opcode: OPCODES.pong }));
    await until(() => countControlFrames() === 200);
    t.equal(quota.bytes, 0, 'pongs are not kept');
  });
}

/** As SocketSession takes from the two. */
class Messages {
  readonly #messages = new Bucket(RATES.messages, 0);
  readonly #refusals = new Bucket(RATES.refusedMessages, 0);

  count(messages: number, nowMs: number) {
    const counts = { granted: 0, refused: 0, flood: 0 };
    for (let i = 0; i < messages; i++)
      if (this.#messages.takeOne(nowMs)) counts.granted++;
      else if (this.#refusals.takeOne(nowMs)) counts.refused++;
      else counts.flood++;
    return counts;
  }
}

t.test('[7.limit-rate] a burst of 40, then as many as the elapsed time allows', async (t) => {
  const rate = new Messages();
  t.strictSame(rate.count(60, 0), { granted: 40, refused: 20, flood: 0 });
  t.strictSame(rate.count(15, 500), { granted: 10, refused: 5, flood: 0 });
  t.strictSame(
    rate.count(50, 1_000_000),
    { granted: 40, refused: 10, flood: 0 },
    'never a burst of more than 40',
  );
});

t.test('[7.limit-rate] 20 per second, indefinitely', async (t) => {
  const rate = new Messages();
  rate.count(40, 0);
  for (let second = 1; second <= 600; second++)
    t.strictSame(rate.count(20, second * 1000), { granted: 20, refused: 0, flood: 0 });
});

t.test(
  '[7.limit-flood] a burst of a hundred refusals, or more refusals per second than the rate allows messages, are a flood',
  async (t) => {
    t.strictSame(new Messages().count(200, 0), { granted: 40, refused: 100, flood: 60 });
    const twice = new Messages();
    twice.count(40, 0);
    for (let second = 1; second <= 100; second++)
      t.equal(twice.count(40, second * 1000).flood, 0, 'twice the rate');
    const more = new Messages();
    more.count(40, 0);
    const floods = Array.from({ length: 20 }, (_, i) => more.count(60, (i + 1) * 1000).flood);
    t.ok(
      floods.some((count) => count > 0),
      'three times the rate',
    );
  },
);
