/** Measures work by linear scans of a head's length in the same process: quadratic work takes thousands of them. */
import process from 'node:process';

/** A head may have 16 KiB. */
export const LONG = 16_384;
/** Single runs are slow where memory is collected in them, and on a busy machine, which also compiles late what it runs often. */
const RUNS = 25;

/** Microseconds of this process's CPU time: on a busy machine every run may be interrupted. */
function timeOf(run: () => unknown): number {
  const begun = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(begun);
  return user + system;
}

function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
}

/** Ten scans in one measurement: the clock of the processor counts whole microseconds. */
function measureScan(): number {
  const text = `\u2028${'x'.repeat(LONG - 1)}`;
  const scans = () => Array.from({ length: 10 }, () => scan(text));
  return Math.min(...Array.from({ length: 50 }, () => timeOf(scans))) / 10;
}

const scanUs = measureScan();

/** Returns the time of the fastest of several runs, or of the first that takes at most `enough`, in scans of LONG characters. */
export function scansOf(run: () => unknown, enough: number): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let left = RUNS; left > 0 && fastest > enough; left--)
    fastest = Math.min(fastest, timeOf(run) / scanUs);
  return fastest;
}
