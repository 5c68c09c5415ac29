/** Bytes of agents that arrive in the smallest pieces: what is kept and copied is in proportion to the bytes. */
import t from 'tap';
import { Parts } from '#src/exporters/dial/frames.js';
import { AnswerParser } from '#src/hub/pull/answer.js';
import { AgentConnection, isLost, type Lost, type WholeAnswer } from '#src/hub/pull/connection.js';
import { EventSplitter } from '#src/hub/pull/events.js';
import { targetOf } from '#src/hub/pull/target.js';
import { AnsweringAgent } from './answering-agent.ts';

const MAKERS = ['from', 'alloc', 'allocUnsafe', 'allocUnsafeSlow', 'concat'] as const;

interface Made {
  readonly count: number;
  readonly bytes: number;
}

/** Buffers that are made while `run` runs, and their bytes. */
async function buffersIn(run: () => unknown): Promise<Made> {
  const made = { count: 0, bytes: 0 };
  const originals = MAKERS.map((name) => [name, Buffer[name]] as const);
  for (const [name, original] of originals)
    Object.assign(Buffer, {
      [name]: (...given: unknown[]) => {
        const buffer: Buffer = Reflect.apply(original, Buffer, given);
        made.count++;
        made.bytes += buffer.length;
        return buffer;
      },
    });
  try {
    await run();
  } finally {
    for (const [name, original] of originals) Object.assign(Buffer, { [name]: original });
  }
  return made;
}

const PIECES = 20_000;
/** A buffer that doubles is made anew every time it is full. */
const MAX_BUFFERS = 20;

t.test('[I.hub.hostile] an event in pieces of one byte takes one buffer', async (t) => {
  const events: Buffer[] = [];
  const splitter = new EventSplitter((event) => events.push(event));
  const shared = Buffer.from(`data: {"a":"${'x'.repeat(PIECES)}"}\n\n`);
  const made = await buffersIn(() => {
    for (let at = 0; at < shared.length; at++) splitter.push(shared, at, at + 1);
  });
  t.ok(events[0]?.equals(shared), 'the event is whole');
  t.ok(made.count <= MAX_BUFFERS, `${made.count} buffers`);
  t.ok(made.bytes <= 6 * shared.length, `${made.bytes} bytes for ${shared.length}`);
  splitter.push(shared, 0, shared.length - 2);
  t.ok(splitter.keptBytes >= shared.length - 2, `${splitter.keptBytes} bytes are reported`);
  t.ok(splitter.keptBytes <= 2 * shared.length + 1024);
});

t.test('[I.hub.hostile] a head in pieces of one byte is not copied at each of them', async (t) => {
  const heads: number[] = [];
  const parser = new AnswerParser({
    onHead: ({ headers }) => heads.push(headers.size),
    onBody: () => t.fail('there is no body'),
    onEnd: () => undefined,
  });
  const lines = Array.from({ length: 1000 }, (_, i) => `A${i}: bcdef\r\n`).join('');
  const head = Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`);
  const pieces = [...head].map((byte) => Buffer.from([byte]));
  const made = await buffersIn(() => {
    for (const piece of pieces) parser.push(piece);
  });
  t.same(heads, [1000]);
  t.ok(made.count <= MAX_BUFFERS, `${made.count} buffers`);
  t.ok(made.bytes <= 6 * head.length, `${made.bytes} bytes for ${head.length}`);
});

t.test('[I.hub.dial.long] parts that are empty or many end the message', async (t) => {
  const part = (mark: number, text = '') => Buffer.from(`${String.fromCharCode(mark)}${text}`);
  t.equal(new Parts().take(part(1)), 'bad', 'an empty one before the last');
  const parts = new Parts();
  let taken = 0;
  while (parts.take(part(1, 'x')) === 'more') taken++;
  t.equal(taken, 64, 'parts of one byte');
  const large = new Parts();
  const frame = Buffer.alloc(48 * 1024 + 1, 1);
  const whole = 20 * (frame.length - 1);
  for (let at = 0; at < 20; at++) t.equal(large.take(frame), 'more');
  t.ok(large.keptBytes >= whole, `${large.keptBytes} bytes are charged for ${whole}`);
  t.ok(large.keptBytes <= 2 * whole + 1024);
  const message = large.take(part(0));
  t.equal(typeof message === 'string' ? message : message.length, whole);
  t.equal(large.keptBytes, 0);
});

t.test('[I.hub.hostile] an answer of chunks of one byte is joined in one buffer', async (t) => {
  const body = `"${'x'.repeat(5000)}"`;
  const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('');
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const agent = await AnsweringAgent.start(t, () => `${head}${chunks}0\r\n\r\n`);
  const connection = new AgentConnection(
    targetOf({ url: agent.url }),
    () => performance.now(),
    () => undefined,
  );
  t.teardown(() => connection.close());
  let found: WholeAnswer | Lost | undefined;
  const made = await buffersIn(async () => {
    found = await new Promise((resolve) => connection.send({ method: 'GET', path: '/a' }, resolve));
  });
  t.ok(made.count < 100, `${made.count} buffers for ${body.length} chunks`);
  if (found === undefined || isLost(found)) t.fail('there is no answer');
  else {
    t.equal(found.bytes.toString(), body);
    t.equal(found.bytes.buffer.byteLength, body.length, 'it keeps no larger buffer');
  }
});
