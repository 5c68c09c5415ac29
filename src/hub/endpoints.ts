/** The routes of the hub, and the request headers that they read. */

import type { Caller } from '../access/caller.ts';
import { metricsOfSample } from '../exporters/prometheus/from-sample.ts';
import type { Exchange } from '../http/engine.ts';
import { GATE_HEADERS, type Gate } from '../http/gate.ts';
import type { Answer } from '../http/head.ts';
import { type Headers, jsonAnswer, jsonTextAnswer, statusLine } from '../http/reply.ts';
import { type Route, type Run, routesOfTable } from '../http/routes.ts';
import { parseObject } from '../json.ts';
import type { Machines } from '../machine/machines.ts';
import { ALL_SCOPES, allows } from '../scopes.ts';
import type { Fleet } from '../viewers/fleet/fleet.ts';
import { filterOf, listPartOf } from '../viewers/fleet/fleet-filter.ts';
import { DASHBOARD_HEADERS } from '../viewers/pages/pages.ts';
import { accessRun } from '../viewers/routes/access-route.ts';
import { DOCUMENT_HEADERS, runOf } from '../viewers/routes/documents.ts';
import { EVENTS_HEADERS, type EventsRouteDeps, eventsRun, muteRun } from '../viewers/routes/events-route.ts';
import { type KeyListDeps, keysRun } from '../viewers/routes/keys-route.ts';
import { requestRuns, viewOfRequest } from '../viewers/routes/request-routes.ts';
import { dialInRun, SOCKET_HEADERS, socketRuns } from '../viewers/routes/socket-route.ts';
import {
  checkCapacity,
  type StreamRouteDeps,
  streamHead,
  streamRun,
} from '../viewers/routes/stream-route.ts';
import type { Sockets } from '../viewers/socket/sockets.ts';
import { HUB_OPERATIONS, type IdOnHost } from '../wire/hub-operations.ts';
import { OPERATIONS, type Operation, type OperationId } from '../wire/operations.ts';
import type { DialIns } from './dial-ins.ts';

export const HUB_HEADERS: ReadonlySet<string> = new Set([
  ...GATE_HEADERS,
  ...DOCUMENT_HEADERS,
  ...DASHBOARD_HEADERS,
  ...SOCKET_HEADERS,
  ...EVENTS_HEADERS,
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

export interface HubRouteDeps
  extends Omit<StreamRouteDeps, 'streams'>,
    Pick<EventsRouteDeps, 'events' | 'log'> {
  readonly streams: StreamRouteDeps['streams'] & EventsRouteDeps['streams'];
  readonly gate: Pick<Gate, 'judge' | 'keep' | 'expiryOf'>;
  readonly fleet: Fleet;
  readonly sockets: Pick<Sockets, 'open'>;
  readonly dialIns: Pick<DialIns, 'open'>;
  readonly machines: Machines;
  readonly keys: KeyListDeps;
  /** The text of /metrics. */
  readonly metrics: () => string;
}

export function hubRoutes(deps: HubRouteDeps): readonly Route[] {
  const { fleet, gate, metrics, sockets, hasCapacity, machines, dialIns } = deps;
  const machineAt = ({ exchange, client }: { readonly exchange: Exchange; readonly client: Caller }) =>
    machines.get(machineIn(exchange), client);
  const socketOfOne = {
    open: (exchange: Exchange, client: Caller) =>
      sockets.open(exchange, client, machineAt({ exchange, client })),
  };
  return routesOfTable(HUB_OPERATIONS, {
    listHosts(request) {
      const { view, headers } = viewOfRequest(request);
      const { query } = request;
      return jsonTextAnswer(fleet.lists.json(filterOf(query), listPartOf(query, view.sections)), headers);
    },
    ...onHost({
      ...requestRuns(machineAt),
      // Without `read` a client does not learn which machines there are.
      getAccess: accessRun(gate, (request) =>
        allows(request.client.scopes, 'read')
          ? machineAt(request).usableScopes(request.client)
          : request.client.scopes,
      ),
      openStream: streamRun(deps, machineAt),
      openSocket: socketRuns({ gate, sockets: socketOfOne, hasCapacity }).openSocket,
    }),
    listEvents: eventsRun(deps),
    muteEvents: muteRun(deps),
    openFleetStream(request) {
      const { view, headers } = viewOfRequest(request);
      const filter = filterOf(request.query);
      if (request.exchange.head.method === 'HEAD') return streamHead(headers);
      checkCapacity(deps, request);
      fleet.open(request.exchange, filter, view, headers, gate.keep(request.client));
      return undefined;
    },
    getStatus: ({ headers }) => jsonAnswer({ status: 'ok' }, headers),
    getAccess: accessRun(gate),
    ...socketRuns({ gate, sockets, hasCapacity }),
    dialIn: dialInRun(dialIns, gate),
    listKeys: keysRun(deps.keys),
    getOpenapi: runOf('hub-openapi'),
    getMetrics: ({ headers }) => metricsAnswer(metrics(), headers),
    async getHostMetrics({ exchange, client, headers }) {
      // The scope of the route is enough: a key for metrics alone may find every machine.
      const machine = machines.get(machineIn(exchange), { ...client, scopes: ALL_SCOPES });
      const payload = parseObject(await machine.detailed(client));
      return metricsAnswer(metricsOfSample(payload ?? {}), headers);
    },
  });
}

const metricsAnswer = (body: string, headers: Headers): Answer => ({
  status: statusLine(200),
  headers: [
    ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    ...headers,
  ],
  body,
});

/** The id or the name in `/api/hosts/{id}/…`; '' is neither. */
function machineIn({ head }: Exchange): string {
  try {
    return decodeURIComponent(head.path.split('/')[3] ?? '');
  } catch {
    return '';
  }
}

/** The same by the ids that the operations have on one machine of a hub. */
function onHost<Ids extends OperationId>(
  runs: Readonly<Record<Ids, Run>>,
): Readonly<Record<IdOnHost<Ids>, Run>> {
  const rows: Readonly<Record<OperationId, Operation>> = OPERATIONS;
  const named = Object.entries<Run>(runs).map(([id, run]) => [rows[id as OperationId].onHost, run]);
  return Object.fromEntries(named) as Readonly<Record<IdOnHost<Ids>, Run>>; // By the types of the table.
}
