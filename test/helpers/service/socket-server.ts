/** The sockets' half of the service inside this process: no machine, samples of any size whenever a test wants. */
import './dead-buses.ts';
import process from 'node:process';
import type { Test } from 'tap';
import { type Command, Commands, defineCommand } from '#src/commands/command.js';
import { DEFAULT_CONFIG } from '#src/config/schema.js';
import { createLog } from '#src/log.js';
import type { Sample } from '#src/stats/sample.js';
import { Encoded, type View } from '#src/stats/view.js';
import { clientAt } from '../fakes/stream.ts';

/** A sample that is known by its timestamp and has about `bytes` with detail. */
export function encodedOf(number: number, bytes = 0): Encoded {
  const sample: Sample = {
    timestamp: number,
    uptime: 0,
    // What else is in it does not matter here.
    extras: { interval_seconds: 1, host: 'x'.repeat(bytes) } as Sample['extras'] & object,
    cpu: undefined,
    memory: undefined,
    gpu: undefined,
    disks: undefined,
    network: undefined,
  };
  return new Encoded(sample);
}

export interface SocketServerOptions {
  /** Bytes of each sample with detail. */
  readonly sampleBytes?: number;
  /** What `media` with the action `stop` answers, once it does. */
  readonly run?: () => Promise<string>;
  readonly onPublish?: (topic: string) => void;
}

/** Ends with the test. */
export async function serveSockets(t: Test, options: SocketServerOptions = {}) {
  // Read by uWebSockets.js when it is loaded, as main does it.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
  const [{ HttpServer }, { Sockets }] = await Promise.all([
    import('#src/http/uws/server.js'),
    import('#src/http/socket/hub.js'),
  ]);
  const log: string[] = [];
  const demand = new Map<View, number>();
  const count = (view: View, change: number) => demand.set(view, (demand.get(view) ?? 0) + change);
  let number = 1;
  let title = '';
  let newest = encodedOf(number, options.sampleBytes);
  const rows: readonly Command[] = [
    defineCommand({
      name: 'media.stop',
      feature: undefined,
      check: () => undefined,
      run: async () => ({ result: { message: (await options.run?.()) ?? 'Done' } }),
    }),
  ];
  const sockets = new Sockets({
    version: '0',
    commands: new Commands(rows, () => DEFAULT_CONFIG.features),
    features: () => DEFAULT_CONFIG.features,
    log: createLog((line) => log.push(line)),
    now: () => performance.now(),
    defer: (slice) => void setImmediate(slice),
    publish: (topic, bytes) => {
      options.onPublish?.(topic);
      server.publish(topic, bytes);
    },
    onSubscribed: (view) => count(view, 1),
    onUnsubscribed: (view) => count(view, -1),
    peek: () => newest,
    latest: async () => newest,
    intervalMs: () => 1000,
    readMedia: async () => ({ status: 'active', title, artist: '' }),
    readPower: async () => ({ actions: {}, pending: null, inhibitors: [], recorded: [] }) as never,
    queries: undefined,
  });
  const server = new HttpServer({
    headersRead: new Set(),
    socketPath: '/api/ws',
    onRequest: (exchange) => sockets.open(exchange, clientAt(exchange.head.remoteAddress ?? '')),
  });
  const port = server.listen('127.0.0.1', 0);
  t.teardown(() => {
    sockets.close('the test is over');
    server.close();
  });
  return {
    port,
    server,
    sockets,
    log,
    /** How many sockets want each view. */
    demand,
    /** The title of what is played, which is told. */
    setTitle: (next: string) => {
      title = next;
      sockets.onMediaChange();
    },
    /** The number of the sample that was sent. */
    publish: () => {
      newest = encodedOf(++number, options.sampleBytes);
      sockets.publish(newest);
      return number;
    },
  };
}
