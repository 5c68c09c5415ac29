/**
 * Loaded before a hub whose memory is measured (`node --expose-gc --import`): collects garbage when it is asked over the IPC
 * channel, and returns what the heap has then.
 */
import process from 'node:process';

export interface Collected {
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
}

process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  process.send?.({ heapUsed, heapTotal, external } satisfies Collected);
});
process.channel?.unref();
