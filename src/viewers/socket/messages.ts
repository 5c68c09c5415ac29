/** The messages that WebSockets send, as JSON text; with the machine where a socket shows several. */
import type { ServiceError } from '../../errors.ts';
import type { HUB_ERROR_CODES } from '../../wire/hub-socket.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { EventData } from '../../wire/socket-events.ts';

/** The message that a message answers, and the machine that it is about. */
export interface Place {
  /** undefined: all machines, or the only one of the socket. */
  readonly host: string | undefined;
  readonly id: MessageId | undefined;
}

export const NOWHERE: Place = { host: undefined, id: undefined };

/** `json`: the data, which is JSON already. */
export function frameOf(type: string, json: string | Buffer, { host, id }: Place): string {
  const named = host === undefined ? '' : `"host":${JSON.stringify(host)},`;
  const echoed = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
  return `{"type":"${type}",${named}${echoed}"data":${json.toString()}}`;
}

export const frame = (type: string, data: object, place: Place): string =>
  frameOf(type, JSON.stringify(data), place);

type SocketErrorCode = EventData<'error'>['code'] | (typeof HUB_ERROR_CODES)[number];

export const errorFrame = (
  code: SocketErrorCode,
  message: string,
  place: Place,
  details?: Readonly<Record<string, unknown>>,
): string => frame('error', { code, message, ...(details === undefined ? {} : { details }) }, place);

/** Codes of HTTP as codes of an `error`; others are failures of a command or a question. */
const CODES: Readonly<Record<string, SocketErrorCode>> = {
  feature_disabled: 'FEATURE_DISABLED',
  command_not_allowed: 'FORBIDDEN',
  scope_required: 'FORBIDDEN',
  invalid_body: 'INVALID_DATA',
  missing_field: 'INVALID_DATA',
  invalid_value: 'INVALID_DATA',
  unknown_action: 'INVALID_DATA',
  too_many_streams: 'TOO_MANY_STREAMS',
  too_many_requests: 'RATE_LIMITED',
  host_unreachable: 'HOST_UNREACHABLE',
};

/** undefined: the error is not one of the message, but a failure of what was asked for. */
export function refusalFrame(error: ServiceError, place: Place): string | undefined {
  const code = CODES[error.code];
  return code === undefined ? undefined : errorFrame(code, sentenceOf(error), place, error.details);
}

/** The sentence of an error, with the reason that HTTP has in `details`. */
export function sentenceOf({ message, details }: ServiceError): string {
  const reason = details?.['reason'];
  if (typeof reason !== 'string') return message;
  return `${message.replace(/\.$/, '')}: ${reason.replace(/\.$/, '')}.`;
}
