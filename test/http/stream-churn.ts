/**
 * Streams on their way from the engine to the native writer, among other connections that come and go, over one family of
 * addresses. Used by the tests of the first tier, and for IPv6 by those of the system.
 */
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { viewOf } from '#src/stats/view.js';
import type { MachineSample } from '#src/streams/sample.js';
import { callerAt } from '../helpers/fakes/sender.ts';
import { createRandom } from '../helpers/random.ts';
import { createEngine } from '../helpers/service/engine.ts';
import { createStreams } from '../helpers/service/streams.ts';
import { until } from '../helpers/until.ts';

const VIEW = viewOf(31, false);
const KIB = 1024;
const LOOPBACK = '127.0.0.1';
/** More than the kernel buffers of an earlier answer. */
const LONG_ANSWER = 300 * KIB;

const eventOf = (number: number, bytes: number): MachineSample => {
  const event = Buffer.from(`data: ${JSON.stringify({ number, padding: 'x'.repeat(bytes) })}\n\n`);
  return { event: () => event, payload: () => event };
};

export async function serveNumbered(t: Test, host = LOOPBACK) {
  const { source, streams, engineOptions, endWith } = createStreams();
  let number = 0;
  let asked = 0;
  let newest = eventOf(0, 100);
  const engine = await createEngine({
    ...engineOptions,
    onRequest(exchange) {
      asked++;
      const { path, query } = exchange.head;
      if (path === '/answer')
        exchange.answer({ status: '200 OK', headers: [], body: 'a'.repeat(Number(query)) });
      else
        streams.open(source, VIEW, {
          exchange,
          headers: [['X-Id', query]],
          event: newest.event(VIEW),
          caller: callerAt('127.0.0.1'),
          skipsNext: false,
        });
    },
  });
  const port = await engine.listen(host, 0);
  const publish = (bytes = 100) => {
    newest = eventOf(++number, bytes);
    source.publish(newest);
  };
  endWith(t, engine);
  return { streams, source, engine, port, publish, asked: () => asked };
}

export const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** A client, and what it has read. */
export class Client {
  readonly id: string;
  readonly socket: net.Socket;
  #parts: Buffer[] = [];

  constructor(port: number, id: string, host = LOOPBACK) {
    this.id = id;
    this.socket = net.connect({ port, host });
    this.socket.on('error', () => undefined).on('data', (part) => this.#parts.push(part));
  }

  get text(): string {
    const text = Buffer.concat(this.#parts);
    this.#parts = [text];
    return text.toString('latin1');
  }

  /** Returns the fault in the bytes of its stream; not `isOver`: the rest of a chunk may be on its way. */
  fault(isOver: boolean): string | undefined {
    const { text } = this;
    const first = text.slice(0, text.indexOf('\r\n\r\n') + 4);
    const length = /\r\nContent-Length: (\d+)\r\n/i.exec(first)?.[1];
    const rest = length === undefined ? text : text.slice(first.length + Number(length));
    if (rest === '') return undefined;
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return isOver ? 'a head without an end' : undefined;
    const id = /\r\nX-Id: (\S+)\r\n/i.exec(rest.slice(0, end + 2))?.[1];
    if (id !== this.id) return `the stream of ${id} at ${this.id}`;
    const body = rest.slice(end + 4);
    let at = 0;
    while (at < body.length) {
      if (!isOver && /^[0-9a-f]*\r?$/.test(body.slice(at, at + 12))) break;
      const [mark = '', digits = ''] = /^([0-9a-f]+)\r\n/.exec(body.slice(at, at + 12)) ?? [];
      const length = Number.parseInt(digits, 16);
      const chunk = body.slice(at + mark.length, at + mark.length + length);
      if (!isOver && chunk.length < length) break;
      if (mark === '' || (length > 0 && !/^data: \{[^\n]*\}\n\n$/.test(chunk)))
        return `torn: ${JSON.stringify(body.slice(at, at + 60))}`;
      at += mark.length + length + 2;
    }
    return undefined;
  }
}

export const descriptors = () => readdirSync('/proc/self/fd').length;

export const CHURN_SEED = 33;

/** Opens `count` streams; checks that every stream is that of its client, whole, and that nothing is left. */
export async function churn(t: Test, count: number, host = LOOPBACK): Promise<void> {
  const { streams, source, engine, port, publish } = await serveNumbered(t, host);
  // libuv opens one with its first connection, the writer has one from its first stream on.
  const first = new Client(port, 'first', host);
  await once(first.socket, 'connect');
  first.socket.destroy();
  await until(() => engine.connections === 0);
  const before = descriptors() + 1;
  const random = createRandom(CHURN_SEED);
  const ticks = setInterval(() => publish(random.below(20) === 0 ? 64 * KIB : random.below(2000)), 20);
  // Descriptors that are no connections take and free the same numbers.
  const others = setInterval(() => {
    const files = Array.from({ length: 8 }, () => openSync('/dev/null', 'r'));
    setImmediate(() => files.forEach((file) => closeSync(file)));
  }, 1);
  const clients = new Set<Client>();
  const faults: string[] = [];
  const judge = (client: Client, isOver: boolean) => {
    const fault = client.fault(isOver && client.socket.readyState === 'closed' && !client.socket.errored);
    if (fault !== undefined) faults.push(fault);
  };
  let streamed = 0;
  for (let opened = 0; opened < count; opened++) {
    const id = `c${opened}`;
    const client = new Client(port, id, host);
    clients.add(client);
    const { socket } = client;
    const target = `/stream?${id}`;
    const kind = random.below(8);
    if (kind === 0) socket.write(get(target), () => socket.destroy());
    else if (kind === 1) socket.write(get('/answer?2000') + get(target));
    else if (kind === 2) {
      socket.write(get(`/answer?${random.below(2) === 0 ? 10 : LONG_ANSWER}`));
      socket.once('data', () => socket.write(get(target)));
    } else if (kind === 3) socket.end(get(target));
    else if (kind === 4) {
      // Unread for a while: the kernel has not sent all of the answer when the stream is asked for.
      socket.pause();
      socket.write(get(`/answer?${LONG_ANSWER}`));
      setTimeout(() => {
        socket.write(get(target));
        setTimeout(() => socket.resume(), 20);
      }, 10);
    } else if (kind === 5) {
      const text = get(target);
      socket.write(text.slice(0, -4));
      setTimeout(() => socket.write(text.slice(-4)), 1);
    } else socket.write(get(target));
    // libuv accepts one connection per turn.
    await new Promise((resolve) => setImmediate(resolve));
    for (const each of clients) {
      if (clients.size <= 150) break;
      clients.delete(each);
      if (/text\/event-stream/.test(each.text)) streamed++;
      judge(each, false);
      if (random.below(2) === 0) each.socket.resetAndDestroy();
      else each.socket.destroy();
    }
  }
  await sleep(200);
  for (const client of clients) {
    if (/text\/event-stream/.test(client.text)) streamed++;
    judge(client, false);
    client.socket.destroy();
  }
  clearInterval(ticks);
  clearInterval(others);
  await until(() => streams.size === 0 && streams.adopted === 0);
  await until(() => engine.connections === 0 && descriptors() <= before);
  t.comment(`figure: ${streamed} of ${count} became streams, ${faults.length} faults`);
  t.strictSame(faults.slice(0, 5), [], `${faults.length} faults`);
  t.equal(source.size, 0, 'nobody is counted any more');
  t.ok(streamed > count / 4, `${streamed} of ${count} became streams`);
}
