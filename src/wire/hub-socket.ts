/**
 * The messages that clients send over `/api/ws` of a hub. Those of one machine are the service's with `host`, its id, beside `op`;
 * those of all machines are here.
 */
import * as v from 'valibot';
import { HOST_STATES } from './host-states.ts';
import { inspect, type RequestSchema } from './inspect.ts';
import { means } from './meaning.ts';
import { listUpTo, textUpTo } from './requests.ts';
import {
  detail,
  idOf,
  invalid,
  type MessageId,
  messageId,
  parseSocketText,
  type RefusedMessage,
  readSocketFrame,
  refuse,
  type SocketRequest,
} from './socket.ts';

/** Maximum number of machines in one message. */
export const MAX_HOSTS = 256;
const MAX_FIELDS = 8;
const MAX_LABELS = 16;
const MAX_TEXT = 129;

const HOSTS_SENTENCE = `hosts must be a list of 1 to ${MAX_HOSTS} ids of machines, or "*".`;
const EVERY_SENTENCE = 'With hosts "*" the op is subscribe or unsubscribe, and the one topic events.';
const HOST_SENTENCE = 'host must be the id of a machine.';
const HOST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The keys of a frame that name machines: exactly one of them, if the op is about machines. */
const address = v.object({
  id: v.optional(messageId),
  host: v.optional(v.pipe(v.string(HOST_SENTENCE), v.regex(HOST_ID, HOST_SENTENCE))),
  hosts: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(HOSTS_SENTENCE), v.regex(HOST_ID, HOSTS_SENTENCE)), HOSTS_SENTENCE),
      v.minLength(1, HOSTS_SENTENCE),
      v.maxLength(MAX_HOSTS, HOSTS_SENTENCE),
    ),
  ),
});

/** The ops that may have `hosts`. */
const OPS_OF_MANY: ReadonlySet<string> = new Set(['subscribe', 'unsubscribe', 'get']);

const textsOf = (name: string, max: number) => {
  const sentence = `${name} must be a list of at most ${max} strings.`;
  return v.optional(listUpTo(max, textUpTo(MAX_TEXT, sentence), sentence), []);
};

const filter = {
  labels: means(textsOf('labels', MAX_LABELS), '`NAME:VALUE` each; all must match.'),
  state: v.optional(v.picklist(HOST_STATES, `state must be one of ${HOST_STATES.join(', ')}.`)),
};

const FLEET_SENTENCE = 'Without host or hosts the one topic is fleet.';
const fleetTopics = v.pipe(
  v.array(v.literal('fleet', FLEET_SENTENCE), FLEET_SENTENCE),
  v.minLength(1, FLEET_SENTENCE),
  v.maxLength(1, FLEET_SENTENCE),
);

/** Each op without a machine, with the schema of its `data`. */
export const FLEET_OPS = {
  hosts: v.object(filter),
  subscribe: v.object({
    topics: fleetTopics,
    ...filter,
    fields: means(textsOf('fields', MAX_FIELDS), 'Sections of the samples; all when absent.'),
    detail,
  }),
  unsubscribe: v.object({
    topics: means(v.optional(fleetTopics), 'When absent: all topics of all machines, too.'),
  }),
} as const;

type FleetOp = keyof typeof FLEET_OPS;
export type FleetData<O extends FleetOp> = v.InferOutput<(typeof FLEET_OPS)[O]>;

export type FleetRequest =
  | {
      readonly [O in FleetOp]: {
        readonly op: O;
        readonly id: MessageId | undefined;
        readonly data: FleetData<O>;
      };
    }[FleetOp]
  /** With hosts "*": follows the events of all machines, or ends that. */
  | { readonly op: 'follow' | 'leave'; readonly id: MessageId | undefined };

/** Codes of `error` beside those of the service. */
export const HUB_ERROR_CODES = ['NOT_FOUND', 'HOST_UNREACHABLE', 'TOO_MANY_STREAMS'] as const;

export type HubMessage =
  | { readonly isSound: true; readonly hosts: readonly string[]; readonly request: SocketRequest }
  | { readonly isSound: true; readonly hosts: undefined; readonly request: FleetRequest }
  | RefusedMessage;

const isFleetOp = (op: unknown): op is FleetOp => typeof op === 'string' && Object.hasOwn(FLEET_OPS, op);

/** Reads one text frame of `/api/ws` of a hub. Never throws. */
export function readHubMessage(text: string): HubMessage {
  const parsed = parseSocketText(text);
  if (!parsed.isSound) return parsed;
  const { message } = parsed;
  if (message['hosts'] === '*') return readEventsFrame(message);
  const { op } = message;
  const id = idOf(message);
  const read = inspect(address, message);
  if (!read.isSound) return refuse(invalid(id, read.flaw));
  const { host, hosts } = read.value;
  if (host !== undefined && hosts !== undefined)
    return refuse({ id, code: 'INVALID_DATA', message: 'host and hosts exclude each other.' });
  if (host === undefined && hosts === undefined && isFleetOp(op)) return readFleetFrame(op, message, id);
  const frame = readSocketFrame(message);
  if (!frame.isSound) return frame;
  const { request } = frame;
  if (hosts !== undefined && !OPS_OF_MANY.has(request.op))
    return refuse({ id, code: 'INVALID_DATA', message: `${request.op} takes one host.` });
  const named = host === undefined ? hosts : [host];
  if (named === undefined && request.op !== 'ping')
    return refuse({ id, code: 'INVALID_DATA', message: 'The field host is missing.' });
  return { isSound: true, hosts: [...new Set(named)], request };
}

function readEventsFrame(message: Readonly<Record<string, unknown>>): HubMessage {
  const frame = readSocketFrame(message);
  if (!frame.isSound) return frame;
  const { op, id, data } = frame.request;
  if (op === 'unsubscribe' || op === 'subscribe') {
    const { topics = ['events'] } = data;
    const request = { op: op === 'subscribe' ? 'follow' : 'leave', id } as const;
    if (topics.join().toLowerCase() === 'events') return { isSound: true, hosts: undefined, request };
  }
  return refuse({ id, code: 'INVALID_DATA', message: EVERY_SENTENCE });
}

function readFleetFrame(
  op: FleetOp,
  { data = {} }: Readonly<Record<string, unknown>>,
  id: MessageId | undefined,
): HubMessage {
  // The schema belongs to the op, which the type of the union cannot express.
  const read = inspect(FLEET_OPS[op] as RequestSchema<FleetData<FleetOp>>, data);
  if (!read.isSound) return refuse(invalid(id, read.flaw));
  return { isSound: true, hosts: undefined, request: { op, id, data: read.value } as FleetRequest };
}
