/**
 * Preloaded into a service under test (`node --expose-gc --import`): times how long each timer and each deferred slice
 * holds the event loop, and tells the longest over the IPC channel when asked. Collects garbage when asked, so that
 * memory that leaked can be told from memory that waits. The service itself knows nothing of it.
 */
import process from 'node:process';

type Callback = (...args: unknown[]) => unknown;
type Setter = (callback: Callback, ...rest: unknown[]) => unknown;

/** Of the clock, and of CPU time: where other programs want the processor too, only the latter is the service's own. */
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
  // All three take a callback first and hand back a handle; what else they take is passed on as it came.
  const original = globalThis[name] as unknown as Setter;
  const replacement: Setter = (callback, ...rest) => original(timed(callback), ...rest);
  Object.defineProperty(globalThis, name, { value: Object.assign(replacement, original), writable: true });
}

process.on('message', (what) => {
  if (what === 'collect') {
    globalThis.gc?.();
    process.send?.({ heapUsedBytes: process.memoryUsage().heapUsed });
    return;
  }
  process.send?.({ longestMs, longestCpuMs, holds });
  longestMs = 0;
  longestCpuMs = 0;
  holds = 0;
});
// It must not keep the service alive.
process.channel?.unref();
