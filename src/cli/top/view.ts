/** The content of the screen as one value, and the points of its charts. */
import type { Connected, Section, StatsPayload } from '../../client/client.ts';
import type { MediaDetail } from '../../wire/media.ts';
import type { ProcessRow } from '../../wire/process.ts';
import type { Point } from './chart.ts';

export type Sample = StatsPayload<Section, true>;
export type Sort = 'cpu' | 'memory' | 'name';
/** The request for the list of processes. */
export interface Listing {
  readonly sort: Sort;
  readonly query: string;
  /** Number of rows above the first visible one. */
  readonly offset: number;
}
export interface Processes {
  readonly total: number;
  readonly rows: readonly ProcessRow[];
  /** The sort and the query that were requested. */
  readonly listing: Listing;
}

export interface View {
  readonly url: string;
  /** A machine of a hub that was opened from the list. */
  readonly isOfHub: boolean;
  readonly nowMs: number;
  readonly connected: Connected;
  readonly sample: Sample;
  /** undefined: not received yet, or switched off. */
  readonly processes: Processes | undefined;
  readonly media: { readonly status: MediaDetail; readonly atMs: number } | undefined;
  /** Why the values are old, and since when. */
  readonly outage: { readonly sinceMs: number; readonly reason: string } | undefined;
  readonly traces: Traces;
  readonly listing: Listing;
  /** The keys are shown instead of the machine. */
  readonly isHelp: boolean;
  /** The filter is being typed. */
  readonly isTyping: boolean;
  /** The pid of the row that commands apply to. */
  readonly selected: number | undefined;
  /** The process whose end waits for confirmation. */
  readonly ending: ProcessRow | undefined;
  /** Result of the last command. */
  readonly note: string;
}

const sum = (...values: readonly (number | null | undefined)[]): Point => {
  const known = values.filter((value) => typeof value === 'number');
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
};

/** The charts, and the value of a sample that is a point of each. */
const SERIES = {
  cpu: ({ cpu }: Sample): Point => cpu?.current_load ?? null,
  memory: ({ memory }: Sample): Point => memory?.used_percent ?? null,
  network: ({ network }: Sample): Point => sum(network?.receive_rate, network?.send_rate),
  gpu: ({ gpu }: Sample): Point => gpu?.current_load ?? null,
} as const;
export type Series = keyof typeof SERIES;
/** Oldest first. */
export type Traces = Readonly<Record<Series, readonly Point[]>> & {
  /** Time of each point, in the service's Unix seconds. */
  readonly times: readonly number[];
};

/** Two per character of the widest chart. */
export const MAX_POINTS = 512;

/** The points before the first sample. */
export const FIRST_POINTS: Traces = { times: [], cpu: [], memory: [], network: [], gpu: [] };

export const tracesOf = (times: readonly number[], pointsOf: (name: Series) => readonly Point[]): Traces => ({
  times,
  cpu: pointsOf('cpu'),
  memory: pointsOf('memory'),
  network: pointsOf('network'),
  gpu: pointsOf('gpu'),
});

export const withPoints = (traces: Traces, sample: Sample): Traces =>
  tracesOf([...traces.times, sample.timestamp].slice(-MAX_POINTS), (name) =>
    [...traces[name], SERIES[name](sample)].slice(-MAX_POINTS),
  );
