/** The public interface of `hostwire/client`: the one file that a program imports. */
export type { MachineEvent } from '../wire/events.ts';
export type {
  HistoryEvent,
  HistoryMark,
  HistoryPayload,
  HistorySeries,
  ProcessHistoryPayload,
} from '../wire/history.ts';
export type { FleetEvent, FleetHost, HostRow, HostState } from '../wire/hub.ts';
export type { MediaAction } from '../wire/requests.ts';
export type { HostCalls, Snapshot } from './calls.ts';
export { ClientError, type ClientErrorCode, type ConnectionCode } from './errors.ts';
export {
  connectHub,
  type FleetOptions,
  type FleetTopicOptions,
  type FleetView,
  type HostConditionMessage,
  type HostFilter,
  type HubEvents,
  type HubHost,
  type HubSocket,
  type HubSubscribed,
  host,
  hosts,
  type OfHost,
  streamFleet,
} from './hub.ts';
export type { ConnectionState } from './lasting.ts';
export type * from './messages.ts';
export type { Section, StatsPayload } from './payload.ts';
export {
  type Answer,
  history,
  processesAt,
  type ReadOptions,
  type RequestOptions,
  request,
} from './rest.ts';
export { connect, type HostSocket } from './socket.ts';
export type * from './socket-options.ts';
export { type StatsStream, type StreamOptions, streamStats } from './stream.ts';
