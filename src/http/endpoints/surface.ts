/** All routes, and the request headers that any of them reads. */
import type { Commands } from '../../commands/command.ts';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import type { MetricsRooms } from '../../exporters/prometheus/metrics.ts';
import type { HistoryQueries } from '../../history/queries.ts';
import type { ProcessQueries } from '../../processes/queries.ts';
import type { Sampler } from '../../stats/sampler.ts';
import type { OperationId } from '../../wire/operations.ts';
import type { SystemPayload } from '../../wire/system.ts';
import type { Caller } from '../clients/caller.ts';
import { GATE_HEADERS, type Gate } from '../gate.ts';
import { RELAY_HEADER } from '../relay.ts';
import { type Route, type Runs, routesOf } from '../routes.ts';
import type { Hub } from '../socket/hub.ts';
import type { StreamHub } from '../stream/stream-hub.ts';
import { DASHBOARD_HEADERS, dashboardRoutes, type WebFile } from './dashboard.ts';
import { DOCUMENT_HEADERS, documentRuns } from './documents.ts';
import { historyRuns } from './history.ts';
import { mediaRuns } from './media.ts';
import { mediaArtRuns } from './media-art.ts';
import { METRICS_HEADERS, metricsRuns } from './metrics.ts';
import { powerRuns } from './power.ts';
import { processRuns } from './processes.ts';
import { statsRuns } from './stats.ts';
import { wakeRuns } from './wake.ts';
import { SOCKET_HEADERS, socketRuns } from './websocket.ts';

export const HEADERS_READ: ReadonlySet<string> = new Set([
  ...GATE_HEADERS,
  ...DOCUMENT_HEADERS,
  ...SOCKET_HEADERS,
  ...DASHBOARD_HEADERS,
  ...METRICS_HEADERS,
  RELAY_HEADER,
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

/** What the routes need of the other rooms. */
export interface Rooms {
  readonly metrics: MetricsRooms;
  readonly gate: Gate;
  readonly sampler: Sampler;
  readonly fanout: StreamHub;
  readonly sockets: Hub;
  readonly commands: Commands;
  readonly power: Power;
  readonly media: Media;
  readonly processQueries: ProcessQueries | undefined;
  readonly history: HistoryQueries;
  readonly dashboard: readonly WebFile[];
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
  /** Whether one more subscriber may be accepted. */
  readonly hasRoom: (caller: Caller) => boolean;
}

export function surfaceOf(rooms: Rooms): readonly Route[] {
  // The compiler misses an operation that nothing runs.
  const runs: Runs<OperationId> = {
    ...statsRuns(rooms),
    ...historyRuns(rooms),
    ...powerRuns(rooms),
    ...mediaRuns(rooms),
    ...mediaArtRuns(rooms),
    ...processRuns(rooms),
    ...wakeRuns(rooms),
    ...documentRuns(),
    ...socketRuns(rooms),
    ...metricsRuns(rooms.metrics),
  };
  return [...routesOf(runs), ...dashboardRoutes(rooms)];
}
