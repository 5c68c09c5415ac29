/** The public interface of `hostwire/client`: the one file that a program imports. */
export type {
  HistoryEvent,
  HistoryMark,
  HistoryPayload,
  HistorySeries,
  ProcessHistoryPayload,
} from '../wire/history.ts';
export type { FleetEvent, FleetHost, HostRow, HostState } from '../wire/hub.ts';
export type { HostCalls, Snapshot } from './calls.ts';
export { ClientError, type ClientErrorCode, type ConnectionCode } from './errors.ts';
export {
  type FleetOptions,
  type FleetView,
  type HostFilter,
  type HubHost,
  host,
  hosts,
  streamFleet,
} from './hub.ts';
export {
  connectHub,
  type FleetTopicOptions,
  type HostConditionMessage,
  type HubEvents,
  type HubSocket,
  type HubSubscribed,
  type OfHost,
} from './hub-connect.ts';
export type { ConnectionState } from './lasting.ts';
export type { SocketConstructor, SocketLike } from './lasting-socket.ts';
export type * from './messages.ts';
export type { Section, StatsPayload } from './payload.ts';
export {
  type Answer,
  type HistoryQuery,
  history,
  processesAt,
  type ReadOptions,
  type RequestOptions,
  request,
} from './rest.ts';
export { connect, type HostSocket } from './socket.ts';
export type * from './socket-options.ts';
export { type StatsStream, type StreamOptions, streamStats } from './stream.ts';
