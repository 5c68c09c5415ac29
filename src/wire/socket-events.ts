/** The messages that the service sends over /api/ws. It loads only their types; tests check messages with the schemas. */
import * as v from 'valibot';
import { SCOPES } from '../scopes.ts';
import { CLOSING_REASONS } from './closing-reasons.ts';
import { historyPayload, processHistoryPayload } from './history.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { processDetailsPayload } from './process.ts';
import { count, type Shape } from './quantities.ts';
import { system, systemDetail } from './system.ts';
import { EVENTS_TOPIC, TOPIC_SCHEMAS } from './topics.ts';
import { usage, usageDetail } from './usage.ts';
import { wakeSubject } from './wake.ts';

/** Codes of failed commands. Messages that are invalid or not allowed get an `error` with an errorCode. */
export const feedbackCode = v.picklist([
  'NOT_FOUND',
  'NOT_SUPPORTED',
  'CONFLICT',
  'PROTECTED',
  'TIMEOUT',
  'INTERNAL',
]);

export const errorCode = v.picklist([
  'LATE',
  'PARSE_ERROR',
  'UNKNOWN_OP',
  'INVALID_DATA',
  'FORBIDDEN',
  'FEATURE_DISABLED',
  'RATE_LIMITED',
]);

const STAGES = 'Only for commands with an id: accepted, running, then the result.';

const feedback = {
  success: means(v.boolean(), 'No failure so far; with `final`: the command was carried out.'),
  action: v.string(),
  message: means(v.string(), 'A sentence for people.'),
  final: means(v.boolean(), 'This is the last message about the command.'),
  stage: means(v.exactOptional(v.picklist(['accepted', 'running', 'done', 'failed', 'cancelled'])), STAGES),
  code: means(v.exactOptional(feedbackCode), 'Why it failed.'),
};

const commandFeedback = v.strictObject(feedback);
export type CommandFeedback = Shape<typeof commandFeedback>;

const processCommandFeedback = v.strictObject({
  ...feedback,
  pid: v.exactOptional(count),
  name: v.exactOptional(v.string()),
  count: means(v.exactOptional(count), 'Processes that have ended.'),
});
export type ProcessCommandFeedback = Shape<typeof processCommandFeedback>;

const wakeCommandFeedback = v.strictObject({
  ...feedback,
  name: v.exactOptional(wakeSubject.name),
  mac: v.exactOptional(wakeSubject.mac),
  targets: v.exactOptional(wakeSubject.targets),
});
export type WakeCommandFeedback = Shape<typeof wakeCommandFeedback>;

const names = v.array(v.string());
const clock = means(
  v.number(),
  'Milliseconds of a clock of the answerer that is never set and also runs in sleep.',
);

/** Each type of message with its `data`. */
export const EVENTS = {
  connected: v.strictObject({
    version: means(v.string(), 'Version of the service.'),
    protocol: v.literal(2),
    run: means(v.string(), 'Another one after each start of the service.'),
    clock,
    machine: means(
      v.exactOptional(
        v.strictObject({
          id: means(v.string(), '`[A-Za-z0-9_-]`: `host.id`, or from the host name.'),
          name: means(v.string(), '`host.name`, or the host name.'),
          labels: v.record(v.string(), v.string()),
          version: means(v.string(), 'Version of its service.'),
          os: means(v.nullable(v.string()), 'Name and version; null until it was read.'),
          model: means(v.nullable(v.string()), 'Maker and product; null if unknown.'),
          addresses: means(
            names,
            'Addresses of the interface of its default route; empty until they were read.',
          ),
        }),
      ),
      'The machine; absent at a hub, which shows several.',
    ),
    features: means(v.record(v.string(), v.boolean()), 'The keys of `features` in the configuration.'),
    key: means(
      v.exactOptional(v.string()),
      'The name of the key: `default` for `auth.api_key`; absent: the client sent none, or one that is not valid.',
    ),
    scopes: means(
      v.exactOptional(v.array(v.picklist(SCOPES))),
      'The scopes of the client; absent: it may do everything.',
    ),
    message: means(v.string(), 'A sentence for people.'),
  }),
  subscribed: v.strictObject({
    topics: means(names, 'All current subscriptions.'),
    unknown: means(v.exactOptional(names), 'Requested names that are not topics.'),
    forbidden: means(
      v.exactOptional(names),
      'Requested topics that the key, or `auth.guests` without one, does not allow.',
    ),
  }),
  system_stats: v.union([usage, usageDetail]),
  ...TOPIC_SCHEMAS,
  event: EVENTS_TOPIC.payload,
  history: historyPayload,
  process_history: processHistoryPayload,
  process_details: processDetailsPayload,
  media_feedback: commandFeedback,
  process_feedback: processCommandFeedback,
  power_feedback: commandFeedback,
  wake_feedback: wakeCommandFeedback,
  system: v.union([system, systemDetail]),
  art: v.strictObject({
    type: means(v.string(), 'Content type of the picture.'),
    base64: means(v.string(), 'The picture.'),
  }),
  answer: v.union([
    v.strictObject({
      body: means(v.exactOptional(v.unknown()), 'The JSON that HTTP answers with.'),
      type: means(v.exactOptional(v.string()), 'Content type of a picture.'),
      base64: means(v.exactOptional(v.string()), 'The picture.'),
      etag: v.exactOptional(v.string()),
      delivered: means(
        v.exactOptional(v.picklist(['true', 'false', 'unknown'])),
        'Whether the player has accepted a media command.',
      ),
      follows: means(
        v.exactOptional(v.literal(true)),
        'The command was accepted: `step` reports its progress.',
      ),
    }),
    v.strictObject({
      error: v.strictObject({
        code: means(v.string(), 'A code of HTTP.'),
        message: means(v.string(), 'A sentence for people.'),
        details: v.exactOptional(v.record(v.string(), v.unknown())),
      }),
    }),
  ]),
  step: v.strictObject({
    stage: v.picklist(['begun', 'running', 'done', 'failed', 'cancelled']),
    message: means(v.string(), 'A sentence for people.'),
  }),
  closing: v.strictObject({
    reason: means(
      v.picklist(CLOSING_REASONS),
      'What ends the connection: a plan for the machine, or `stop`: the service ends.',
    ),
  }),
  pong: v.strictObject({ clock }),
  error: v.strictObject({
    code: errorCode,
    message: means(v.string(), 'A sentence for people.'),
    details: v.exactOptional(v.record(v.string(), v.unknown())),
  }),
} as const;

export type SocketEvent = keyof typeof EVENTS;
export type EventData<E extends SocketEvent> = Shape<(typeof EVENTS)[E]>;

export const SOCKET_DOCS: DocsOf<'openSocket'> = {
  openSocket: {
    summary: 'The WebSocket API: subscriptions, commands and feedback',
    description:
      'Accepts an upgrade; any other request is answered with 426 `upgrade_required`. Browsers cannot send headers with an upgrade: the key may be in the query, as `api_key`. docs/websocket.md describes the messages.',
    isUpgrade: true,
    payloads: [],
    errors: ['upgrade_required', 'too_many_streams'],
    example: { options: '-i' },
  },
};
