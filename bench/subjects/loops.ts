/**
 * One port, one or two event loops: `node loops.js EVENT_FILE LOOPS PORT` prints its port, then one line of JSON per
 * tick. The second loop is a worker thread with an own application on the same port; the event's bytes are encoded once
 * and shared. The fan-out is the service's. Only the bench has two loops; the service has one.
 */

import * as uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '#src/clock.js';
import type { Caller } from '#src/http/clients/caller.js';
import type { Exchange, StreamStart } from '#src/http/engine.js';
import { Fanout } from '#src/http/stream/fanout.js';
import { UwsStream } from '#src/http/uws/stream.js';
import { type Encoded, viewOf } from '#src/stats/view.js';

const VIEW = viewOf(31, false);
const SLOTS = 4;
const SLOT_BYTES = 64 * 1024;
/** Sent to subscribers that join before the first tick. */
const FIRST_EVENT = 'data: {}\n\n';

/** The messages from the first loop to the second, and back. */
interface Tick {
  readonly number: number;
  readonly bytes: number;
}

export interface LoopTick {
  /** Monotonic milliseconds of the moment when a loop had sent the event to all of its subscribers. */
  readonly doneAt: number;
  readonly events: number;
}

/** The same clock in every thread, unlike performance.now(). */
const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

/** One loop: an application on `port` and the service's fan-out. */
class Loop {
  readonly #shared: SharedArrayBuffer;
  readonly #onDone: (tick: LoopTick) => void;
  readonly #fanout: Fanout;
  #newest: Encoded;
  #isDeferred = false;

  constructor(port: number, shared: SharedArrayBuffer, onDone: (tick: LoopTick) => void) {
    this.#shared = shared;
    this.#onDone = onDone;
    this.#newest = this.#encodedOf({ number: 0, bytes: FIRST_EVENT.length });
    this.#fanout = new Fanout({
      source: { subscribe: () => undefined, unsubscribe: () => undefined },
      clock: systemClock(() => performance.now()),
      defer: (slice) => {
        this.#isDeferred = true;
        setImmediate(() => this.#run(slice));
      },
    });
    let isListening = false;
    // Without the service's flag for an exclusive port, the kernel distributes connections among the loops. A port
    // that the kernel chooses (0) would be exclusive nevertheless.
    uws
      .App()
      .get('/*', (response) => this.#open(response))
      .listen('127.0.0.1', port, (socket) => {
        isListening = socket !== false;
      });
    if (!isListening) throw new Error(`cannot listen on port ${port}`);
  }

  send(tick: Tick): void {
    this.#newest = this.#encodedOf(tick);
    this.#run(() => this.#fanout.publish(this.#newest));
  }

  /** The distribution has ended when a slice requests no further one. */
  #run(slice: () => void): void {
    this.#isDeferred = false;
    slice();
    if (!this.#isDeferred) this.#onDone({ doneAt: monotonicMs(), events: this.#fanout.size });
  }

  #encodedOf({ number, bytes }: Tick): Encoded {
    const event = Buffer.from(this.#shared, (number % SLOTS) * SLOT_BYTES, bytes);
    // The fan-out uses nothing else of a sample.
    return { event: () => event } as unknown as Encoded;
  }

  #open(response: uws.HttpResponse): void {
    const exchange = {
      startStream(start: StreamStart) {
        const { status, headers, event, onEvent } = start;
        const socket = new UwsStream(response, start);
        const onSocketEvent = onEvent.bind(socket);
        response.onAborted(onSocketEvent);
        response.onWritable(onSocketEvent);
        response.cork(() => {
          response.writeStatus(status);
          for (const [name, value] of headers) response.writeHeader(name, value);
          socket.sendFirst(event);
        });
        return { socket, isWhole: true };
      },
    };
    const client = { address: '127.0.0.1' } as Caller; // There is no access check here.
    // The fan-out uses nothing else of an exchange.
    this.#fanout.open(exchange as unknown as Exchange, VIEW, this.#newest, [], client, false);
  }
}

function serveSecond(port: number, shared: SharedArrayBuffer): void {
  const loop = new Loop(port, shared, (tick) => parentPort?.postMessage(tick));
  // The first loop posts nothing else.
  parentPort?.on('message', (tick) => loop.send(tick as Tick));
  parentPort?.postMessage('ready');
}

async function serveFirst(eventFile: string, loops: number, port: number): Promise<void> {
  const event = readFileSync(eventFile, 'utf8');
  const payload = event.slice(event.indexOf('data: '), event.lastIndexOf('}') + 1);
  const shared = new SharedArrayBuffer(SLOTS * SLOT_BYTES);
  const target = Buffer.from(shared);
  target.write(FIRST_EVENT);
  let begunAt = 0;
  let done: LoopTick[] = [];
  const onDone = (tick: LoopTick) => {
    if (begunAt === 0) return;
    done.push(tick);
    if (done.length < loops) return;
    const ms = Math.max(...done.map(({ doneAt }) => doneAt)) - begunAt;
    process.stdout.write(`${JSON.stringify({ ms, events: done.map(({ events }) => events) })}\n`);
    begunAt = 0;
  };
  const first = new Loop(port, shared, onDone);
  const workers: Worker[] = [];
  for (let i = 1; i < loops; i++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { port, shared } });
    await new Promise((resolve) => worker.once('message', resolve));
    worker.on('message', onDone);
    workers.push(worker);
  }
  let number = 0;
  setInterval(() => {
    begunAt = monotonicMs();
    done = [];
    const text = payload.replace(/(?<="timestamp":)\d{10}/, String(Math.floor(Date.now() / 1000)));
    const bytes = target.write(`${text}\n\n`, (++number % SLOTS) * SLOT_BYTES);
    // The second loop first, because it has to wake up.
    for (const worker of workers) worker.postMessage({ number, bytes } satisfies Tick);
    first.send({ number, bytes });
  }, 1000);
  process.stdout.write(`${port}\n`);
}

if (isMainThread) await serveFirst(process.argv[2] ?? '', Number(process.argv[3]), Number(process.argv[4]));
// serveFirst passes exactly this.
else {
  const { port, shared } = workerData as { readonly port: number; readonly shared: SharedArrayBuffer };
  serveSecond(port, shared);
}
