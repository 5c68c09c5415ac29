/** The messages that clients send over /api/ws: the ops with their data, and the reader of a message. */

import * as v from 'valibot';
import { isObject, parseJson } from '../json.ts';
import { historyRequest, processHistoryRequest } from './history-requests.ts';
import { type Flaw, inspect } from './inspect.ts';
import { means } from './meaning.ts';
import type { Shape } from './quantities.ts';
import {
  listUpTo,
  mediaParams,
  mediaRequest,
  numberFrom,
  powerRequest,
  processDetailsRequest,
  processKillRequest,
  processLaunchRequest,
  processListRequest,
  textUpTo,
  wakeRequest,
} from './requests.ts';

/** The version of this protocol; `connected` carries it. */
export const PROTOCOL = 2;

const MAX_TOPICS = 64;
const MAX_TOPIC_LENGTH = 64;
const MAX_ID_LENGTH = 128;
const MAX_INTERVAL_SECONDS = 86_400;
const MAX_NAME_LENGTH = 64;

const TOPICS_SENTENCE = `topics must be a list of at most ${MAX_TOPICS} names of at most ${MAX_TOPIC_LENGTH} characters.`;

// Any name is accepted: the answer lists those that are unknown.
const topics = means(
  listUpTo(MAX_TOPICS, textUpTo(MAX_TOPIC_LENGTH, TOPICS_SENTENCE), TOPICS_SENTENCE),
  'stats, sections of it (stats.cpu, stats.memory, stats.gpu, stats.disks, stats.network, or the last part alone), or another topic of this channel.',
);

export const detail = means(
  v.optional(v.boolean('detail must be true or false.'), false),
  'Every key that is known, with null for values that cannot be read; otherwise only the usual keys.',
);

const NAME_SENTENCE = 'name must be the name of a request, such as power.sleep.';
const INTERVAL_SENTENCE = `interval_seconds must be a number from 0 to ${MAX_INTERVAL_SECONDS}.`;

/** Each op with the schema of its `data`. */
export const OPS = {
  subscribe: v.object({
    topics,
    mode: means(
      v.optional(v.picklist(['replace', 'add'], 'mode must be replace or add.'), 'replace'),
      'Whether these topics replace the current subscriptions or are added to them.',
    ),
    detail: means(
      v.optional(v.union([v.boolean(), v.literal('media')], 'detail must be true, false or "media".'), false),
      'As in `get`; `media`: for the topic media alone.',
    ),
    interval_seconds: means(
      v.optional(numberFrom(0, MAX_INTERVAL_SECONDS, INTERVAL_SENTENCE)),
      'At most one sample in this time, which are made every `stats.stream_interval_seconds`; 0 when absent, with `add` unchanged.',
    ),
  }),
  unsubscribe: v.object({ topics: means(v.optional(topics), 'All topics when absent.') }),
  get: v.object({ topics, detail, player: mediaParams.entries.player }),
  media: mediaRequest,
  process_list: processListRequest,
  process_details: processDetailsRequest,
  process_kill: processKillRequest,
  process_launch: processLaunchRequest,
  power: powerRequest,
  wake: wakeRequest,
  history: historyRequest,
  process_history: processHistoryRequest,
  request: v.object({
    name: v.pipe(
      v.string(NAME_SENTENCE),
      v.regex(/^[a-z_]{1,32}(?:\.[a-z_]{1,64})?$/, NAME_SENTENCE),
      v.description(
        'A question (`system`, `usage`, `processes` …) or a command (`power.sleep`, `media.play` …), as docs/websocket.md lists them.',
      ),
    ),
    params: means(
      v.optional(v.custom<Readonly<Record<string, unknown>>>(isObject, 'params must be an object.'), {}),
      'The parameters and the body that the request has over HTTP.',
    ),
    steps: means(
      v.optional(v.boolean('steps must be true or false.'), false),
      'Also a `step` when a command begins.',
    ),
  }),
  ping: v.object({}),
} as const;

export type Op = keyof typeof OPS;
export type OpData<O extends Op> = v.InferOutput<(typeof OPS)[O]>;

const ID_SENTENCE = `id must be a string of at most ${MAX_ID_LENGTH} characters, or an integer.`;

/** Echoed on every answer to the message that carries it. */
export const messageId = v.union(
  [
    v.pipe(v.string(), v.maxLength(MAX_ID_LENGTH, ID_SENTENCE)),
    // Beyond these an integer would be echoed as a different one.
    v.pipe(v.number(), v.safeInteger(ID_SENTENCE)),
  ],
  ID_SENTENCE,
);
export type MessageId = v.InferOutput<typeof messageId>;

const DEADLINE_SENTENCE = 'deadline must be a number of milliseconds, by `clock` of the answerer.';
const VIA_SENTENCE = `via must be {client, key}: an address, and a name of at most ${MAX_NAME_LENGTH} characters.`;

/** The terms of an op, beside its data. */
const terms = v.object({
  deadline: means(
    v.optional(numberFrom(0, Number.MAX_SAFE_INTEGER, DEADLINE_SENTENCE)),
    'After it, by `clock` of `connected` and `pong`, the op is not carried out but answered LATE.',
  ),
  via: means(
    v.optional(
      v.object(
        {
          client: v.pipe(v.string(VIA_SENTENCE), v.regex(/^[\da-fA-F.:]{0,45}$/, VIA_SENTENCE)),
          key: v.optional(v.pipe(v.string(VIA_SENTENCE), v.regex(/^[A-Za-z0-9_.-]{1,64}$/, VIA_SENTENCE))),
        },
        VIA_SENTENCE,
      ),
    ),
    'The client of a hub, and the name of its key there. Needs a key with the scope `hub`.',
  ),
});

/** The terms on which an op is carried out. */
export type Terms = Shape<typeof terms>;
export type Via = NonNullable<Terms['via']>;

/** A valid message. */
export type SocketRequest = {
  readonly [O in Op]: Terms & {
    readonly op: O;
    readonly id: MessageId | undefined;
    readonly data: OpData<O>;
  };
}[Op];

/** Why a message is invalid. */
export interface SocketFlaw {
  /** Undefined if the message has no valid id. */
  readonly id: MessageId | undefined;
  readonly code: 'PARSE_ERROR' | 'UNKNOWN_OP' | 'INVALID_DATA';
  /** A sentence. */
  readonly message: string;
  /** The known ops, or the known actions of the op. */
  readonly allowed?: readonly string[];
}

export interface RefusedMessage {
  readonly isSound: false;
  readonly flaw: SocketFlaw;
}

export type SocketMessage = { readonly isSound: true; readonly request: SocketRequest } | RefusedMessage;

type ParsedObject = Readonly<Record<string, unknown>>;
type ParsedText = { readonly isSound: true; readonly message: ParsedObject } | RefusedMessage;

const frame = v.object({
  op: v.string('op must be a string.'),
  id: v.optional(messageId),
  ...terms.entries,
  data: v.optional(v.custom<Readonly<Record<string, unknown>>>(isObject, 'data must be an object.'), {}),
});

/** Reads one text frame. Never throws. */
export function readSocketMessage(text: string): SocketMessage {
  const parsed = parseSocketText(text);
  return parsed.isSound ? readSocketFrame(parsed.message) : parsed;
}

/** Parses the JSON object of a text frame. */
export function parseSocketText(text: string): ParsedText {
  const message = parseJson(text);
  if (isObject(message)) return { isSound: true, message };
  const sentence =
    message === undefined ? 'The message is not valid JSON.' : 'The message must be a JSON object.';
  return refuse({ id: undefined, code: 'PARSE_ERROR', message: sentence });
}

/** Reads the object of a frame. Never throws. */
export function readSocketFrame(message: ParsedObject): SocketMessage {
  const id = idOf(message);
  const read = inspect(frame, message);
  if (!read.isSound) return refuse(invalid(id, read.flaw));
  const { op, data, deadline, via } = read.value;
  if (!isOp(op)) return refuse({ id, code: 'UNKNOWN_OP', message: 'Unknown op.', allowed: Object.keys(OPS) });
  const inspected = inspect<OpData<Op>>(OPS[op], data);
  if (!inspected.isSound) return refuse(invalid(id, inspected.flaw));
  // The schema of this op has produced the data, which the type of the union cannot express.
  return { isSound: true, request: { op, id, data: inspected.value, deadline, via } as SocketRequest };
}

const isOp = (op: string): op is Op => Object.hasOwn(OPS, op);

export const refuse = (flaw: SocketFlaw): RefusedMessage => ({ isSound: false, flaw });

export const invalid = (id: MessageId | undefined, { sentence, allowed }: Flaw): SocketFlaw => ({
  id,
  code: 'INVALID_DATA',
  message: sentence,
  ...(allowed === undefined ? {} : { allowed }),
});

/** Returns a valid id, which is echoed even when the rest of the message is invalid. */
export function idOf(message: unknown): MessageId | undefined {
  const read = v.safeParse(v.object({ id: messageId }), message);
  return read.success ? read.output.id : undefined;
}
