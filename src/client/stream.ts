/** Receives stats as server-sent events. */
import { ENVIRONMENT, type Environment } from './environment.ts';
import { LastingStream, type StatsStream } from './lasting-stream.ts';
import type { Section, StatsPayload } from './payload.ts';
import type { ConnectionState } from './state.ts';

export interface StreamOptions<S extends Section = Section, D extends boolean = false> {
  /** The address of the service: `http://pc:9990`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** On Node, with an https address: the pin of the service's key (`sha256/…`). No other server is sent anything. */
  readonly pin?: string | undefined;
  /** Default: all sections. */
  readonly fields?: readonly S[] | undefined;
  readonly detail?: D | undefined;
  readonly onSample: (sample: StatsPayload<S, D>) => void;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /** Aborting it is the same as `close()`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Subscribes to the samples of the service at `url`, and again after each loss, until it is closed or refused (401,
 * 403). Each sample is passed to `onSample` once. Throws a TypeError when `url` or `pin` is invalid.
 */
export function streamStats<const S extends Section = Section, const D extends boolean = false>(
  options: StreamOptions<S, D>,
): StatsStream {
  return streamStatsIn(options, ENVIRONMENT);
}

/** The same with an environment that tests provide. `path`: of another stream of stats. */
export function streamStatsIn<const S extends Section = Section, const D extends boolean = false>(
  { fields, detail, onSample, ...options }: StreamOptions<S, D>,
  environment: Environment,
  path = 'api/stream',
): StatsStream {
  const query = viewQuery(fields, detail);
  // The service's contract: it sends the sections that were requested.
  const onPayload = (payload: object) => onSample(payload as StatsPayload<S, D>);
  return new LastingStream({ ...options, path, query, onPayload }, environment);
}

/** The parameters for these sections. */
export function viewQuery(
  fields: readonly string[] = [],
  detail: boolean | undefined = false,
): URLSearchParams {
  const query = new URLSearchParams();
  if (fields.length > 0) query.set('fields', fields.join(','));
  if (detail) query.set('detail', '1');
  return query;
}
