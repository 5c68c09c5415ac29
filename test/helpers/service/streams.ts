/** Streams that the native writer sends, for an engine that the test makes. */
import './dead-buses.ts';
import type { Test } from 'tap';
import { systemClock } from '#src/clock.js';
import { openNativeHost } from '#src/host/native.js';
import { BufferQuota } from '#src/http/clients/buffer-quota.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import type { Engine } from '#src/http/engine.js';
import type { Sample } from '#src/stats/sample.js';
import { Encoded } from '#src/stats/view.js';
import { Streams } from '#src/streams/streams.js';
import { FakeSource } from '../fakes/source.ts';

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
  const { streams: writers } = host;
  if (writers === undefined) throw new Error('no streams on this platform');
  const [quota, counts, source] = [new BufferQuota(), new ViewerCounts(), new FakeSource()];
  const clock = systemClock(() => performance.now());
  const streams = new Streams({ clock, quota, counts, host: writers });
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
