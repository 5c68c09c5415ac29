/**
 * A client that does nothing wrong while others do, on a separate thread: it subscribes to stats, over a socket and
 * over a stream, and pings all the time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { SocketClient } from '../helpers/clients/socket.ts';

export interface Seen {
  /** Times of the pings since the last look. */
  readonly pingMs: readonly number[];
  /** The payloads of all samples, as JSON text: those sent to the socket, and those sent to the stream. */
  readonly socket: readonly string[];
  readonly stream: readonly string[];
}

export interface Bystander {
  look(): Promise<Seen>;
  stop(): Promise<void>;
}

/** Below the 20 messages per second that are allowed. */
const PING_PAUSE_MS = 60;

export async function startBystander(port: number): Promise<Bystander> {
  const worker = new Worker(new URL(import.meta.url), { workerData: port });
  const failed = new Promise<never>((_resolve, reject) => worker.once('error', reject));
  failed.catch(() => undefined);
  const next = <T>() => new Promise<T>((resolve) => worker.once('message', resolve));
  await Promise.race([next(), failed]);
  return {
    async look() {
      const seen = next<Seen>();
      worker.postMessage('look');
      return await Promise.race([seen, failed]);
    },
    async stop() {
      await worker.terminate();
    },
  };
}

const STATS = '{"type":"system_stats","data":';

// The same file is the worker.
if (!isMainThread && parentPort !== null) {
  const port = Number(workerData);
  const stream = await EventStream.open(port);
  const client = await SocketClient.open(port);
  client.say('subscribe', { topics: ['stats'] });
  await client.take('system_stats');
  let pingMs: number[] = [];
  parentPort.on('message', () => {
    const socket = client.told
      .filter(({ text }) => text.startsWith(STATS))
      .map(({ text }) => text.slice(STATS.length, -1));
    const streamed = stream.events.map(({ text }) => text.replace('data: ', ''));
    parentPort?.postMessage({ pingMs, socket, stream: streamed } satisfies Seen);
    pingMs = [];
  });
  const read = async () => {
    for (;;) await stream.next(30_000);
  };
  // Rejects with the stream's end, which is this thread's.
  void read();
  parentPort.postMessage('ready');
  for (let i = 0; ; i++) {
    const begun = performance.now();
    await client.ask('ping', undefined, i);
    pingMs.push(performance.now() - begun);
    await sleep(PING_PAUSE_MS);
  }
}
