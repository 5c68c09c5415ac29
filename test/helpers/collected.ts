/** The memory of this process that is in use: garbage is collected first. */
import process from 'node:process';
import v8 from 'node:v8';
import vm from 'node:vm';

/** In bytes. */
export function collectedBytes(): number {
  // Kept out of the command line: scripts/test.mjs starts this file as any other.
  v8.setFlagsFromString('--expose-gc');
  const gc: unknown = vm.runInNewContext('gc');
  if (typeof gc !== 'function') throw new Error('no collector');
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
