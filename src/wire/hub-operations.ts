/** Every operation of the hub, as wire/operations.ts has those of the service. */
import { OPERATIONS, type Operation, type OperationId } from './operations.ts';

const host = { method: 'GET', tag: 'hosts' } as const;
const reading = { ...host, scope: 'read' } as const;
const { getStatus, getAccess, listKeys, getOpenapi, getMetrics, openSocket, listEvents, muteEvents } =
  OPERATIONS;

/** The id of an operation of the service on one machine of the hub. */
export type IdOnHost<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { readonly onHost: infer Name }
  ? Name & string
  : never;
/** The operations of one machine, by their ids. */
type OnHost = { readonly [Id in OperationId as IdOnHost<Id>]: Operation<never> };

/** Returns the same operation of one machine of the hub. Its flag is the machine's own. */
function onHost({ method, path, body, scope, staysOpen }: Operation): Operation<never> {
  return {
    method,
    path: `/api/hosts/*/${path.slice('/api/'.length)}`,
    tag: 'hosts',
    ...(scope === undefined ? {} : { scope }),
    ...(body === undefined ? {} : { body }),
    ...(staysOpen === undefined ? {} : { staysOpen }),
  };
}

// Object.fromEntries cannot express which ids there are.
const ON_HOST = Object.fromEntries(
  Object.values<Operation>(OPERATIONS).flatMap((row) =>
    row.onHost === undefined ? [] : [[row.onHost, onHost(row)]],
  ),
) as OnHost;

// It comes first in the document of the hub.
const { openHostStream, ...others } = ON_HOST;

export const HUB_OPERATIONS = {
  listHosts: { ...reading, path: '/api/hosts' },
  openHostStream,
  ...others,
  getHostMetrics: {
    ...host,
    path: '/api/hosts/*/metrics',
    scope: 'metrics',
    feature: 'enable_metrics',
  },
  listEvents,
  muteEvents,
  openFleetStream: { ...reading, path: '/api/fleet/stream', staysOpen: true },
  openSocket,
  dialIn: { method: 'GET', path: '/api/agent', tag: 'hosts', staysOpen: true },
  getStatus,
  listKeys,
  getAccess,
  getOpenapi,
  getMetrics,
} as const satisfies Readonly<Record<string, Operation>>;

export type HubOperationId = keyof typeof HUB_OPERATIONS;
