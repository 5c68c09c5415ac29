/** The stream half of the service inside this process: events of one size, and the watch over their peers. */
import './dead-buses.ts';
import type { Test } from 'tap';
import { systemClock } from '#src/clock.js';
import { openNativeHost } from '#src/host/native.js';
import { Ledger } from '#src/http/clients/ledger.js';
import { PeerWatch } from '#src/http/connections/peers.js';
import { NativeFanout } from '#src/http/stream/native-fanout.js';
import { StreamPool } from '#src/http/stream/pool.js';
import { createLog } from '#src/log/log.js';
import type { Sample } from '#src/stats/sample.js';
import { Encoded, viewOf } from '#src/stats/view.js';
import type { TlsPair } from '#src/tls/pair.js';
import { FakeDemand } from '../fakes/demand.ts';
import { clientAt } from '../fakes/stream.ts';
import { createEngine } from './engine.ts';

const DETAIL = viewOf(0, true);

function encodedOf(number: number, bytes: number): Encoded {
  const sample: Sample = {
    timestamp: number,
    uptime: 0,
    // Its other keys do not matter here.
    extras: { interval_seconds: 1, host: 'x'.repeat(bytes) } as Sample['extras'] & object,
    cpu: undefined,
    memory: undefined,
    gpu: undefined,
    disks: undefined,
    network: undefined,
    counters: { takenAtNs: 0, sinceBootNs: 0, unixMs: 0 },
  };
  return new Encoded(sample);
}

export interface StreamServerOptions {
  readonly address: string;
  readonly eventBytes: number;
  /** Milliseconds between two events; undefined: events are sent by `publish` only. */
  readonly tickMs: number | undefined;
  /** Options of the watch; undefined: peers are not watched. */
  readonly watch: { readonly limitMs: number; readonly pauseMs: number } | undefined;
  /** Over TLS. */
  readonly pair?: TlsPair;
}

/** Ends with the test. */
export async function serveStreams(
  t: Test,
  { address, eventBytes, tickMs, watch: limits, pair }: StreamServerOptions,
) {
  const host = openNativeHost();
  const { streams } = host;
  if (streams === undefined) throw new Error('no streams on this platform');
  const ledger = new Ledger();
  const pool = new StreamPool(streams, ledger);
  const clock = systemClock(() => performance.now());
  const fanout = new NativeFanout({ source: new FakeDemand(), clock, ledger, pool });
  let number = 0;
  let newest = encodedOf(number, eventBytes);
  const server = await createEngine({
    headersRead: new Set(),
    countAdopted: () => pool.size,
    polls: streams.openPolls(),
    onRequest: (exchange) => fanout.open(exchange, DETAIL, newest, [], clientAt('127.0.0.1'), false),
    onConnection: () => {
      watch.wake();
      return true;
    },
  });
  const watch = new PeerWatch({
    host,
    clock: systemClock(() => performance.now()),
    log: createLog(() => undefined),
    server,
    ...limits,
  });
  const port = await server.listen(address, 0, pair);
  host.tuneListener(port, { notSentLowWaterBytes: 16 * 1024 });
  if (limits !== undefined) watch.start(port);
  const publish = () => {
    newest = encodedOf(++number, eventBytes);
    fanout.publish(newest);
  };
  const ticks = tickMs === undefined ? undefined : setInterval(publish, tickMs);
  t.teardown(() => {
    clearInterval(ticks);
    watch.stop();
    fanout.close();
    pool.end();
    server.close();
  });
  return { host, port, fanout, server, publish };
}
