/** What `hostwire/client` offers: the one file that a program imports. */
export { ClientError, type ClientErrorCode, type ConnectionCode } from './errors.ts';
export type { Section, StatsPayload } from './payload.ts';
export { type Answer, type RequestOptions, request } from './rest.ts';
export type { ConnectionState } from './state.ts';
export { type StatsStream, type StreamOptions, streamStats } from './stream.ts';
