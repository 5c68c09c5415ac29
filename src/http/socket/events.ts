/** The messages that /api/ws sends, as JSON text. */
import type { ServiceError } from '../../errors.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { EventData, SocketEvent } from '../../wire/socket-events.ts';

export function eventText<E extends SocketEvent>(type: E, data: EventData<E>, id?: MessageId): string {
  return JSON.stringify(id === undefined ? { type, data } : { type, id, data });
}

/** As eventText, for data that is JSON already. */
export function eventTextOf(type: SocketEvent, json: string, id?: MessageId): string {
  const echoed = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
  return `{"type":"${type}",${echoed}"data":${json}}`;
}

export function errorText(
  code: EventData<'error'>['code'],
  message: string,
  id: MessageId | undefined,
  details?: Readonly<Record<string, unknown>>,
): string {
  return eventText('error', { code, message, ...(details === undefined ? {} : { details }) }, id);
}

/** The sentence of an error, with the reason that HTTP has in `details`. */
export function sentenceOf({ message, details }: ServiceError): string {
  const reason = details?.['reason'];
  if (typeof reason !== 'string') return message;
  return `${message.replace(/\.$/, '')}: ${reason.replace(/\.$/, '')}.`;
}
