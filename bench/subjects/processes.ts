/**
 * The service's process readings: `samples` picks them up as samples do, but at any pace, `list` as a list
 * request does.
 */
import process from 'node:process';
import { openNativeProcesses } from '#src/host/native.js';
import { buildGroupedList } from '#src/processes/list.js';
import { advanceWindow, deriveProcessSummary, type ProcessWindow } from '#src/processes/shares.js';
import { pace, serve } from './serve.ts';

/** As for the samples of a stream. */
const LEAD_MS = 250;

const host = openNativeProcesses();
let bytes = 0;

let window: ProcessWindow | undefined;

function runSamples(count: number, intervalMs: number): Promise<void> {
  return pace(count, intervalMs, () => {
    const columns = host.latest();
    host.ask(Math.max(0, intervalMs - LEAD_MS));
    if (columns === null) return;
    window = advanceWindow(window, columns, 1e12);
    bytes += JSON.stringify(deriveProcessSummary(window)).length;
  });
}

function runList(count: number, intervalMs: number): Promise<void> {
  return pace(count, intervalMs, async () => {
    window = advanceWindow(window, await host.read(), 1e12);
    bytes += JSON.stringify(
      buildGroupedList(window, { sort: 'cpu', limit: 1000, query: '', hasDisks: false }),
    ).length;
  });
}

const run = process.argv[2] === 'samples' ? runSamples : runList;
serve(async (count, intervalMs) => {
  await run(count, intervalMs);
  if (bytes === 0) throw new Error('nothing was encoded');
});
