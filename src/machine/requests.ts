/**
 * The table of requests: every question and command of a machine, once. HTTP, WebSockets, hubs and agents are adapters to
 * it; a machine answers them (local.ts). Method, path, scope, flag and body of each are in its row of wire/operations.ts,
 * and nowhere else.
 */
import type { Config } from '../config/config.ts';
import { checkParams, type Params } from '../params.ts';
import { allows, type Scope, type Scopes } from '../scopes.ts';
import { FRESH_MS } from '../stats/freshness.ts';
import { parseView } from '../stats/view.ts';
import { OPERATIONS, type Operation, type OperationId } from '../wire/operations.ts';
import { MEDIA_ACTIONS, mediaRequest, POWER_ACTIONS } from '../wire/requests.ts';
import type { Op, SocketRequest } from '../wire/socket.ts';
import { paramsOf, type QueryTypes } from './query.ts';

/** A request over HTTP: where its parameters are. */
export interface HttpRequest {
  readonly query: URLSearchParams;
  /** The last part of the path, decoded. Throws ServiceError. */
  readonly name: () => string;
  /** The object of the body. Throws ServiceError. */
  readonly body: () => Params;
}

export interface QuestionFailure {
  readonly group: 'process' | 'media';
  readonly action: string;
}

/** A row without the values that follow from its name and its operation. */
interface Row {
  readonly operation: OperationId;
  /** Its op on the WebSocket, whose data are its parameters; ops with an action are named by the command. */
  readonly op?: Op;
  /** For questions: a failure over a WebSocket is feedback of its group with this action; without it, an error. */
  readonly failure?: QuestionFailure;
  /** Its parameters over HTTP, as JSON has them. The machine checks them. */
  readonly paramsIn: (request: HttpRequest) => Params;
  /** Milliseconds for which an answer is shared. */
  readonly maxAgeMs?: number;
  /** The answer leaves before the action begins. */
  readonly answersFirst?: true;
}

export interface RequestRow extends Row {
  /** As in docs/websocket.md. */
  readonly name: string;
  readonly isCommand: boolean;
  /** The scope that a client must have. */
  readonly scope: Scope;
  readonly feature: keyof Config['features'] | undefined;
  readonly maxAgeMs: number;
}

/** Only concurrent requests share it. */
const SHARED_WHILE_MADE = 0;
/** The hardware hardly changes. */
const SYSTEM_AGE_MS = 10_000;

const POWER_QUERY: QueryTypes = { numbers: ['delay'], booleans: ['force'] };
const PROCESS_QUERY: QueryTypes = { numbers: ['limit'], booleans: ['grouped', 'disk'] };
const EVENTS_QUERY: QueryTypes = { numbers: ['since', 'limit'], booleans: [] };
const HISTORY_QUERY: QueryTypes = { numbers: ['since', 'until', 'step', 'at'], booleans: [] };

/** The names of series: one parameter is a list; each of several is a name, because that of a mount may have a comma. */
function seriesIn(query: URLSearchParams): readonly string[] {
  const [list = '', ...more] = query.getAll('series');
  const names = more.length > 0 ? [list, ...more] : list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function detailIn(query: URLSearchParams): Params {
  return parseView([], query.get('detail')).view.withDetail ? { detail: true } : {};
}

function playerIn(query: URLSearchParams): Params {
  const player = query.get('player');
  return player === null ? {} : { player };
}

export const eventsParamsIn = ({ query }: Pick<HttpRequest, 'query'>): Params =>
  paramsOf(query, EVENTS_QUERY);

const QUESTION_ROWS = {
  system: {
    operation: 'getSystem',
    paramsIn: ({ query }) => detailIn(query),
    maxAgeMs: SYSTEM_AGE_MS,
  },
  usage: {
    operation: 'getUsage',
    // Over HTTP it is a view (Machine.usage).
    paramsIn: () => ({}),
    maxAgeMs: FRESH_MS,
  },
  power: { operation: 'getPower', paramsIn: () => ({}) },
  media: {
    operation: 'getMedia',
    failure: { group: 'media', action: 'list' },
    paramsIn: ({ query }) => ({ ...playerIn(query), ...detailIn(query) }),
  },
  art: {
    operation: 'getMediaArt',
    failure: { group: 'media', action: 'art' },
    paramsIn: ({ query }) => playerIn(query),
  },
  processes: {
    operation: 'listProcesses',
    op: 'process_list',
    failure: { group: 'process', action: 'list' },
    paramsIn: ({ query }) => paramsOf(query, PROCESS_QUERY),
  },
  process: {
    operation: 'getProcess',
    op: 'process_details',
    failure: { group: 'process', action: 'details' },
    paramsIn: ({ name }) => ({ name: name() }),
  },
  history: {
    operation: 'getHistory',
    op: 'history',
    paramsIn: ({ query }) => ({ ...paramsOf(query, HISTORY_QUERY), series: seriesIn(query) }),
  },
  process_history: {
    operation: 'getProcessHistory',
    op: 'process_history',
    paramsIn: ({ query }) => paramsOf(query, HISTORY_QUERY),
  },
  events: { operation: 'listEvents', paramsIn: eventsParamsIn },
} as const satisfies Readonly<Record<string, Row>>;

export type Question = keyof typeof QUESTION_ROWS;

const POWER_OPERATIONS: readonly (readonly [action: string, operation: OperationId])[] = [
  ...POWER_ACTIONS.map((action) => [action, action] as const),
  ['cancel', 'cancelPower'],
];

const COMMAND_ROWS: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    POWER_OPERATIONS.map(([action, operation]): [string, Row] => [
      `power.${action}`,
      {
        operation,
        paramsIn: ({ query }) => paramsOf(query, POWER_QUERY),
        ...(action === 'cancel' ? {} : { answersFirst: true }),
      },
    ]),
  ),
  ...Object.fromEntries(
    MEDIA_ACTIONS.map((action): [string, Row] => [
      `media.${action}`,
      {
        operation: 'controlMedia',
        paramsIn: ({ query, body }) => ({ ...playerIn(query), ...body() }),
      },
    ]),
  ),
  'process.kill': {
    operation: 'killProcess',
    op: 'process_kill',
    paramsIn: ({ body }) => body(),
  },
  'process.launch': {
    operation: 'launchProcess',
    op: 'process_launch',
    paramsIn: ({ body }) => body(),
  },
  'wake.wake': { operation: 'wake', op: 'wake', paramsIn: ({ body }) => body() },
};

const OPERATION_ROWS: Readonly<Record<OperationId, Operation<keyof Config['features']>>> = OPERATIONS;

const rowOf = ([name, row]: readonly [string, Row]): readonly [string, RequestRow] => [
  name,
  {
    maxAgeMs: SHARED_WHILE_MADE,
    ...row,
    name,
    isCommand: name.includes('.'),
    scope: OPERATION_ROWS[row.operation].scope ?? 'admin',
    feature: OPERATION_ROWS[row.operation].feature,
  },
];

/** By name. */
export const REQUESTS: ReadonlyMap<string, RequestRow> = new Map(
  [...Object.entries<Row>(QUESTION_ROWS), ...Object.entries(COMMAND_ROWS)].map(rowOf),
);

export const isQuestion = (name: string): name is Question => Object.hasOwn(QUESTION_ROWS, name);

/** The scope that a request needs. A command that is not in the table may be one of media of a newer machine. */
export const scopeOf = (what: string): Scope =>
  REQUESTS.get(what)?.scope ?? (what.startsWith('media.') ? 'media' : 'admin');

/** Questions whose answers have events. */
const WITH_EVENTS: ReadonlySet<string> = new Set(['history', 'events']);

/** The parameters for a client with `scopes`: events name processes only to one that may see them. */
export const paramsFor = ({ what, params }: NamedRequest, scopes: Scopes): Params =>
  !WITH_EVENTS.has(what) || allows(scopes, 'processes') ? params : { ...params, processes: false };

const BY_OP: ReadonlyMap<string, RequestRow> = new Map(
  [...REQUESTS.values()].flatMap((row) => (row.op === undefined ? [] : [[row.op, row]])),
);

/** A request by name, with its parameters. */
export interface NamedRequest {
  readonly what: string;
  readonly params: Params;
}

/** The request of a message over a WebSocket; undefined: its op is not a request (subscribe, get, ping). */
export function requestOfMessage({ op, data }: SocketRequest): NamedRequest | undefined {
  if (op === 'request') return { what: data.name, params: data.params };
  const row = BY_OP.get(op);
  if (row !== undefined) return { what: row.name, params: data };
  if (op !== 'media' && op !== 'power') return undefined;
  const { action, ...params } = data;
  return { what: `${op}.${action}`, params };
}

const ACTION = /^[a-z_]{1,64}$/;

/**
 * The media command that `params` name by their `action`. An action that is not in the table may be one of a newer machine,
 * which judges it. Throws ServiceError where it cannot be the name of an action.
 */
export function mediaCommandIn(params: Params): NamedRequest {
  const { action, ...others } = params;
  if (typeof action === 'string' && ACTION.test(action)) return { what: `media.${action}`, params: others };
  return { what: `media.${checkParams(mediaRequest, params).action}`, params: others };
}
