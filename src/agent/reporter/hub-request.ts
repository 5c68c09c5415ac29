/** Reads the messages of a hub: commands and questions. */

import { isIP } from 'node:net';
import { isObject, parseJson } from '../../json.ts';
import {
  type Asker,
  type CommandRequest,
  type Flaw,
  isFlaw,
  MAX_ID_LENGTH,
  MAX_PAYLOAD_BYTES,
  type Unread,
} from './command-request.ts';
import { isHubName } from './interest.ts';

/** Further ahead than any hub waits; ids are remembered for longer. */
export const MAX_AHEAD_MS = 30_000;
const KEY_NAME = /^[\x21-\x7e]{1,64}$/;

/** This agent at the moment: its run, and its clock in milliseconds. */
export interface Present {
  readonly run: string;
  readonly clock: number;
}

/** The fields that every message of a hub has. */
export interface Envelope {
  readonly id: string;
  readonly asker: Asker;
  readonly params: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

const bad = (message: string): Flaw => ({ code: 'invalid_value', message });

/** Reads the sender and the id of a message; without `asker` it cannot be answered. `hubKey`: the key of its connection. */
export function readEnvelope(payload: Buffer, hubKey?: string): Envelope | Unread {
  if (payload.length > MAX_PAYLOAD_BYTES)
    return { code: 'payload_too_large', message: `A message may have ${MAX_PAYLOAD_BYTES} bytes at most.` };
  const fields = parseJson(payload.toString());
  if (!isObject(fields)) return { code: 'invalid_json', message: 'The payload is not a JSON object.' };
  const { hub, id, client, key = null, params = {} } = fields;
  if (!isHubName(hub)) return bad('hub must be the name of a hub.');
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH)
    return bad(`id must be a string of 1 to ${MAX_ID_LENGTH} characters.`);
  const asker = (address: string): Asker => ({
    hub,
    sender: {
      address,
      isKeyed: key !== null,
      ...(hubKey === undefined ? {} : { key: hubKey }),
      via: { hub, key: typeof key === 'string' ? key : undefined },
    },
  });
  const flawed = (message: string): Unread => ({ ...bad(message), id, asker: asker('') });
  if (typeof client !== 'string' || isIP(client) === 0) return flawed('client must be an IP address.');
  if (key !== null && !(typeof key === 'string' && KEY_NAME.test(key)))
    return flawed('key must be null or the name of a key.');
  if (!isObject(params)) return flawed('params must be an object.');
  return { id, asker: asker(client), params, fields };
}

/** `name`: by the topic. The deadline is one of this agent's own clock, and of this run: whatever delays a message is seen. */
export function readHubCommand(
  name: string,
  payload: Buffer,
  { run, clock }: Present,
  hubKey?: string,
): CommandRequest | Unread {
  const envelope = readEnvelope(payload, hubKey);
  if (isFlaw(envelope)) return envelope;
  const { id, asker, params, fields } = envelope;
  const { run: meant, deadline, stages } = fields;
  if (typeof meant !== 'string' || typeof deadline !== 'number')
    return { ...bad('run must be a string and deadline a number.'), id, asker };
  const request = { name, params, id, asker, sentAt: undefined, key: `${asker.hub}/${id}` };
  const begun = stages === true ? { ...request, withStages: true } : request;
  // The clock of another run says nothing.
  if (meant !== run) return { ...request, lateness: 'other_run' };
  if (clock > deadline) return { ...request, lateness: 'late' };
  if (deadline - clock > MAX_AHEAD_MS)
    return { ...bad(`deadline must be within ${MAX_AHEAD_MS} ms.`), id, asker };
  return begun;
}
