/**
 * A program: reads the sensors and batteries of the machine under the folder that is its argument every 100 ms, and
 * prints a JSON line each time. Ends when its input does, by running out of things to do.
 */
import '../helpers/service/dead-buses.ts';
import path from 'node:path';
import type { SensorCounters } from '#src/host/details.js';
import { openNativeHost } from '#src/host/native.js';

/** How long the reading took and how late it began, in milliseconds. */
export interface SensorLine {
  readonly took: number;
  readonly late: number;
  readonly sensors: readonly SensorCounters[];
  readonly batteries: number;
}

const INTERVAL = 100;

function main(root: string): void {
  const host = openNativeHost({ proc: path.join(root, 'proc'), sys: path.join(root, 'sys'), files: root });
  let due = performance.now();
  const tick = () => {
    const started = performance.now();
    const counters = host.readCounters(0, true, INTERVAL);
    const took = performance.now() - started;
    const { sensors, batteries } = counters;
    const line: SensorLine = {
      took,
      late: started - due,
      sensors: sensors ?? [],
      batteries: batteries?.length ?? 0,
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    due += INTERVAL;
    timer = setTimeout(tick, due - performance.now());
  };
  let timer = setTimeout(tick, 0);
  process.stdin.resume().once('end', () => clearTimeout(timer));
}

if (process.argv[1] === import.meta.filename) main(process.argv[2] ?? '/');
