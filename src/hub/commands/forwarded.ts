/** The routes of one machine that its own service answers: what they ask it, and the answer. */
import { ServiceError } from '../../errors.ts';
import { parseJsonObject } from '../../http/body.ts';
import { HISTORY_QUERY, POWER_QUERY, PROCESS_QUERY, seriesIn } from '../../http/endpoints/query-types.ts';
import { taggedJson } from '../../http/etag.ts';
import type { Answer } from '../../http/head.ts';
import { paramsOf } from '../../http/query.ts';
import { type Headers, jsonTextAnswer, statusLine } from '../../http/reply.ts';
import type { Request, Run, Runs } from '../../http/routes.ts';
import { checkParams, type Params } from '../../params.ts';
import { parseView } from '../../stats/view.ts';
import type { HubOperationId } from '../../wire/hub-operations.ts';
import { mediaRequest } from '../../wire/requests.ts';
import type { HostAnswer } from '../host/ask.ts';
import type { Host } from '../host/host.ts';
import type { Asking } from './asking.ts';

export interface ForwardRooms {
  readonly asking: Asking;
  /** The machine of `/api/hosts/{id}/…`. Throws `not_found`. */
  readonly hostOf: (request: Request) => Host;
}

export type ForwardedId = Exclude<
  HubOperationId,
  | 'listHosts'
  | 'openHostStream'
  | 'getHostUsage'
  | 'getHostSystem'
  | 'openHostSocket'
  | 'openFleetStream'
  | 'openSocket'
  | 'dialIn'
  | 'getStatus'
  | 'getOpenapi'
  | 'getAsyncapi'
  | 'getMetrics'
>;

const ACTION = /^[a-z_]{1,64}$/;

export function forwardedRuns({ asking, hostOf }: ForwardRooms): Runs<ForwardedId> {
  const ask = async (request: Request, what: string, params: Params) =>
    await asking.ask(hostOf(request), what, params, request.client);
  const json =
    (what: string, paramsIn: (request: Request) => Params): Run =>
    async (request) =>
      jsonAnswerOf(await ask(request, what, paramsIn(request)), request.headers);
  const tagged =
    (what: string, paramsIn: (request: Request) => Params): Run =>
    async (request) => {
      const { bytes, etag } = await ask(request, what, paramsIn(request));
      return etag === undefined ? jsonTextAnswer(bytes, request.headers) : taggedJson(bytes, etag, request);
    };
  const power = (action: string) => json(`power.${action}`, ({ query }) => paramsOf(query, POWER_QUERY));
  // It is judged before the body is parsed, as a flag of the service is.
  const command = (name: string) =>
    json(name, (request) => {
      asking.check(hostOf(request), name, request.client);
      return parseJsonObject(request.body);
    });
  return {
    getHostHistory: tagged('history', ({ query }) => ({
      ...paramsOf(query, HISTORY_QUERY),
      series: seriesIn(query),
    })),
    getHostProcessHistory: tagged('process_history', ({ query }) => paramsOf(query, HISTORY_QUERY)),
    getHostPower: json('power', () => ({})),
    shutdownHost: power('shutdown'),
    restartHost: power('restart'),
    sleepHost: power('sleep'),
    hibernateHost: power('hibernate'),
    lockHost: power('lock'),
    cancelHostPower: power('cancel'),
    wakeFromHost: command('wake.wake'),
    getHostMedia: json('media', ({ query }) => {
      const { withDetail } = parseView([], query.get('detail')).view;
      return { ...playerIn(query), ...(withDetail ? { detail: true } : {}) };
    }),
    getHostMediaArt: async (request) =>
      pictureOf(await ask(request, 'art', playerIn(request.query)), request.headers),
    async controlHostMedia(request) {
      asking.check(hostOf(request), 'media.*', request.client);
      const { action, params } = mediaCommandIn(request);
      return jsonAnswerOf(await ask(request, `media.${action}`, params), request.headers);
    },
    listHostProcesses: json('processes', ({ query }) => paramsOf(query, PROCESS_QUERY)),
    getHostProcess: json('process', ({ exchange }) => ({ name: nameIn(exchange.head.path) })),
    killHostProcess: command('process.kill'),
    launchHostProcess: command('process.launch'),
  };
}

function playerIn(query: URLSearchParams): Params {
  const player = query.get('player');
  return player === null ? {} : { player };
}

/** The machine's own table checks the rest. Throws ServiceError where there is no name of an action. */
function mediaCommandIn({ query, body }: Request): { readonly action: string; readonly params: Params } {
  const asked = { ...playerIn(query), ...parseJsonObject(body) };
  const { action, ...params }: Params = asked;
  if (typeof action === 'string' && ACTION.test(action)) return { action, params };
  return { action: checkParams(mediaRequest, asked).action, params };
}

/** `/api/hosts/{id}/processes/{name}`. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path.split('/')[5] ?? '');
  } catch {
    throw new ServiceError('invalid_value', 'The name is not percent-encoded UTF-8.');
  }
}

function jsonAnswerOf({ bytes, delivered }: HostAnswer, headers: Headers): Answer {
  const extra: Headers = delivered === undefined ? [] : [['X-Media-Delivered', delivered]];
  return jsonTextAnswer(bytes, [...extra, ...headers]);
}

const pictureOf = ({ type, bytes }: HostAnswer, headers: Headers): Answer => ({
  status: statusLine(200),
  headers: [
    ['Content-Type', type],
    ['Cache-Control', 'no-store'],
    ['Content-Security-Policy', "default-src 'none'; sandbox"],
    ...headers,
  ],
  body: bytes,
});
