/**
 * A program: reads the whole host every 100 ms, and what the machine is every 2 s, and prints a JSON line each time; with
 * a folder as its argument only the sensors and batteries of the machine under it. Ends when its input does, by running
 * out of things to do.
 */
import '../helpers/service/dead-buses.ts';
import path from 'node:path';
import type { SensorCounters } from '#src/host/details.js';
import { ALL_SECTIONS, type DiskCounters } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';

/** Times in milliseconds; `at` is the wall clock, so that another process can compare. */
export interface Reading {
  readonly at: number;
  readonly late: number;
  readonly took: number;
  /** Its memory without V8's. */
  readonly bytes: number;
  readonly disks: readonly DiskCounters[];
  readonly sensors: readonly SensorCounters[];
  readonly batteries: number;
}
export type TickLine = Reading | { readonly at: number; readonly systemTook: number };

const INTERVAL = 100;
const SYSTEM_EVERY = 20;

function main(root?: string): void {
  const folders = root && { proc: path.join(root, 'proc'), sys: path.join(root, 'sys'), files: root };
  const host = openNativeHost(...(folders ? [folders] : []));
  const print = (line: TickLine) => process.stdout.write(`${JSON.stringify(line)}\n`);
  let due = performance.now();
  let count = 0;
  const tick = () => {
    const started = performance.now();
    const counters = host.readCounters(root === undefined ? ALL_SECTIONS : 0, true, INTERVAL);
    const took = performance.now() - started;
    const { rss, heapTotal } = process.memoryUsage();
    const { disks, sensors, batteries } = counters;
    print({
      at: Date.now(),
      late: started - due,
      took,
      bytes: rss - heapTotal,
      disks: disks ?? [],
      sensors: sensors ?? [],
      batteries: batteries?.length ?? 0,
    });
    if (root === undefined && count++ % SYSTEM_EVERY === 0)
      void host.readSystem().then(() => print({ at: Date.now(), systemTook: performance.now() - started }));
    due += INTERVAL;
    timer = setTimeout(tick, due - performance.now());
  };
  let timer = setTimeout(tick, 0);
  process.stdin.resume().once('end', () => clearTimeout(timer));
}

if (process.argv[1] === import.meta.filename) main(process.argv[2]);
