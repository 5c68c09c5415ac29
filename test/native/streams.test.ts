/** Sockets of a Node server that the addon takes over: the peer sees one connection, and Node has nothing left of it. */
import { once } from 'node:events';
import net from 'node:net';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { openNativeHost } from '#src/host/native.js';
import { type StreamWriter, type StreamWriterOptions, slotOf } from '#src/host/streams.js';
import '../helpers/service/dead-buses.ts';
import { listen } from '../helpers/clients/listen.ts';
import { until } from '../helpers/until.ts';

const host = openNativeHost();
const streams = host.streams;
if (streams === undefined) throw new Error('no streams on this platform');

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
/** After the descriptor and the channel: `sent`, whether it is plain, the head and the first event. */
const FIRST = [0, false, Buffer.from(HEAD), Buffer.from('data: 0\n\n')] as const;
/** The first bytes of a stream. */
const BEGIN = `${HEAD}9\r\ndata: 0\n\n\r\n`;
const METHODS = streams.findMethod() === 'io_uring' ? (['send', 'io_uring'] as const) : (['send'] as const);

/** Undocumented, and there since Node 0.x. */
const descriptorOf = (socket: net.Socket): number =>
  (socket as unknown as { readonly _handle: { readonly fd: number } })._handle.fd;

function start(t: Test, options: StreamWriterOptions) {
  const kept = new Map<number, number>();
  const closed: number[] = [];
  const writer = streams?.start(options, (buffered, ids) => {
    for (let at = 0; at < buffered.length; at += 2) kept.set(buffered[at] ?? 0, buffered[at + 1] ?? 0);
    closed.push(...ids);
  }) as StreamWriter;
  t.teardown(() => writer.close());
  return { writer, kept, closed };
}

/** A server whose connections are handed over; `ids` in the order of connections. */
async function serve(t: Test, writer: StreamWriter) {
  const ids: number[] = [];
  const server = net.createServer((socket) => {
    ids.push(writer.adopt(descriptorOf(socket), 0, ...FIRST));
    socket.destroy();
  });
  const port = await listen(t, server);
  const connect = async () => {
    const client = net.connect({ port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    t.teardown(() => client.destroy());
    let text = '';
    client.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    const before = ids.length;
    await until(() => ids.length !== before);
    return { client, received: () => text };
  };
  return { ids, port, connect };
}

for (const method of METHODS)
  t.test(`a stream that is handed over, with ${method}`, async (t) => {
    const { writer, closed } = start(t, { method });
    t.match(writer.counters(), { streams: 0, fullStreams: 0, bufferedBytes: 0, method: 'none' });
    const { ids, connect } = await serve(t, writer);
    const { client, received } = await connect();
    const other = await connect();
    t.equal(writer.counters().method, method);
    t.strictSame(ids.map(slotOf).sort(), [0, 1], 'slots are dense');
    writer.publish(0, 1, Buffer.from('data: {}\n\n'));
    writer.publish(1, 1, Buffer.from('data: of another channel\n\n'));
    await until(() => received() === `${BEGIN}a\r\ndata: {}\n\n\r\n`);
    client.destroy();
    await until(() => closed.length === 1);
    t.strictSame(closed, [ids[0]], 'a hang-up is reported');
    t.match(writer.counters(), { streams: 1 });
    const ending = writer.end(60_000);
    t.equal(await ending, 0, 'nobody was cut');
    await until(() => other.client.closed);
    t.equal(other.received(), `${BEGIN}a\r\ndata: {}\n\n\r\n0\r\n\r\n`, 'the end is clean');
    t.throws(() => writer.end(0), /ended before/);
    t.throws(() => writer.adopt(0, 0, ...FIRST), { code: 'ECANCELED' });
  });

for (const method of METHODS)
  t.test(`two samples in succession, before the first is sent, with ${method}`, async (t) => {
    const { writer } = start(t, { method });
    const { connect } = await serve(t, writer);
    const { received } = await connect();
    const whole = Buffer.from('data: whole\n\n');
    let wanted = BEGIN;
    for (let number = 1; number < 200; number += 2) {
      for (const each of [number, number + 1]) {
        const event = `data: ${each + 1000}\n\n`;
        writer.publish(0, each, Buffer.from(event), whole);
        wanted += `c\r\n${event}\r\n`;
      }
      // A stream that missed one of them would get the whole instead.
      await until(() => received().length >= wanted.length || received().includes('whole'));
    }
    t.equal(received(), wanted);
    t.match(writer.counters(), { sentEvents: 201, skippedEvents: 0 });
  });

t.test('a refused adoption has a code', async (t) => {
  const { writer } = start(t, {});
  t.throws(() => writer.adopt(-1, 0, ...FIRST), { code: 'EBADF' });
  t.throws(() => writer.adopt(0, 2 ** 20, ...FIRST), RangeError);
  t.match(writer.counters(), { streams: 0 });
});

t.test('a stalled peer: what is kept for it is reported, and it is cut at the limit', async (t) => {
  const { writer, kept, closed } = start(t, { stallLimitMs: 1000 });
  const { ids, connect } = await serve(t, writer);
  const { client } = await connect();
  client.pause();
  // More than the kernel holds for both ends: shorter ones may fill it to the end of one, of which nothing is kept.
  writer.publish(0, 1, Buffer.from(`data: ${'x'.repeat(16_000_000)}\n\n`));
  await until(() => writer.counters().fullStreams === 1 && (kept.get(ids[0] ?? -1) ?? 0) > 0);
  t.equal(kept.get(ids[0] ?? -1), writer.counters().bufferedBytes);
  await until(() => closed.length === 1);
  t.match(writer.counters(), { streams: 0, fullStreams: 0, bufferedBytes: 0 });
});

t.test('cut and close', async (t) => {
  const { writer, closed } = start(t, { silenceMs: 200 });
  const { ids, connect } = await serve(t, writer);
  const first = await connect();
  const second = await connect();
  await until(() => second.received().endsWith('3\r\n:\n\n\r\n'));
  writer.cut(Uint32Array.from(ids.slice(0, 1)));
  await until(() => first.client.closed && closed.length === 1);
  writer.close();
  t.strictSame(closed, ids, 'close reports at once');
  await until(() => second.client.closed);
  writer.close();
  t.equal(await writer.end(0), 0, 'all calls are harmless then');
  writer.publish(0, 1, Buffer.from('data: {}\n\n'));
});

t.test('an environment that ends takes its writer with it', async (t) => {
  // The worker's module is the compiled one beside this file.
  const worker = new Worker(new URL('streams-worker.js', import.meta.url));
  const [port] = await once(worker, 'message');
  const client = net.connect({ port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  await once(client, 'data');
  await once(worker, 'message');
  await worker.terminate();
  if (!client.closed) await once(client, 'close');
  t.pass('its streams are closed');
});
