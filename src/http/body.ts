/** Request bodies: framing, size and content type, checked before anything acts. */
import { ServiceError } from '../errors.ts';
import type { Exchange, HeaderLists } from './server.ts';

export const MOST_BODY_BYTES = 16 * 1024;
/** A refused body is read up to here, so that a client that is still sending can read the answer. */
const MOST_DRAINED_BYTES = 1024 * 1024;

/** Throws bad_request for ambiguous framing, payload_too_large for a length that is announced and too much. */
export function checkFraming(headers: HeaderLists): void {
  const lengths = headers.get('content-length') ?? [];
  const encodings = headers.get('transfer-encoding') ?? [];
  if (lengths.length > 1) throw new ServiceError('bad_request', 'There is more than one Content-Length.');
  if (encodings.length > 1 || (encodings[0] ?? 'chunked').trim().toLowerCase() !== 'chunked')
    throw new ServiceError('bad_request', 'The only Transfer-Encoding understood is chunked.');
  if (lengths.length > 0 && encodings.length > 0)
    throw new ServiceError('bad_request', 'Content-Length and Transfer-Encoding exclude each other.');
}

export type Body =
  | { readonly isTooLarge: false; readonly bytes: Buffer }
  | { readonly isTooLarge: true; readonly isDrained: boolean };

/**
 * The whole body, or word that it is too large: then it was read to its end (`isDrained`) or was cut off at 1 MiB.
 * Never settles when the peer goes away. Call it while the request is being handled.
 */
export function readBody(exchange: Exchange): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let total = 0;
    exchange.readBody({
      onChunk(chunk, isLast) {
        total += chunk.length;
        // The bytes belong to uWebSockets.js and are overwritten after this call.
        if (total <= MOST_BODY_BYTES) chunks.push(Buffer.from(chunk));
        else chunks.length = 0;
        if (total > MOST_DRAINED_BYTES) resolve({ isTooLarge: true, isDrained: false });
        else if (isLast)
          resolve(
            total > MOST_BODY_BYTES
              ? { isTooLarge: true, isDrained: true }
              : { isTooLarge: false, bytes: Buffer.concat(chunks) },
          );
      },
      onAborted() {
        chunks.length = 0;
      },
    });
  });
}

/** A missing type is read as JSON. Throws unsupported_media_type. */
export function checkJsonType(headers: HeaderLists): void {
  const [type = 'application/json'] = headers.get('content-type') ?? [];
  const essence = type.split(';', 1)[0]?.trim().toLowerCase();
  if (essence !== 'application/json')
    throw new ServiceError('unsupported_media_type', 'The body must be application/json.');
}

/** The JSON object in `bytes`. Throws invalid_json, invalid_body. */
export function parseJsonObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ServiceError('invalid_json', 'The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ServiceError('invalid_body', 'The body must be a JSON object.');
  // Just checked: an object that is neither null nor an array.
  return value as Readonly<Record<string, unknown>>;
}
