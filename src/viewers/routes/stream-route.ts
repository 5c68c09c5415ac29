/** Event streams of one machine: /api/stream of a service, and /api/hosts/{id}/stream of a hub. */
import { ServiceError } from '../../errors.ts';
import type { Caller } from '../../access/caller.ts';
import type { Gate } from '../../http/gate.ts';
import type { Answer } from '../../http/head.ts';
import { type Headers, statusLine } from '../../http/reply.ts';
import type { Request, Run } from '../../http/routes.ts';
import type { View } from '../../stats/view.ts';
import { STREAM_HEADERS } from '../stream/fanout.ts';
import type { SampleEvents, StreamServer } from '../stream/stream-server.ts';
import { viewOfRequest } from './request-routes.ts';

/** The samples of one machine for a new stream. */
export interface StreamFeed {
  /** Keeps samples of the view coming until the stream is open; returns a function that ends it. */
  hold(): () => void;
  /** The sample to begin with. Rejects with ServiceError. */
  first(): SampleEvents | Promise<SampleEvents>;
  /** The newest sample now, or the first one. */
  newest(first: SampleEvents): SampleEvents;
  readonly fanout: StreamServer;
  /** The next sample is so near that a stream that has just begun skips it. */
  readonly isNextNear: boolean;
}

export interface StreamRouteDeps {
  readonly gate: Pick<Gate, 'judge' | 'keep'>;
  /** Whether one more stream may be opened. */
  readonly hasCapacity: (caller: Caller) => boolean;
}

/** HEAD: the stream's headers, then the end. */
export const streamHead = (headers: Headers): Answer => ({
  status: statusLine(200),
  headers: [...STREAM_HEADERS, ...headers],
  body: undefined,
});

/** Throws `too_many_streams`. */
export function checkCapacity(
  { hasCapacity }: Pick<StreamRouteDeps, 'hasCapacity'>,
  { client }: Request,
): void {
  if (!hasCapacity(client)) throw new ServiceError('too_many_streams', 'No more streams can be opened now.');
}

/** `feedOf`: throws `not_found` where the machine is unknown. */
export function streamRun(deps: StreamRouteDeps, feedOf: (request: Request, view: View) => StreamFeed): Run {
  return (request) => {
    const { view, headers } = viewOfRequest(request);
    const { exchange, client } = request;
    const feed = feedOf(request, view);
    if (exchange.head.method === 'HEAD') return streamHead(headers);
    checkCapacity(deps, request);
    const open = (sample: SampleEvents) => {
      feed.fanout.open(exchange, view, sample, headers, deps.gate.keep(client), feed.isNextNear);
      return undefined;
    };
    const release = feed.hold();
    const first = feed.first();
    if (!(first instanceof Promise)) {
      try {
        return open(first);
      } finally {
        release();
      }
    }
    return first
      .then((sample) => {
        // Again: while it waited the rules may have changed, and other streams been opened.
        const verdict = deps.gate.judge(exchange.head);
        if (!verdict.isAllowed) return verdict.answer;
        checkCapacity(deps, request);
        return open(feed.newest(sample));
      })
      .finally(release);
  };
}
