/** Reads the messages on command topics. */
import type { ErrorCode, ServiceError } from '../../../errors.ts';
import { QUOTAS } from '../../../fairness/limits.ts';
import { isObject, parseJson } from '../../../json.ts';
import type { Params } from '../../../params.ts';

/** Sent by Home Assistant's buttons by default. */
const PRESS = 'PRESS';
/** Maximum length of an id that its sender chose, in UTF-16 code units. */
const MAX_ID_LENGTH = 128;

export interface CommandRequest {
  /** `power.sleep`. */
  readonly name: string;
  readonly params: Params;
  /** Identifies this one command: a second message with it is a duplicate. Repeated in the feedback. */
  readonly id: string | number | undefined;
  /** When it was sent, in Unix seconds, by the clock of its sender. */
  readonly sentAt: number | undefined;
}

/** Why a message is not understood, or not done. */
export interface Flaw {
  readonly code: ErrorCode;
  readonly message: string;
}

export const isFlaw = (value: CommandRequest | Flaw): value is Flaw => 'code' in value;

/** For people, with the reason in the sentence. */
export function flawOf({ code, message, details }: ServiceError): Flaw {
  const reason = details?.['reason'];
  if (typeof reason !== 'string') return { code, message };
  return { code, message: `${message.replace(/\.$/, '')}: ${reason}.` };
}

/** `name`: of the topic; without a dot it is a group, and `action` in the payload the rest. */
export function readRequest(name: string, payload: Buffer): CommandRequest | Flaw {
  if (payload.length > QUOTAS.brokerCommand.maxBytes)
    return {
      code: 'payload_too_large',
      message: `A command may have at most ${QUOTAS.brokerCommand.maxBytes} bytes.`,
    };
  const text = payload.toString();
  const value = text === PRESS ? {} : parseJson(text);
  if (value === undefined) return { code: 'invalid_json', message: 'The payload is not JSON.' };
  if (!isObject(value)) return { code: 'invalid_body', message: 'The payload must be an object.' };
  const { id, sent_at: sentAt, ...rest } = value;
  if (id !== undefined && !isId(id))
    return {
      code: 'invalid_value',
      message: `id must be a number or a string of 1 to ${MAX_ID_LENGTH} characters.`,
    };
  if (sentAt !== undefined && typeof sentAt !== 'number')
    return { code: 'invalid_value', message: 'sent_at must be a number of Unix seconds.' };
  if (name.includes('.')) return { name, params: rest, id, sentAt };
  const { action, ...params } = rest;
  if (typeof action !== 'string') return { code: 'missing_field', message: 'The field action is missing.' };
  return { name: `${name}.${action}`, params, id, sentAt };
}

const isId = (id: unknown): id is string | number =>
  typeof id === 'number' || (typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH);
