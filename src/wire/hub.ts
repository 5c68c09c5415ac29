/** Payloads of the hub: the list of hosts, and events of the fleet. Payloads of one host are the service's own. */
import * as v from 'valibot';
import { SCOPES } from '../scopes.ts';
import { EVENTS_DOCS, eventList } from './events.ts';
import { HOST_STATES } from './host-states.ts';
import { FORWARDED_DOCS } from './hub-forwarded.ts';
import type { HubOperationId } from './hub-operations.ts';
import { means } from './meaning.ts';
import type { OperationDocs } from './operation-docs.ts';
import { exactUnixSeconds, known, type Shape, seconds } from './quantities.ts';
import { healthCheck, SERVICE_DOCS } from './service.ts';
import { SOCKET_DOCS } from './socket-events.ts';
import { system, systemDetail } from './system.ts';
import { usage, usageDetail } from './usage.ts';

export const hostState = v.picklist(HOST_STATES);
export type HostState = (typeof HOST_STATES)[number];

/** State of a machine, and since when. */
export const hostCondition = {
  state: means(
    hostState,
    'up: reachable; asleep, off: it said so before it went; down: unreachable; refused: it rejects this hub (key, address, certificate); unknown: never reached.',
  ),
  since: means(exactUnixSeconds, "Start of that state, by the hub's clock."),
  reason: means(v.exactOptional(v.string()), 'Why it is not up: a sentence for people.'),
};

const asOf = means(exactUnixSeconds, 'When these values were read, by the clock of the hub.');
/** The last values of a machine that is not there. */
export const lastUsage = v.strictObject({ as_of: asOf, ...usage.entries });
export const lastSystem = v.strictObject({ as_of: asOf, ...system.entries });

const fact = v.exactOptional(v.string());

export const hostRow = v.strictObject({
  id: means(v.string(), 'Its name in `hub.agents`, and in paths.'),
  name: means(v.string(), 'Its name in `hub.agents`, or its host name; the id until it is first contacted.'),
  labels: means(v.record(v.string(), v.string()), 'Its labels in `hub.agents`.'),
  ...hostCondition,
  sample_age: means(
    known(seconds),
    'Age of its last sample; null without viewers, as it is not sampled then.',
  ),
  scopes: means(
    v.exactOptional(v.array(v.picklist(SCOPES))),
    "What the hub's key for this machine allows; absent: everything, or not contacted yet.",
  ),
  version: means(fact, 'Version of its hostwire, when the hub last asked.'),
  os: means(fact, 'Its operating system.'),
  model: means(fact, 'Its maker and product, or its processor.'),
  addresses: means(v.exactOptional(v.array(v.string())), 'Its addresses, without those of loopback.'),
  wake_by: means(
    v.exactOptional(v.array(v.string())),
    'While it is not up: the ids of machines of this hub that can wake it.',
  ),
  last: means(
    v.exactOptional(lastUsage),
    'Its last values; of many disks or devices those of processor and memory.',
  ),
});
export type HostRow = Shape<typeof hostRow>;

export const hostList = v.strictObject({
  hosts: means(v.array(hostRow), 'In the order of their ids.'),
  next: means(v.exactOptional(v.string()), 'With `limit`, if there are more: the `after` of the next page.'),
});
export type HostList = Shape<typeof hostList>;

export const fleetHost = v.strictObject({
  ...hostCondition,
  sample: means(
    v.exactOptional(v.union([usage, usageDetail])),
    'Its last sample, as its own stream sends it; absent if none has arrived since it came up.',
  ),
});
export type FleetHost = Shape<typeof fleetHost>;

/**
 * One event of the fleet. The first one, and one after events that a slow reader missed, have `all: true` and
 * every host that matches; the others only those that changed.
 */
export const fleetEvent = v.strictObject({
  at: means(exactUnixSeconds, "Time at which it was composed, by the hub's clock."),
  all: means(v.boolean(), 'True if it has every matching host; any other host no longer matches.'),
  hosts: means(v.record(v.string(), fleetHost), 'By id: hosts with a new sample or a changed state.'),
  removed: means(v.array(v.string()), 'Ids of hosts that no longer match or are no longer configured.'),
});
export type FleetEvent = Shape<typeof fleetEvent>;

const { getStatus, getAccess, listKeys, getOpenapi, getMetrics } = SERVICE_DOCS;
const { openSocket } = SOCKET_DOCS;
const { listEvents, muteEvents } = EVENTS_DOCS;
const unknownHost = ['not_found', 'host_unreachable'] as const;
const invalid = ['invalid_value'] as const;

export const HUB_DOCS: Readonly<Record<HubOperationId, OperationDocs>> = {
  listHosts: {
    summary: 'The machines of the hub',
    description:
      'Filters: `label=NAME:VALUE` (several: all must match) and `state` (several: one must match). `fields` chooses the sections of last values.',
    parameters: ['label', 'state', 'host', 'fields', 'limit', 'after'],
    payloads: [hostList],
    headers: ['X-Ignored-Fields'],
    errors: invalid,
  },
  openHostStream: {
    summary: 'The samples of one machine, as its own `/api/stream` sends them',
    description: 'While the machine is unreachable, an open stream pauses and a new one is refused with 503.',
    parameters: ['id', 'fields', 'detail'],
    payloads: [usage, usageDetail],
    isStream: true,
    headers: ['X-Ignored-Fields'],
    errors: [...unknownHost, 'too_many_streams'],
  },
  getHostUsage: {
    summary: 'One sample of one machine',
    description:
      'At most 0.9 s old. Of a machine that is not there the last values that the hub has, with `as_of`; without any 503.',
    parameters: ['id', 'fields', 'detail'],
    payloads: [usage, usageDetail, lastUsage],
    headers: ['X-Ignored-Fields'],
    errors: unknownHost,
  },
  getHostSystem: {
    summary: 'The hardware and the operating system of one machine',
    description: 'At most 10 seconds old. Of a machine that is not there the last one, with `as_of`.',
    parameters: ['id', 'detail'],
    payloads: [system, systemDetail, lastSystem],
    errors: unknownHost,
  },
  openHostSocket: {
    ...openSocket,
    summary: 'The WebSocket API of one machine',
    description: 'Speaks the protocol of the `/api/ws` of a service; docs/hub.md has the differences.',
    parameters: ['id'],
    errors: [...openSocket.errors, 'not_found'],
  },
  getHostAccess: {
    summary: 'What the client may do on one machine',
    description:
      "As `/api/access`, without the scopes that it cannot use there: those of which `hub.commands` allows it no command, and those that the hub's key at the machine does not have. For a client without `read` the machine is not looked up.",
    parameters: ['id'],
    payloads: getAccess.payloads,
    errors: ['not_found'],
  },
  dialIn: {
    ...openSocket,
    summary: 'Where agents dial in',
    description:
      'For machines with `hub.url`, not for clients: `id` names an entry of `hub.agents`, whose key the request has as `Authorization: Bearer KEY`. Then the hub is the client of the machine, by docs/websocket.md. Needs no API key; a request with an `Origin` is refused.',
    errors: [...openSocket.errors, 'not_found', 'too_many_requests'],
  },
  ...FORWARDED_DOCS,
  getHostMetrics: {
    ...getMetrics,
    summary: 'Metrics of one machine for Prometheus',
    description:
      'Those of its own `/metrics` that a sample has, in the text format 0.0.4: processors, memory, filesystems, network, GPUs, batteries (docs/hub.md).',
    parameters: ['id'],
    textTypes: ['text/plain'],
    errors: unknownHost,
  },
  listHostEvents: {
    ...listEvents,
    summary: 'What began and ended on one machine',
    description: "As JSON, with the machine's own numbers.",
    parameters: ['id'],
    payloads: [eventList],
    errors: [...unknownHost, 'invalid_value'],
  },
  listEvents: {
    ...listEvents,
    summary: 'What began and ended on all machines, and machines that went and came',
    description: `${listEvents.description} The numbers are the hub's.`,
  },
  muteEvents,
  openFleetStream: {
    summary: 'The samples and states of all machines, one event per interval',
    description:
      'An event has the hosts that changed since the previous event; the first has all. Filters as in `/api/hosts`; the interval is `stats.stream_interval_seconds` of the hub.',
    parameters: ['label', 'state', 'host', 'fields', 'detail'],
    payloads: [fleetEvent],
    isStream: true,
    headers: ['X-Ignored-Fields'],
    errors: [...invalid, 'too_many_streams'],
  },
  getStatus: { ...getStatus, summary: 'Whether the hub is up', payloads: [healthCheck] },
  getAccess,
  openSocket: {
    ...openSocket,
    summary: 'The WebSocket API of all machines',
    description: `${openSocket.description} Messages name their machine (docs/hub.md).`,
  },
  listKeys,
  getOpenapi,
  getMetrics: {
    ...getMetrics,
    description:
      'The figures of the hub itself, `hostwire_hub_*` (docs/hub.md), in the text format 0.0.4. Those of a machine are at `/api/hosts/{id}/metrics`.',
    textTypes: ['text/plain'],
  },
};
