/** Reads the messages of a hub: commands and questions. */

import { isIP } from 'node:net';
import type { Caller } from '../../access/caller.ts';
import {
  type CommandRequest,
  type Flaw,
  isFlaw,
  MAX_ID_LENGTH,
  MAX_PAYLOAD_BYTES,
  type Unread,
} from '../../exporters/mqtt/commands/command-request.ts';
import { isObject, parseJson } from '../../json.ts';
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
  readonly hub: string;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

const bad = (message: string): Flaw => ({ code: 'invalid_value', message });

/** Reads the caller and the id of a message; without them it cannot be answered. `peer`: the hub, by its connection. */
export function readEnvelope(payload: Buffer, peer: Pick<Caller, 'key' | 'scopes'>): Envelope | Unread {
  if (payload.length > MAX_PAYLOAD_BYTES)
    return { code: 'payload_too_large', message: `A message may have at most ${MAX_PAYLOAD_BYTES} bytes.` };
  const fields = parseJson(payload.toString());
  if (!isObject(fields)) return { code: 'invalid_json', message: 'The payload is not a JSON object.' };
  const { hub, id, client, key = null, params = {} } = fields;
  if (!isHubName(hub)) return bad('hub must be the name of a hub.');
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH)
    return bad(`id must be a string of 1 to ${MAX_ID_LENGTH} characters.`);
  const callerAt = (address: string): Caller => ({
    address,
    isKeyed: key !== null,
    key: peer.key,
    scopes: peer.scopes,
    via: { hub, key: typeof key === 'string' ? key : undefined },
  });
  const flawed = (message: string): Unread => ({ ...bad(message), id, caller: callerAt('') });
  if (typeof client !== 'string' || isIP(client) === 0) return flawed('client must be an IP address.');
  if (key !== null && !(typeof key === 'string' && KEY_NAME.test(key)))
    return flawed('key must be null or the name of a key.');
  if (!isObject(params)) return flawed('params must be an object.');
  return { id, hub, caller: callerAt(client), params, fields };
}

/** `name`: by the topic. The deadline is one of this agent's own clock, and of this run: whatever delays a message is seen. */
export function readHubCommand(
  name: string,
  payload: Buffer,
  { run, clock }: Present,
  peer: Pick<Caller, 'key' | 'scopes'>,
): CommandRequest | Unread {
  const envelope = readEnvelope(payload, peer);
  if (isFlaw(envelope)) return envelope;
  const { id, hub, caller, params, fields } = envelope;
  const { run: meant, deadline, stages } = fields;
  if (typeof meant !== 'string' || typeof deadline !== 'number')
    return { ...bad('run must be a string and deadline a number.'), id, caller };
  const request = { name, params, id, caller, sentAt: undefined, key: `${hub}/${id}` };
  const begun = stages === true ? { ...request, withStages: true } : request;
  // The clock of another run says nothing.
  if (meant !== run) return { ...request, lateness: 'other_run' };
  if (clock > deadline) return { ...request, lateness: 'late' };
  if (deadline - clock > MAX_AHEAD_MS)
    return { ...bad(`deadline must be within ${MAX_AHEAD_MS} ms.`), id, caller };
  return begun;
}
