/** All routes of the service, and the request headers that any of them reads. */

import type { Caller } from '../../access/caller.ts';
import type { MetricsDeps } from '../../exporters/prometheus/metrics.ts';
import type { Exchange } from '../../http/engine.ts';
import { GATE_HEADERS, type Gate } from '../../http/gate.ts';
import { jsonAnswer } from '../../http/reply.ts';
import { type Route, type Runs, routesOfTable } from '../../http/routes.ts';
import type { Machine } from '../../machine/machine.ts';
import { OPERATIONS, type OperationId } from '../../wire/operations.ts';
import { DASHBOARD_HEADERS, dashboardRoutes, type WebFile } from '../pages/pages.ts';
import type { Sockets } from '../socket/sockets.ts';
import { accessRun } from './access-route.ts';
import { DOCUMENT_HEADERS, runOf } from './documents.ts';
import { EVENTS_HEADERS, type EventsRouteDeps, eventsRun, muteRun } from './events-route.ts';
import { type KeyListDeps, keysRun } from './keys-route.ts';
import { requestRuns } from './request-routes.ts';
import { METRICS_HEADERS, metricsRuns } from './scrape.ts';
import { SOCKET_HEADERS, socketRuns } from './socket-route.ts';
import { type StreamRouteDeps, streamRun } from './stream-route.ts';

export const HEADERS_READ: ReadonlySet<string> = new Set([
  ...GATE_HEADERS,
  ...DOCUMENT_HEADERS,
  ...SOCKET_HEADERS,
  ...DASHBOARD_HEADERS,
  ...METRICS_HEADERS,
  ...EVENTS_HEADERS,
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

export interface ServiceRouteDeps
  extends Omit<StreamRouteDeps, 'streams'>,
    Pick<EventsRouteDeps, 'events' | 'log'> {
  readonly streams: StreamRouteDeps['streams'] & EventsRouteDeps['streams'];
  readonly sockets: Pick<Sockets, 'open'>;
  readonly machine: Machine;
  readonly keys: KeyListDeps;
  readonly metrics: MetricsDeps;
  readonly gate: Gate;
  readonly dashboard: readonly WebFile[];
}

export function serviceRoutes(deps: ServiceRouteDeps): readonly Route[] {
  const { machine } = deps;
  const sockets = {
    open: (exchange: Exchange, caller: Caller) => deps.sockets.open(exchange, caller, machine),
  };
  // The compiler misses an operation that nothing runs.
  const runs: Runs<OperationId> = {
    ...requestRuns(() => machine),
    openStream: streamRun(deps, () => machine),
    ...socketRuns({ ...deps, sockets }),
    listEvents: eventsRun(deps),
    muteEvents: muteRun(deps),
    getStatus: ({ headers }) => jsonAnswer({ status: 'ok' }, headers),
    listKeys: keysRun(deps.keys),
    getAccess: accessRun(deps.gate),
    getOpenapi: runOf('openapi'),
    ...metricsRuns(deps.metrics),
  };
  return [...routesOfTable(OPERATIONS, runs), ...dashboardRoutes(deps)];
}
