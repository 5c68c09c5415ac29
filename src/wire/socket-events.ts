/** The messages that the service sends over /api/ws. It loads only their types; tests check messages with the schemas. */
import * as v from 'valibot';
import { SCOPES } from '../scopes.ts';
import { CLOSING_REASONS } from './closing-reasons.ts';
import { historyPayload, processHistoryPayload } from './history.ts';
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
  success: v.pipe(
    v.boolean(),
    v.description('No failure so far; with `final`: the command was carried out.'),
  ),
  action: v.string(),
  message: v.pipe(v.string(), v.description('A sentence for people.')),
  final: v.pipe(v.boolean(), v.description('This is the last message about the command.')),
  stage: v.pipe(
    v.exactOptional(v.picklist(['accepted', 'running', 'done', 'failed', 'cancelled'])),
    v.description(STAGES),
  ),
  code: v.pipe(v.exactOptional(feedbackCode), v.description('Why it failed.')),
};

const commandFeedback = v.strictObject(feedback);
export type CommandFeedback = Shape<typeof commandFeedback>;

const processCommandFeedback = v.strictObject({
  ...feedback,
  pid: v.exactOptional(count),
  name: v.exactOptional(v.string()),
  count: v.pipe(v.exactOptional(count), v.description('Processes that have ended.')),
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
const clock = v.pipe(
  v.number(),
  v.description('Milliseconds of a clock of the answerer that is never set and also runs in sleep.'),
);

/** Each type of message with its `data`. */
export const EVENTS = {
  connected: v.strictObject({
    version: v.pipe(v.string(), v.description('Version of the service.')),
    protocol: v.literal(2),
    run: v.pipe(v.string(), v.description('Another one after each start of the service.')),
    clock,
    machine: v.pipe(
      v.exactOptional(
        v.strictObject({
          id: v.pipe(v.string(), v.description('`[A-Za-z0-9_-]`: `host.id`, or from the host name.')),
          name: v.pipe(v.string(), v.description('`host.name`, or the host name.')),
          labels: v.record(v.string(), v.string()),
          version: v.pipe(v.string(), v.description('Version of its service.')),
          os: v.pipe(v.nullable(v.string()), v.description('Name and version; null until it was read.')),
          model: v.pipe(v.nullable(v.string()), v.description('Maker and product; null if unknown.')),
          addresses: v.pipe(
            names,
            v.description('Addresses of the interface of its default route; empty until they were read.'),
          ),
        }),
      ),
      v.description('The machine; absent at a hub, which shows several.'),
    ),
    features: v.pipe(
      v.record(v.string(), v.boolean()),
      v.description('The keys of `features` in the configuration.'),
    ),
    key: v.pipe(
      v.exactOptional(v.string()),
      v.description(
        'The name of the key: `default` for `auth.api_key`; absent: the client sent none, or one that is not valid.',
      ),
    ),
    scopes: v.pipe(
      v.exactOptional(v.array(v.picklist(SCOPES))),
      v.description('The scopes of the client; absent: it may do everything.'),
    ),
    message: v.pipe(v.string(), v.description('A sentence for people.')),
  }),
  subscribed: v.strictObject({
    topics: v.pipe(names, v.description('All current subscriptions.')),
    unknown: v.pipe(v.exactOptional(names), v.description('Requested names that are not topics.')),
    forbidden: v.pipe(
      v.exactOptional(names),
      v.description('Requested topics that the key, or `auth.guests` without one, does not allow.'),
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
    type: v.pipe(v.string(), v.description('Content type of the picture.')),
    base64: v.pipe(v.string(), v.description('The picture.')),
  }),
  answer: v.union([
    v.strictObject({
      body: v.pipe(v.exactOptional(v.unknown()), v.description('The JSON that HTTP answers with.')),
      type: v.pipe(v.exactOptional(v.string()), v.description('Content type of a picture.')),
      base64: v.pipe(v.exactOptional(v.string()), v.description('The picture.')),
      etag: v.exactOptional(v.string()),
      delivered: v.pipe(
        v.exactOptional(v.picklist(['true', 'false', 'unknown'])),
        v.description('Whether the player has accepted a media command.'),
      ),
      follows: v.pipe(
        v.exactOptional(v.literal(true)),
        v.description('The command was accepted: `step` reports how it goes on.'),
      ),
    }),
    v.strictObject({
      error: v.strictObject({
        code: v.pipe(v.string(), v.description('A code of HTTP.')),
        message: v.pipe(v.string(), v.description('A sentence for people.')),
        details: v.exactOptional(v.record(v.string(), v.unknown())),
      }),
    }),
  ]),
  step: v.strictObject({
    stage: v.picklist(['begun', 'running', 'done', 'failed', 'cancelled']),
    message: v.pipe(v.string(), v.description('A sentence for people.')),
  }),
  closing: v.strictObject({
    reason: v.pipe(
      v.picklist(CLOSING_REASONS),
      v.description('What ends the connection: a plan for the machine, or `stop`: the service ends.'),
    ),
  }),
  pong: v.strictObject({ clock }),
  error: v.strictObject({
    code: errorCode,
    message: v.pipe(v.string(), v.description('A sentence for people.')),
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
