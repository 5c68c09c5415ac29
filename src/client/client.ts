/** The public interface of `hostwire/client`: the one file that a program imports. */
export type {
  HistoryEvent,
  HistoryMark,
  HistoryPayload,
  HistorySeries,
  ProcessHistoryPayload,
} from '../wire/history.ts';
export type { FleetEvent, FleetHost, HostRow, HostState } from '../wire/hub.ts';
export type { SocketConstructor, SocketLike } from './connection.ts';
export { ClientError, type ClientErrorCode, type ConnectionCode } from './errors.ts';
export { type HistoryQuery, history, processesAt, type ReadOptions } from './history.ts';
export type { HostCalls } from './host-calls.ts';
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
  type OfHost,
} from './hub-connect.ts';
export type { HubSubscribed } from './hub-subscriber.ts';
export type { StatsStream } from './lasting-stream.ts';
export type * from './messages.ts';
export type { Section, StatsPayload } from './payload.ts';
export { type Answer, type RequestOptions, request } from './rest.ts';
export type { Snapshot } from './snapshot.ts';
export { connect, type HostSocket } from './socket.ts';
export type * from './socket-options.ts';
export type { ConnectionState } from './state.ts';
export { type StreamOptions, streamStats } from './stream.ts';
