/**
 * Preloaded into a service under test (`node --expose-gc --import`): times how long each timer and each deferred slice
 * holds the event loop, and reports the longest over the IPC channel on request. Also collects garbage on request, to
 * distinguish leaked memory from memory that is not collected yet. The service itself is unchanged.
 */
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

type Callback = (...args: unknown[]) => unknown;
type Setter = (callback: Callback, ...rest: unknown[]) => unknown;

/** In wall time and in CPU time: on a busy machine only the CPU time is the service's own. */
let longestMs = 0;
let longestCpuMs = 0;
let holds = 0;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function timed(callback: Callback): Callback {
  return (...args) => {
    const begunAt = performance.now();
    const cpuBefore = cpuMs();
    try {
      return callback(...args);
    } finally {
      holds++;
      longestMs = Math.max(longestMs, performance.now() - begunAt);
      longestCpuMs = Math.max(longestCpuMs, cpuMs() - cpuBefore);
    }
  };
}

for (const name of ['setImmediate', 'setTimeout', 'setInterval'] as const) {
  // All three take a callback first and return a handle; other arguments are passed on unchanged.
  const original = globalThis[name] as unknown as Setter;
  const replacement: Setter = (callback, ...rest) => original(timed(callback), ...rest);
  Object.defineProperty(globalThis, name, { value: Object.assign(replacement, original), writable: true });
}

/** As the service does when clients have gone, with the addon that it has loaded. */
async function returnFreeMemory(): Promise<void> {
  const file = fileURLToPath(new URL('../../../../../dist/hostwire.node', import.meta.url));
  const { trimHeap } = createRequire(import.meta.url)(file) as { trimHeap: () => Promise<void> };
  await trimHeap();
}

process.on('message', (what) => {
  if (what === 'collect') {
    globalThis.gc?.();
    void returnFreeMemory().then(() => process.send?.({ heapUsedBytes: process.memoryUsage().heapUsed }));
    return;
  }
  process.send?.({ longestMs, longestCpuMs, holds });
  longestMs = 0;
  longestCpuMs = 0;
  holds = 0;
});
// The channel must not keep the service alive.
process.channel?.unref();
