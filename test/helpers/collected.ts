/** The memory of this process that is in use: garbage is collected first. */
import process from 'node:process';
import { SCRIPT_HEAP } from '#src/http/connections/heap.js';

/** In bytes. */
export function collectedBytes(): number {
  SCRIPT_HEAP.collect();
  // Objects that the first collection freed may have held buffers.
  SCRIPT_HEAP.collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
