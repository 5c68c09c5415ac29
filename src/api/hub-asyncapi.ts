/** The AsyncAPI document of a hub: the messages of its `/api/ws` in both directions. */
import * as v from 'valibot';
import { HUB_EVENTS } from '../wire/hub-events.ts';
import { FLEET_OPS } from '../wire/hub-socket.ts';
import { messageId } from '../wire/socket.ts';
import {
  eventMessages,
  frame,
  fromComponents,
  message,
  opMessages,
  refs,
  SECURITY_SCHEMES,
} from './asyncapi.ts';
import { ALPHA } from './openapi.ts';
import { type Json, type SchemaWriter, schemaWriter } from './schemas.ts';

const FLEET_SUMMARIES: Readonly<Record<keyof typeof FLEET_OPS, string>> = {
  hosts: 'The machines',
  subscribe: 'Receive the samples and states of all machines, one event per interval',
  unsubscribe: 'Stop receiving those, or everything',
};

const SUMMARIES: Readonly<Record<string, string>> = {
  host: 'Whether the hub reaches the machine; also when that changes',
  hosts: 'The machines',
  fleet: 'The machines that changed; the first one, and one after missed events, has all',
};

const HOST: Json = { type: 'string', description: 'The id of the machine.' };
const HOSTS: Json = {
  type: 'array',
  items: { type: 'string' },
  description: 'Several machines, in the place of `host`: only with subscribe, unsubscribe and get.',
};

/** The ops that name no machine. `hosts` and those of the fleet are messages of their own. */
function fleetMessages({ write }: SchemaWriter): Json {
  return Object.fromEntries(
    Object.entries(FLEET_OPS).map(([op, data]) => {
      const payload = frame('op', op, write(data), !v.is(data, {}), write(messageId));
      // Its own keys are exactly these ops.
      const summary = FLEET_SUMMARIES[op as keyof typeof FLEET_OPS];
      return [`op_fleet_${op}`, message(`op_fleet_${op}`, summary, payload)];
    }),
  );
}

/** `version`: the hub's. */
export function hubAsyncapiDocument(version: string): Json {
  const writer = schemaWriter('draft-07');
  const ops = { ...opMessages(writer, { host: HOST, hosts: HOSTS }), ...fleetMessages(writer) };
  const events = eventMessages(writer, HUB_EVENTS, SUMMARIES, { host: HOST });
  const opNames = Object.keys(ops);
  const eventNames = Object.keys(events);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'hostwire hub (alpha)',
      version,
      description: `${ALPHA}\n\nThe OpenAPI document at /api/openapi.json describes the requests that open this channel. \`/api/hosts/{id}/ws\` has the same messages without \`host\`.`,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      ws: {
        host: 'localhost:9990',
        protocol: 'ws',
        security: [
          { $ref: '#/components/securitySchemes/key' },
          { $ref: '#/components/securitySchemes/keyInQuery' },
        ],
      },
    },
    channels: {
      socket: {
        address: '/api/ws',
        description:
          'JSON text frames of at most 16 KiB, 20 per second. `host` names the machine that a message is about; `id` is echoed on every answer to the message that carries it.',
        servers: [{ $ref: '#/servers/ws' }],
        messages: fromComponents([...opNames, ...eventNames]),
      },
    },
    operations: {
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
      messages: { ...ops, ...events },
      schemas: writer.used(),
    },
  };
}
