/**
 * A program: prints the network totals, the interfaces, and how many files a reading reads on the JavaScript thread, as a
 * JSON line, for each line of its input; "detail" is a line, too.
 */
import '../../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Counters, SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { type Baseline, NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample } from '#src/stats/sample.js';

const host = openNativeHost();
let baseline: Baseline = NO_BASELINE;

/** The read(2) and pread(2) calls of this thread so far. */
function countReads(): number {
  const io = readFileSync(`/proc/self/task/${process.pid}/io`, 'utf8');
  return Number(/^syscr: (\d+)$/m.exec(io)?.[1]);
}

/** How many of those calls `act` makes. */
function readsOf(act: () => void): number {
  const first = countReads();
  const second = countReads();
  act();
  return countReads() - second - (second - first);
}

/**
 * Reads as the service does, until a reading was taken after `sinceNs`: a prober reads many interfaces. `reads`: the most
 * of one reading; with detail those of the last one.
 */
async function readAfter(sinceNs: number, withDetail: boolean) {
  let mostReads = 0;
  for (let end = performance.now() + 60_000; ; await sleep(5)) {
    let counters: Counters | undefined;
    const reads = readsOf(() => {
      counters = host.readCounters(SECTION_BITS.network, withDetail, 0);
    });
    // Reads of the rest of a detailed reading.
    const others = withDetail ? readsOf(() => host.readCounters(0, true, 0)) : 0;
    if (counters === undefined) throw new Error('no reading');
    const derived = deriveSample(baseline, counters);
    baseline = derived.baseline;
    const { network, networkTakenAtNs = 0, failures } = counters;
    const isAnswered =
      networkTakenAtNs >= sinceNs && (!withDetail || network?.some((link) => link.addresses?.length));
    mostReads = withDetail ? reads - others : Math.max(mostReads, reads);
    if (isAnswered || performance.now() > end)
      return { totals: derived.sample.network?.stats, links: network, reads: mostReads, failures };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await readAfter(Number(process.hrtime.bigint()), line === 'detail')));
