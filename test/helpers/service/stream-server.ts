/** The stream half of the service inside this process: events of one size, and the watch over their peers. */
import type { Test } from 'tap';
import { viewOf } from '#src/stats/view.js';
import type { TlsPair } from '#src/tls/pair.js';
import { encodedOf } from '../fakes/encoded.ts';
import { callerAt } from '../fakes/sender.ts';
import { createEngine } from './engine.ts';
import { createStreams } from './streams.ts';

const DETAIL = viewOf(0, true);

export interface StreamServerOptions {
  readonly address: string;
  readonly eventBytes: number;
  /** Milliseconds between two events; undefined: events are sent by `publish` only. */
  readonly tickMs: number | undefined;
  /** Default: that of the service. */
  readonly stallLimitSeconds?: number;
  /** Over TLS. */
  readonly pair?: TlsPair;
}

/** Ends with the test. */
export async function serveStreams(
  t: Test,
  { address, eventBytes, tickMs, stallLimitSeconds, pair }: StreamServerOptions,
) {
  const { host, source, streams, engineOptions, endWith } = createStreams(stallLimitSeconds);
  let number = 0;
  let newest = encodedOf(number, eventBytes);
  const server = await createEngine({
    ...engineOptions,
    onRequest: (exchange) =>
      streams.open(source, DETAIL, {
        exchange,
        headers: [],
        event: newest.event(DETAIL),
        caller: callerAt('127.0.0.1'),
        skipsNext: false,
      }),
  });
  const port = await server.listen(address, 0, pair);
  host.tuneListener(port, { notSentLowWaterBytes: 16 * 1024 });
  const publish = () => {
    newest = encodedOf(++number, eventBytes);
    source.publish(newest);
  };
  const ticks = tickMs === undefined ? undefined : setInterval(publish, tickMs);
  t.teardown(() => clearInterval(ticks));
  endWith(t, server);
  return { host, port, streams, server, publish };
}
