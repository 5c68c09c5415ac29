/** Streams that the native writer sends, for an engine that the test makes. */
import './dead-buses.ts';
import type { Test } from 'tap';
import { systemClock } from '#src/clock.js';
import { Quota } from '#src/fairness/quota.js';
import { openNativeHost } from '#src/host/native.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import type { Engine } from '#src/http/engine.js';
import { Streams } from '#src/streams/streams.js';
import { FakeSource } from '../fakes/source.ts';

export function createStreams(stallLimitSeconds?: number) {
  const host = openNativeHost();
  const { streams: writers } = host;
  if (writers === undefined) throw new Error('no streams on this platform');
  const [quota, counts, source] = [new Quota(), new ViewerCounts(), new FakeSource()];
  const clock = systemClock(() => performance.now());
  const streams = new Streams({
    clock,
    quota,
    counts,
    host: writers,
    ...(stallLimitSeconds !== undefined && { stallLimitSeconds }),
  });
  return {
    host,
    clock,
    quota,
    counts,
    source,
    streams,
    /** The part of the engine's options that hands streams over. */
    engineOptions: {
      headersRead: new Set<string>(),
      countAdopted: () => streams.adopted,
      openPolls: () => writers.openPolls(),
    },
    /** Ends them, and then `engine`, with the test. */
    endWith(t: Test, engine: Engine): void {
      t.teardown(() => {
        streams.close();
        streams.end();
        engine.close();
      });
    },
  };
}
