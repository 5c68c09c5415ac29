/** Stats over HTTP: status, system, usage, stream. */
import { ServiceError } from '../../errors.ts';
import type { Sampler } from '../../stats/sampler.ts';
import { type Encoded, parseView } from '../../stats/view.ts';
import type { SystemPayload } from '../../wire/system.ts';
import type { Caller } from '../clients/caller.ts';
import type { Gate } from '../gate.ts';
import type { Answer } from '../head.ts';
import { type Headers, jsonAnswer, jsonTextAnswer, statusLine } from '../reply.ts';
import type { Request, Runs } from '../routes.ts';
import { STREAM_HEADERS } from '../stream/fanout.ts';
import type { StreamHub } from '../stream/stream-hub.ts';

export interface StatsRooms {
  readonly gate: Pick<Gate, 'judge' | 'keep'>;
  readonly sampler: Pick<Sampler, 'latest' | 'peek' | 'nextTickInMs' | 'intervalMs'>;
  readonly fanout: Pick<StreamHub, 'open'>;
  /** Whether one more stream may be opened. */
  readonly hasRoom: (caller: Caller) => boolean;
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
}

function ignoredHeaders(ignored: readonly string[]): Headers {
  return ignored.length === 0 ? [] : [['X-Ignored-Fields', ignored.join(', ')]];
}

const viewOfRequest = (query: URLSearchParams) => parseView(query.getAll('fields'), query.get('detail'));

export function statsRuns(rooms: StatsRooms): Runs<'getStatus' | 'getUsage' | 'getSystem' | 'openStream'> {
  return {
    getStatus: ({ headers }) => jsonAnswer({ status: 'ok' }, headers),
    async getUsage({ query, headers }) {
      const { view, ignored } = viewOfRequest(query);
      const encoded = await rooms.sampler.latest(view);
      return jsonTextAnswer(encoded.bytes(view), [...ignoredHeaders(ignored), ...headers]);
    },
    async getSystem({ query, headers }) {
      const { view } = parseView([], query.get('detail'));
      return jsonAnswer(await rooms.readSystem(view.withDetail), headers);
    },
    openStream: (request) => openStream(rooms, request),
  };
}

/** Whether the next tick is so near that a joiner who has just been sent a sample skips it. */
const isTickNear = ({ nextTickInMs, intervalMs }: StatsRooms['sampler']) => nextTickInMs < intervalMs / 2;

function openStream(
  { gate, sampler, fanout, hasRoom }: StatsRooms,
  request: Request,
): Answer | undefined | Promise<Answer | undefined> {
  const { view, ignored } = viewOfRequest(request.query);
  const headers = [...ignoredHeaders(ignored), ...request.headers];
  // HEAD: the stream's headers, then the end.
  if (request.exchange.head.method === 'HEAD')
    return { status: statusLine(200), headers: [...STREAM_HEADERS, ...headers], body: undefined };
  const checkRoom = () => {
    if (!hasRoom(request.client))
      throw new ServiceError('too_many_streams', 'No more streams can be opened now.');
  };
  checkRoom();
  const open = (encoded: Encoded) => {
    const client = gate.keep(request.client);
    fanout.open(request.exchange, view, encoded, headers, client, isTickNear(sampler));
    return undefined;
  };
  const young = sampler.peek(view);
  if (young !== undefined) return open(young);
  return sampler.latest(view).then((encoded) => {
    // Again: meanwhile the rules may have changed, and other streams been opened.
    const verdict = gate.judge(request.exchange.head);
    if (!verdict.isAllowed) return verdict.answer;
    checkRoom();
    return open(encoded);
  });
}
