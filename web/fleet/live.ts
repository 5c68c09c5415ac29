/** Keeps the page live: the events of all machines, and their names and labels. */
import type { HostList } from '../../src/wire/hub.ts';
import { getJson } from '../requests.ts';
import { Value } from '../value.ts';
import { connection, follow } from '../visit.ts';
import { FIELDS, type FleetEvent, Machines } from './machines.ts';
import { inPieces } from './pieces.ts';
import { alarmsOf } from './read.ts';

export const machines = new Machines();
/** Changes with each event; shown at the next frame. */
export const turn = new Value(0);

/** Interval, because a reload of the hub's configuration may change labels. */
const ROWS_EVERY_MS = 60_000;
/** Sections of the last values, which the page shows of machines that are not there. */
const ROWS_PATH = '/api/hosts?fields=cpu,memory,disks';
const ALARMS_EVERY_MS = 10_000;
/** Minimum time between two requests: many machines may be added one after the other. */
const ROWS_REST_MS = 1000;

let isAsking = false;
let isShowing = false;

/** Parsing, applying and showing an event are separate tasks: together they would take longer than a frame. */
export function show(): void {
  if (isShowing) return;
  isShowing = true;
  requestAnimationFrame(() => {
    isShowing = false;
    turn.set(turn.current + 1);
  });
}

async function readRows(): Promise<void> {
  // The stream reports when the hub cannot be reached, or refuses.
  const rows = await getJson<HostList>(ROWS_PATH).catch(() => undefined);
  if (rows === undefined) return;
  machines.setRows(rows.hosts);
  show();
}

function readRowsIn(delayMs: number): void {
  if (isAsking) return;
  isAsking = true;
  setTimeout(() => {
    isAsking = false;
    void readRows();
    void readAlarms();
  }, delayMs);
}

export async function readAlarms(): Promise<void> {
  const answer = await getJson<unknown>('/api/events?limit=1').catch(() => undefined);
  if (answer === undefined) return;
  machines.setAlarms(alarmsOf(answer));
  show();
}

/** Counts the connections: what is known of the last minute is asked for again with each. */
export let visits = 0;

function take(event: FleetEvent, isFirst: boolean): void {
  const isStale = machines.apply(event);
  if (isFirst) {
    visits++;
    readRowsIn(0);
  } else if (isStale) readRowsIn(ROWS_REST_MS);
  show();
}

export function begin(): void {
  setInterval(() => {
    if (connection.current === 'live') readRowsIn(0);
  }, ROWS_EVERY_MS);
  setInterval(() => {
    if (connection.current === 'live') void readAlarms();
  }, ALARMS_EVERY_MS);
  follow({
    path: 'api/fleet/stream',
    fields: FIELDS,
    pass: inPieces,
    // The client passes the requested fields. Timers without a delay keep the order of arrival.
    onMessage: (message, isFirst) => void setTimeout(take, 0, message as FleetEvent, isFirst),
  });
}
