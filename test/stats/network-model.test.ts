/** The totals against a model of the kernel: random histories, judged by what really passed the ports. */
import process from 'node:process';
import t from 'tap';
import type { InterfaceCounters } from '#src/host/host.js';
import { advanceTotals, type NetworkTotals, NO_TOTALS } from '#src/stats/network-totals.js';
import { createRandom } from '../helpers/random.ts';
import { ModelKernel } from './network-model.ts';
import type { Bytes } from './network-model-links.ts';

/** HOSTWIRE_FULL=1: a million. */
const READINGS = process.env['HOSTWIRE_FULL'] === '1' ? 1_000_000 : 20_000;
/** A machine lives this many readings; so the sums stay where every byte is exact. */
const LIFE = 500;

const COUNTERS = { sent: 'sentBytes', received: 'receivedBytes' } as const;
const DIRECTIONS = ['sent', 'received'] as const;

interface Reading {
  readonly before: NetworkTotals;
  readonly after: NetworkTotals;
  readonly links: readonly InterfaceCounters[];
}

/** Returns the fault in the sums of `reading`, where the ports carried what `kernel` noted. */
function judge(reading: Reading, kernel: ModelKernel, direction: keyof Bytes): string | undefined {
  const { before, after, links } = reading;
  const key = COUNTERS[direction];
  const grown = after[key] - before[key];
  if (grown < 0) return 'it fell';
  const hasHardware = links.some((link) => link.hasDevice);
  const hadHardware = before.counted.some((link) => link.hasDevice);
  const carried = (hasHardware ? kernel.byHardware : kernel.byPorts)[direction];
  if (grown > carried) return `it jumped by ${grown} where ${carried} passed`;
  // While the machine turns from one without hardware into one with it, or back, bytes may be missed.
  const least = hasHardware === hadHardware ? carried - kernel.unseen[direction] : 0;
  if (grown < least) return `it grew by ${grown} where ${least} passed undisturbed`;
  return undefined;
}

/** The sums of a machine's life, and what was wrong with them. */
function live(
  seed: number,
  readings: number,
): { readonly errors: readonly string[]; readonly exact: number } {
  const random = createRandom(seed);
  const kernel = new ModelKernel(random);
  const isContainer = random.below(3) === 0;
  for (let count = random.below(4); count >= 0; count--) kernel.add(isContainer ? 'veth' : 'nic');
  const errors: string[] = [];
  let exact = 0;
  let totals = NO_TOTALS;
  for (let at = 0; at < readings; at++) {
    const isFirst = at === 0;
    for (let events = random.below(12); events > 0; events--) {
      if (random.below(6) === 0) kernel.change();
      else kernel.carry();
    }
    const links = kernel.read();
    const reading = { before: totals, after: advanceTotals(totals, links), links };
    for (const direction of DIRECTIONS) {
      const error = isFirst ? undefined : judge(reading, kernel, direction);
      if (error !== undefined) errors.push(`seed ${seed}, reading ${at}, ${direction}: ${error}`);
    }
    if (kernel.unseen.sent === 0 && kernel.byPorts.sent > 0) exact++;
    totals = reading.after;
    kernel.beginReading();
  }
  return { errors, exact };
}

t.test(
  `[3.network-monotonic] [3.network-which] ${READINGS} readings of model machines: the sums never fall, never jump, and have each byte once`,
  async (t) => {
    let exact = 0;
    for (let seed = 1; seed <= READINGS / LIFE; seed++) {
      const life = live(seed, LIFE);
      exact += life.exact;
      for (const error of life.errors.slice(0, 3)) t.fail(error);
      if (life.errors.length > 0) break;
    }
    t.ok(exact > READINGS / 4, `every byte was demanded in ${exact} readings`);
  },
);
