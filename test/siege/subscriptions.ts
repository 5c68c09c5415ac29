/** The 20 streams and 10 WebSockets that the honest clients of the siege follow, of a service or of a hub. */
import type { Place } from './target.ts';

/** Where events come from: those of one source have one phase. */
export interface Subscription {
  /** `fleet`: it has no phase, because a hub arms its timer anew with each event. */
  readonly source: string;
  /** The path of the stream or the socket. */
  readonly path: string;
}

export interface SocketSubscription extends Subscription {
  /** Sent when it is open. */
  readonly message: object;
  /** The beginning of the messages that are counted as events. */
  readonly begin: string;
}

export const STREAMS = 20;
export const SOCKETS = 10;
export const FLEET = 'fleet';

/** Some subscribers ask for other views. */
const QUERIES = ['', '', '', '?detail=1', '?fields=cpu,memory'];
const FLEET_QUERIES = ['', '', '?fields=cpu,memory', '?label=site:siege', '?state=up', ''];

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const streamOf = (id: string): Subscription => ({ source: id, path: `/api/hosts/${id}/stream` });

export function streamsOf({ hub, stream }: Place): readonly Subscription[] {
  if (hub === undefined)
    return range(STREAMS).map((i) => ({ source: '', path: `${stream}${QUERIES[i % QUERIES.length]}` }));
  // The whole view first: a machine that is asked for more sends an extra sample.
  const fleet = FLEET_QUERIES.map((query) => ({ source: FLEET, path: `/api/fleet/stream${query}` }));
  const machines = [...hub.real, ...hub.watched];
  return [
    ...fleet,
    ...range(STREAMS - fleet.length).map((i) => streamOf(machines[i % machines.length] ?? '')),
  ];
}

const stats = { topics: ['stats'] };

export function socketsOf({ hub }: Place): readonly SocketSubscription[] {
  const path = '/api/ws';
  const begin = '{"type":"system_stats"';
  if (hub === undefined)
    return range(SOCKETS).map(() => ({ source: '', path, begin, message: { op: 'subscribe', data: stats } }));
  const machines = [...hub.real, ...hub.watched];
  return range(SOCKETS).map((i): SocketSubscription => {
    const id = machines[i % machines.length] ?? '';
    if (i % 3 === 0) {
      const message = { op: 'subscribe', data: { topics: ['fleet'] } };
      return { source: FLEET, path, begin: '{"type":"fleet"', message };
    }
    if (i % 3 === 1)
      return { source: id, path, begin, message: { op: 'subscribe', hosts: [id], data: stats } };
    const message = { op: 'subscribe', data: stats };
    return { source: id, path: `/api/hosts/${id}/ws`, begin, message };
  });
}
