/** The routes that tell of the machine: status, system, usage, stream. */
import { ServiceError } from '../../errors.ts';
import type { Encoded, View } from '../../stats/view.ts';
import { parseView } from '../../stats/view.ts';
import type { SystemPayload } from '../../wire/system.ts';
import type { Gate } from '../gate.ts';
import { type Headers, jsonAnswer, jsonTextAnswer, statusLine } from '../reply.ts';
import type { Request, Route } from '../routes.ts';
import { type Fanout, STREAM_HEADERS } from '../stream/fanout.ts';
import type { Answer } from '../uws/exchange.ts';

export interface StatsRoutesOptions {
  readonly gate: Pick<Gate, 'judge' | 'keep'>;
  /** The latest sample if it is younger than a second, else a fresh one. */
  readonly latest: (view: View) => Promise<Encoded>;
  readonly peek: (view: View) => Encoded | undefined;
  /** The next tick is so near that a joiner who has just got a sample skips it. */
  readonly isTickNear: () => boolean;
  readonly fanout: Fanout;
  /** Whether one more stream may be opened. */
  readonly hasRoom: () => boolean;
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
}

function ignoredHeaders(ignored: readonly string[]): Headers {
  return ignored.length === 0 ? [] : [['X-Ignored-Fields', ignored.join(', ')]];
}

const viewOfRequest = (query: URLSearchParams) => parseView(query.getAll('fields'), query.get('detail'));

export function statsRoutes(options: StatsRoutesOptions): readonly Route[] {
  return [
    {
      path: '/api/status',
      methods: { GET: { run: ({ headers }) => jsonAnswer({ status: 'ok' }, headers) } },
    },
    {
      path: '/api/usage',
      methods: {
        GET: {
          async run({ query, headers }) {
            const { view, ignored } = viewOfRequest(query);
            const encoded = await options.latest(view);
            return jsonTextAnswer(encoded.json(view), [...ignoredHeaders(ignored), ...headers]);
          },
        },
      },
    },
    {
      path: '/api/system',
      methods: {
        GET: {
          async run({ query, headers }) {
            const { view } = parseView([], query.get('detail'));
            return jsonAnswer(await options.readSystem(view.withDetail), headers);
          },
        },
      },
    },
    { path: '/api/stream', methods: { GET: { run: (request) => openStream(options, request) } } },
  ];
}

function openStream(
  options: StatsRoutesOptions,
  request: Request,
): Answer | undefined | Promise<Answer | undefined> {
  const { view, ignored } = viewOfRequest(request.query);
  const headers = [...ignoredHeaders(ignored), ...request.headers];
  // HEAD: the stream's headers, then the end.
  if (request.exchange.head.method === 'HEAD')
    return { status: statusLine(200), headers: [...STREAM_HEADERS, ...headers], body: undefined };
  const checkRoom = () => {
    if (!options.hasRoom()) throw new ServiceError('too_many_streams', 'No more streams can be opened now.');
  };
  checkRoom();
  const open = (encoded: Encoded) => {
    const client = options.gate.keep(request.client);
    options.fanout.open(request.exchange, view, encoded, headers, client, options.isTickNear());
    return undefined;
  };
  const young = options.peek(view);
  if (young !== undefined) return open(young);
  return options.latest(view).then((encoded) => {
    // Again: while this one waited for its first sample the rules may have changed, and others been opened.
    const verdict = options.gate.judge(request.exchange.head);
    if (!verdict.isAllowed) return verdict.answer;
    checkRoom();
    return open(encoded);
  });
}
