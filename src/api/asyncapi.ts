/** The AsyncAPI document: the messages of /api/stream, and those of /api/ws in both directions. */
import * as v from 'valibot';
import { scopesOfOp } from '../machine/requests.ts';
import { messageId, OPS, type Op } from '../wire/socket.ts';
import { EVENTS, type SocketEvent } from '../wire/socket-events.ts';
import { EVENTS_TOPIC, TOPICS, type TopicEvent } from '../wire/topics.ts';
import { usage, usageDetail } from '../wire/usage.ts';
import { ALPHA } from './openapi.ts';
import { COMPONENTS, type Json, type SchemaWriter, schemaWriter } from './schemas.ts';

const OP_SUMMARIES: Readonly<Record<Op, string>> = {
  subscribe: 'Receive topics: immediately, and on every change',
  unsubscribe: 'Stop receiving topics',
  get: 'Receive topics once',
  media: 'Control a media player (experimental)',
  process_list: 'List the processes',
  process_details: 'All processes of one name, or one process by its pid',
  process_kill: 'End processes',
  process_launch: 'Start an app from the configuration',
  power: 'Request a power action, or cancel the scheduled one',
  wake: 'Wake another machine of the network',
  history: 'The recorded measurements',
  process_history: 'The programs that used most at a past moment',
  ping: 'Request a pong',
};

const EVENT_SUMMARIES: Readonly<Record<Exclude<SocketEvent, TopicEvent>, string>> = {
  connected: 'The first message of all',
  subscribed: 'The current subscriptions',
  system_stats: 'The machine as it is now: what the stream carries',
  process_details: 'All processes of a name, or the one of a number',
  event: EVENTS_TOPIC.summary,
  history: 'Columns of measurements',
  process_history: 'The programs that used most at that moment',
  media_feedback: 'Progress of a media command (experimental)',
  process_feedback: 'Progress of a process command',
  power_feedback: 'Progress of a power command',
  wake_feedback: 'Progress of waking a machine',
  closing: 'The service is about to close this connection',
  pong: 'The sign of life',
  error: 'A message was not understood, or is not allowed',
};

const TOPIC_SUMMARIES = Object.fromEntries(
  Object.values(TOPICS).map(({ event, summary }) => [event, summary]),
);

const EXPERIMENTAL = '(experimental)';

export function message(name: string, summary: string, payload: Json): Json {
  return {
    name,
    summary,
    contentType: 'application/json',
    ...(summary.endsWith(EXPERIMENTAL) ? { 'x-experimental': true } : {}),
    payload,
  };
}

/** `more`: properties beside `type` or `op`, `id` and `data`. */
export function frame(
  kind: 'op' | 'type',
  name: string,
  data: Json,
  isDataRequired: boolean,
  id: Json,
  more: Json = {},
): Json {
  return {
    type: 'object',
    properties: { [kind]: { type: 'string', const: name }, ...more, id, data },
    required: [kind, ...(isDataRequired ? ['data'] : [])],
    ...(kind === 'type' ? { additionalProperties: false } : {}),
  };
}

// The one schema that reads all media commands does not show which of them need a value.
const dataOf = (op: Op): v.GenericSchema => (op === 'media' ? COMPONENTS.MediaCommand : OPS[op]);

/** The scopes that a key must have for an op: any of them, by its action; none for an op that is checked by topic. */
const withScopes = (scopes: readonly string[]): Json =>
  scopes.length === 0 ? {} : { 'x-required-scopes': scopes };

/** `more`: see frame. */
export function opMessages({ write }: SchemaWriter, more: Json = {}): Json {
  // Its own keys are exactly the ops.
  const ops = Object.keys(OPS) as Op[];
  return Object.fromEntries(
    ops.map((op) => {
      const isRequired = !v.is(OPS[op], {});
      const payload = frame('op', op, write(dataOf(op)), isRequired, write(messageId), more);
      return [`op_${op}`, { ...message(op, OP_SUMMARIES[op], payload), ...withScopes(scopesOfOp(op)) }];
    }),
  );
}

/** `more`: see frame. */
export function eventMessages(
  { write }: SchemaWriter,
  events: Readonly<Record<string, v.GenericSchema>> = EVENTS,
  ownSummaries: Readonly<Record<string, string>> = {},
  more: Json = {},
): Json {
  const summaries: Readonly<Record<string, string>> = {
    ...EVENT_SUMMARIES,
    ...TOPIC_SUMMARIES,
    ...ownSummaries,
  };
  return Object.fromEntries(
    Object.entries(events).map(([type, data]) => {
      const payload = frame('type', type, write(data), true, write(messageId), more);
      return [type, message(type, summaries[type] ?? '', payload)];
    }),
  );
}

export const refs = (channel: string, names: readonly string[]) =>
  names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` }));

export const fromComponents = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }]));

export const SECURITY_SCHEMES: Json = {
  key: { type: 'http', scheme: 'bearer' },
  keyInQuery: { type: 'httpApiKey', name: 'api_key', in: 'query' },
};

/** `version`: the service's. */
export function asyncapiDocument(version: string): Json {
  const writer = schemaWriter('draft-07');
  const ops = opMessages(writer);
  const events = eventMessages(writer);
  const sample = message('sample', 'One line `data: <JSON>` and a blank line', {
    anyOf: [writer.write(usage), writer.write(usageDetail)],
  });
  const opNames = Object.keys(ops);
  const eventNames = Object.keys(events);
  const bearer = { $ref: '#/components/securitySchemes/key' };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'hostwire (alpha)',
      version,
      description: `${ALPHA}\n\nThe OpenAPI document at /api/openapi.json describes the requests that open these channels.`,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      http: { host: 'localhost:9990', protocol: 'http', security: [bearer] },
      ws: {
        host: 'localhost:9990',
        protocol: 'ws',
        security: [bearer, { $ref: '#/components/securitySchemes/keyInQuery' }],
      },
    },
    channels: {
      stream: {
        address: '/api/stream',
        description: 'Server-Sent Events without names, ids or retry. Query: `fields`, `detail`.',
        servers: [{ $ref: '#/servers/http' }],
        messages: fromComponents(['sample']),
      },
      socket: {
        address: '/api/ws',
        description: `JSON text frames of at most 16 KiB, 20 per second. Topics: stats and its sections, ${Object.keys(TOPICS).join(', ')}, events. \`id\` is echoed on every answer to the message that carries it.`,
        servers: [{ $ref: '#/servers/ws' }],
        messages: fromComponents([...opNames, ...eventNames]),
      },
    },
    operations: {
      sendSample: {
        action: 'send',
        channel: { $ref: '#/channels/stream' },
        messages: refs('stream', ['sample']),
      },
      receiveOp: {
        action: 'receive',
        channel: { $ref: '#/channels/socket' },
        messages: refs('socket', opNames),
      },
      sendEvent: {
        action: 'send',
        channel: { $ref: '#/channels/socket' },
        messages: refs('socket', eventNames),
      },
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      messages: { sample, ...ops, ...events },
      schemas: writer.used(),
    },
  };
}
