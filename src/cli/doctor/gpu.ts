/** What `hostwire doctor` says of graphics processors: which there are, what is read of them, and what it would take. */
import type { GpuCounters } from '../../host/host.ts';
import { SECTION_BITS } from '../../host/host.ts';
import type { GpuFinding, NativeMachine } from '../../host/native.ts';
import type { Row } from './rows.ts';

/** A driver without a client may take seconds to begin. */
const PATIENCE_MS = 4000;
const STEP_MS = 200;

/** Reads until every device has answered, sleeps or failed; for four seconds at most. */
export async function findGpus(host: NativeMachine): Promise<readonly GpuFinding[]> {
  const end = performance.now() + PATIENCE_MS;
  while (true) {
    host.readCounters(SECTION_BITS.gpu, true, STEP_MS);
    const findings = host.describeGpus();
    const isWaiting = findings.some(({ state }) => state === 'waiting');
    if (!isWaiting || performance.now() > end) return findings;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}

const VALUES: readonly (readonly [keyof GpuCounters, string])[] = [
  ['loadPercent', 'load'],
  ['temperatureCelsius', 'temperature'],
  ['memoryUsedBytes', 'memory'],
  ['powerWatts', 'power'],
  ['fanPercent', 'fan'],
  ['clockMhz', 'clock'],
];

const namesOf = (counters: GpuCounters, isKnown: boolean) =>
  VALUES.filter(([key]) => (counters[key] !== null) === isKnown).map(([, name]) => name);

/** Which kernel module serves a vendor's devices. */
const MODULES: Readonly<Record<string, string>> = {
  NVIDIA: 'nvidia (or nouveau)',
  AMD: 'amdgpu',
  Intel: 'i915 or xe',
};

/** What would mend it, where anybody knows. */
function cureOf({ reason, driver, counters }: GpuFinding): string {
  if (/shared object file/.test(reason))
    return "install the management library of NVIDIA's driver (Debian: libnvidia-ml1)";
  if (/different versions/.test(reason)) return "restart the machine: NVIDIA's driver was updated";
  if (/driver is not loaded/.test(reason)) return 'load the kernel module nvidia';
  if (/no driver is loaded/.test(reason))
    return `load its kernel module: ${MODULES[counters.vendor] ?? 'its vendor knows which'}`;
  if (/no permission/.test(reason)) return 'give this user access to /dev/nvidia*';
  if (/fallen off the bus|needs a reset/.test(reason))
    return 'see the kernel log; a restart of the machine helps';
  if (/does not answer/.test(reason)) return 'see the kernel log: the driver hangs';
  if (driver === 'nouveau') return "NVIDIA's own driver tells more";
  return '';
}

/** Intel's drivers have no number for the load: it is summed over the processes that may be looked at. */
const CLIENTS_CURE = 'run it as root: no process that uses it can be seen by this user';

/** What is told of one device. */
interface Telling {
  readonly what: string;
  /** Why something is missing. */
  readonly why?: string;
  readonly cure?: string;
}

/** Where a driver's values come from, if not from its own files. */
const SOURCES: Readonly<Record<string, string>> = {
  nvidia: 'NVML',
  wddm: 'DXGI and the performance counters',
};

function tellValues(finding: GpuFinding, where: string): Telling {
  const { driver, counters } = finding;
  const source = SOURCES[driver] ?? `/sys and ${driver}'s sensors`;
  const missing = namesOf(counters, false);
  const without = missing.length === 0 ? '' : `, without ${missing.join(', ')}`;
  const what = `${where}: ${namesOf(counters, true).join(', ')} from ${source}${without}`;
  if (counters.loadPercent !== null) return { what };
  const cure = driver === 'i915' || driver === 'xe' ? CLIENTS_CURE : cureOf(finding);
  return { what, why: `the load of ${where} is not known`, cure };
}

function tellOne(finding: GpuFinding): Telling {
  const { address, driver, state, reason, counters } = finding;
  const name = counters.name === '' ? counters.vendor : counters.name;
  const where = `${name} (${driver === '' ? 'no driver' : driver}, ${address})`;
  if (state === 'asleep') return { what: `${where} sleeps and is left so` };
  if (state === 'waiting') return { what: where, why: `${where} has not answered yet` };
  if (state === 'unreadable') return { what: where, why: `${where}: ${reason}`, cure: cureOf(finding) };
  return tellValues(finding, where);
}

const joined = (texts: readonly (string | undefined)[]) =>
  [...new Set(texts.filter((text) => text !== undefined && text !== ''))].join('; ');

/** One row for all devices; `looked`: where they are looked for. Pure. */
export function judgeGpus(findings: readonly GpuFinding[], looked: string): Row {
  const section = 'gpu';
  if (findings.length === 0) {
    const reason = 'there is no device of NVIDIA, AMD or Intel (a virtual display adapter is none)';
    return { section, state: 'missing', source: looked, reason };
  }
  const isDead = ({ state }: GpuFinding) => state === 'unreadable' || state === 'waiting';
  const told = findings.map(tellOne);
  const source = joined(told.map(({ what }) => what));
  const reason = joined(told.map(({ why }) => why));
  if (reason === '') return { section, state: 'ok', source };
  const remedy = joined(told.map(({ cure }) => cure));
  const state = findings.every(isDead) ? 'missing' : 'partly';
  return { section, state, source, reason, ...(remedy === '' ? {} : { remedy }) };
}
