/** The service's process readings: `samples` takes them as a sampler does, `list` as a list request does. */
import process from 'node:process';
import { DEFAULT_CONFIG } from '#src/config/schema.js';
import { openNativeProcesses } from '#src/host/native.js';
import { buildGroupedList } from '#src/processes/list.js';
import { ProcessReadings } from '#src/processes/readings.js';
import { advanceWindow, type ProcessWindow } from '#src/processes/shares.js';
import { pace, serve } from './serve.ts';

const host = openNativeProcesses();
let bytes = 0;

const now = () => performance.now();
const clock = { now, sinceBoot: now, setTimer: setTimeout, clearTimer: () => undefined };
const readings = new ProcessReadings({ host, clock, config: { current: DEFAULT_CONFIG } });

function runSamples(count: number, intervalMs: number): Promise<void> {
  return pace(count, intervalMs, () => {
    bytes += JSON.stringify(readings.summary(intervalMs, intervalMs) ?? null).length;
  });
}

let window: ProcessWindow | undefined;

function runList(count: number, intervalMs: number): Promise<void> {
  return pace(count, intervalMs, async () => {
    window = advanceWindow(window, await host.read(), 1e12);
    bytes += JSON.stringify(buildGroupedList(window, { sort: 'cpu', limit: 1000, query: '' })).length;
  });
}

const run = process.argv[2] === 'samples' ? runSamples : runList;
serve(async (count, intervalMs) => {
  await run(count, intervalMs);
  if (bytes === 0) throw new Error('nothing was encoded');
});
