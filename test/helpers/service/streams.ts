/** A fan-out whose streams the native writer sends, for an engine that the test makes. */
import './dead-buses.ts';
import type { Test } from 'tap';
import { systemClock } from '#src/clock.js';
import { openNativeHost } from '#src/host/native.js';
import { BufferQuota } from '#src/http/clients/buffer-quota.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import type { Engine } from '#src/http/engine.js';
import type { Sample } from '#src/stats/sample.js';
import { Encoded } from '#src/stats/view.js';
import { NativeFanout } from '#src/viewers/stream/native-fanout.js';
import { StreamPool } from '#src/viewers/stream/stream-pool.js';
import { FakeDemand } from '../fakes/demand.ts';

/** The event `number`, with `bytes` of padding when it is asked for with details. */
export function encodedOf(number: number, bytes = 10): Encoded {
  const sample: Partial<Sample> = {
    timestamp: number,
    uptime: 0,
    // Its other keys do not matter here.
    extras: { interval_seconds: 1, host: 'x'.repeat(bytes) } as Sample['extras'] & object,
  };
  return new Encoded(sample as Sample);
}

export function createStreams() {
  const host = openNativeHost();
  const { streams } = host;
  if (streams === undefined) throw new Error('no streams on this platform');
  const [quota, counts, source] = [new BufferQuota(), new ViewerCounts(), new FakeDemand()];
  const clock = systemClock(() => performance.now());
  const pool = new StreamPool(streams, quota);
  const fanout = new NativeFanout({ source, clock, quota, counts, pool });
  return {
    host,
    clock,
    quota,
    counts,
    source,
    pool,
    fanout,
    /** The part of the engine's options that hands streams over. */
    engineOptions: {
      headersRead: new Set<string>(),
      countAdopted: () => pool.size,
      openPolls: () => streams.openPolls(),
    },
    /** Ends them, and then `engine`, with the test. */
    endWith(t: Test, engine: Engine): void {
      t.teardown(() => {
        fanout.close();
        pool.end();
        engine.close();
      });
    },
  };
}
