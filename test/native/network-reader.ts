/** A program: prints the network totals and the interfaces, as a JSON line, for each line of its input. */
import '../helpers/service/dead-buses.ts';
import { createInterface } from 'node:readline';
import { SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { type Baseline, deriveSample, NO_BASELINE } from '#src/stats/sample.js';

const host = openNativeHost();
let baseline: Baseline = NO_BASELINE;
for await (const _ of createInterface({ input: process.stdin })) {
  const counters = host.readCounters(SECTION_BITS.network, false, 0);
  const derived = deriveSample(baseline, counters);
  baseline = derived.baseline;
  console.log(JSON.stringify({ totals: derived.sample.network?.stats, links: counters.network }));
}
