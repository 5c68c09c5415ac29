/** The routes of the hub, and the request headers that they read. */
import { ServiceError } from '../errors.ts';
import type { Caller } from '../http/clients/caller.ts';
import { DASHBOARD_HEADERS } from '../http/endpoints/dashboard.ts';
import { DOCUMENT_HEADERS, runOf } from '../http/endpoints/documents.ts';
import { SOCKET_HEADERS, socketRuns } from '../http/endpoints/websocket.ts';
import type { Exchange } from '../http/engine.ts';
import { GATE_HEADERS, type Gate } from '../http/gate.ts';
import type { Answer } from '../http/head.ts';
import { bareAnswer, type Headers, jsonAnswer, jsonTextAnswer, statusLine } from '../http/reply.ts';
import { type Request, type Route, routesOfTable } from '../http/routes.ts';
import { STREAM_HEADERS } from '../http/stream/fanout.ts';
import { parseView, type View } from '../stats/view.ts';
import { HUB_OPERATIONS } from '../wire/hub-operations.ts';
import type { Asking } from './commands/asking.ts';
import { forwardedRuns } from './commands/forwarded.ts';
import type { DialIns } from './dial/dial-ins.ts';
import { filterOf } from './fleet/filter.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { HostLists } from './fleet/host-lists.ts';
import type { Host } from './host/host.ts';
import type { Hosts } from './hosts/hosts.ts';
import type { HubSockets } from './socket/sockets.ts';

export const HUB_HEADERS: ReadonlySet<string> = new Set([
  ...GATE_HEADERS,
  ...DOCUMENT_HEADERS,
  ...DASHBOARD_HEADERS,
  ...SOCKET_HEADERS,
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

export interface HubRooms {
  readonly hosts: Hosts;
  readonly lists: Pick<HostLists, 'json'>;
  readonly fleet: Fleet;
  readonly gate: Pick<Gate, 'judge' | 'keep'>;
  readonly sockets: Pick<HubSockets, 'open'>;
  readonly dialIns: Pick<DialIns, 'open'>;
  readonly asking: Asking;
  /** Whether one more stream may be opened. */
  readonly hasRoom: (caller: Caller) => boolean;
  /** The text of /metrics. */
  readonly metrics: () => string;
}

/** What the query asks for, with the header that names what is unknown in it. */
function viewOf({ query, headers }: Request): { readonly view: View; readonly headers: Headers } {
  const { view, ignored } = parseView(query.getAll('fields'), query.get('detail'));
  const extra: Headers = ignored.length === 0 ? [] : [['X-Ignored-Fields', ignored.join(', ')]];
  return { view, headers: [...extra, ...headers] };
}

/** HEAD: the stream's headers, then the end. */
const streamHead = (headers: Headers): Answer => ({
  status: statusLine(200),
  headers: [...STREAM_HEADERS, ...headers],
  body: undefined,
});

export function hubRoutes(rooms: HubRooms): readonly Route[] {
  const { hosts, lists, fleet, gate, metrics, sockets, hasRoom, asking, dialIns } = rooms;
  // `/api/hosts/{id}/…`
  const hostAt = ({ head }: Exchange): Host => hosts.find(head.path.split('/')[3] ?? '');
  const hostOf = ({ exchange }: Request): Host => hostAt(exchange);
  const openOne = {
    open: (exchange: Exchange, caller: Caller) => sockets.open(exchange, caller, hostAt(exchange)),
  };
  // Agents of one address are limited by other counts than its viewers.
  const dialIn = socketRuns({
    gate,
    sockets: dialIns,
    hasRoom: (caller) => hasRoom({ ...caller, isKeyed: true }),
  }).openSocket;
  return routesOfTable(HUB_OPERATIONS, {
    listHosts({ query, headers }) {
      return jsonTextAnswer(lists.json(filterOf(query)), headers);
    },
    openHostStream: (request) => openHostStream(rooms, hostOf(request), request),
    async getHostUsage(request) {
      const { view, headers } = viewOf(request);
      return jsonTextAnswer(await hostOf(request).usage(view, asking.askerOf(request.client)), headers);
    },
    async getHostSystem(request) {
      const { view, headers } = viewOf(request);
      const who = asking.askerOf(request.client);
      return jsonTextAnswer(await hostOf(request).system(view.withDetail, who), headers);
    },
    ...forwardedRuns({ asking, hostOf }),
    openFleetStream(request) {
      const { view, headers } = viewOf(request);
      const filter = filterOf(request.query);
      if (request.exchange.head.method === 'HEAD') return streamHead(headers);
      checkRoom(rooms, request);
      fleet.open(request.exchange, filter, view, headers, gate.keep(request.client));
      return undefined;
    },
    getStatus: ({ headers }) => jsonAnswer({ status: 'ok' }, headers),
    ...socketRuns({ gate, sockets, hasRoom }),
    openHostSocket: socketRuns({ gate, sockets: openOne, hasRoom }).openSocket,
    dialIn(request) {
      // No browser speaks for an agent: a page of any site could open this socket.
      if (request.exchange.head.headers.has('origin'))
        return bareAnswer(403, [['X-Error-Code', 'origin_not_allowed']]);
      return dialIn(request);
    },
    getOpenapi: runOf('hub-openapi'),
    getAsyncapi: runOf('hub-asyncapi'),
    getMetrics: ({ headers }) => ({
      status: statusLine(200),
      headers: [
        ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
        ['Cache-Control', 'no-store'],
        ...headers,
      ],
      body: metrics(),
    }),
  });
}

function checkRoom({ hasRoom }: HubRooms, { client }: Request): void {
  if (!hasRoom(client)) throw new ServiceError('too_many_streams', 'No more streams can be opened now.');
}

async function openHostStream(rooms: HubRooms, host: Host, request: Request): Promise<Answer | undefined> {
  const { gate } = rooms;
  const { view, headers } = viewOf(request);
  if (request.exchange.head.method === 'HEAD') return streamHead(headers);
  checkRoom(rooms, request);
  const lane = host.laneOf(view);
  // Until its stream has subscribed: the sample is wanted.
  lane.subscribe(view);
  try {
    const first = await lane.first(view);
    // Again: meanwhile the rules may have changed, and other streams been opened.
    const verdict = gate.judge(request.exchange.head);
    if (!verdict.isAllowed) return verdict.answer;
    checkRoom(rooms, request);
    // One read may have brought more samples: without the newest one it would never be sent.
    const { current } = lane;
    const sample = current?.has(view) === true ? current : first;
    lane.openFanout().open(request.exchange, view, sample, headers, gate.keep(request.client), false);
    return undefined;
  } finally {
    lane.unsubscribe(view);
  }
}
