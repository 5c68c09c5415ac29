/** A program: prints the network totals, as a JSON line, for each line of its input. */
import '../helpers/service/dead-buses.ts';
import { createInterface } from 'node:readline';
import { SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { type Baseline, deriveSample, NO_BASELINE } from '#src/stats/sample.js';

const host = openNativeHost();
let baseline: Baseline = NO_BASELINE;
for await (const _ of createInterface({ input: process.stdin })) {
  const derived = deriveSample(baseline, host.readCounters(SECTION_BITS.network, false, 0));
  baseline = derived.baseline;
  console.log(JSON.stringify(derived.sample.network?.stats));
}
