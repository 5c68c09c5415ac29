/** Reads the points of the charts from before the first sample, and from outages, from the service's history. */
import type { HostSocket } from '../../client/client.ts';
import type { HistoryPayload } from '../../wire/history.ts';
import type { Point } from './chart.ts';
import { MAX_POINTS, type Series, type Traces, tracesOf } from './view.ts';

/** Time for which the service keeps each second, and the length of the slots of older values. */
const FINE_SECONDS = 300;
const SLOT_SECONDS = 10;

/** The series whose sum is the chart. */
const SERIES: Readonly<Record<Series, readonly string[]>> = {
  cpu: ['cpu.load'],
  memory: ['memory.used_percent'],
  network: ['network.receive', 'network.send'],
  gpu: ['gpu.load/0'],
};

/** The known past, the finest first. */
export type Past = readonly HistoryPayload[];

/** Returns an empty list if the service keeps no history, has a version without one, or sends something else. */
export async function readPast(
  socket: HostSocket,
  intervalSeconds: number,
  timeoutMs: number,
): Promise<Past> {
  const series = Object.values(SERIES).flat();
  const seconds = MAX_POINTS * intervalSeconds;
  const step = Math.ceil(intervalSeconds / SLOT_SECONDS) * SLOT_SECONDS;
  try {
    // One after the other: a slow link must not have to transfer both at the same time.
    const fine = await socket.history({
      series,
      since: -Math.min(seconds, FINE_SECONDS),
      step: 1,
      timeoutMs,
    });
    const coarse = await socket.history({ series, since: -seconds, step, timeoutMs });
    return [fine, coarse].filter(isSound);
  } catch {
    return [];
  }
}

/** A service may send anything. */
const isSound = ({ start, step, series }: HistoryPayload) =>
  Number.isFinite(start) && step > 0 && Object.values(series).every(({ mean }) => Array.isArray(mean));

function valueAt(names: readonly string[], past: Past, seconds: number): Point {
  for (const { start, step, series } of past) {
    const at = Math.floor((seconds - start) / step);
    const known = names.map((name) => series[name]?.mean[at]).filter((value) => typeof value === 'number');
    if (known.length > 0) return known.reduce((sum, value) => sum + value, 0);
  }
  return null;
}

/** Returns `traces` with the points between and before their own, one per interval; unchanged if nothing is known. */
export function withPast(traces: Traces, past: Past, intervalSeconds: number): Traces {
  const newest = traces.times.at(-1);
  if (newest === undefined || past.length === 0) return traces;
  const times = Array.from(
    { length: MAX_POINTS },
    (_, at) => newest - (MAX_POINTS - 1 - at) * intervalSeconds,
  );
  // The positions of the own points among them.
  const own = new Map(
    traces.times.map((time, at) => [MAX_POINTS - 1 - Math.round((newest - time) / intervalSeconds), at]),
  );
  return tracesOf(times, (name) =>
    times.map((time, at) => {
      const index = own.get(at);
      return index === undefined ? valueAt(SERIES[name], past, time) : (traces[name][index] ?? null);
    }),
  );
}
