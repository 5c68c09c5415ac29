/** Request bodies: framing, size and content type, checked before anything acts. */
import { ServiceError } from '../errors.ts';
import type { Exchange, HeaderLists, RequestHead } from './uws/exchange.ts';

export const MOST_BODY_BYTES = 16 * 1024;
/** A refused body is read up to here, so that a client that is still sending can read the answer. */
export const MOST_DRAINED_BYTES = 1024 * 1024;

/** What the head says of where a request ends. */
export interface Framing {
  /** Why nobody can be sure where it ends; undefined when that is clear. */
  readonly error: ServiceError | undefined;
  /** The Content-Length; 0 without one. */
  readonly announcedBytes: number;
  readonly isChunked: boolean;
  /** No request is read behind this one: where it begins is not beyond doubt, or too far away. */
  readonly endsConnection: boolean;
}

function framingError(lengths: readonly string[], encodings: readonly string[]): ServiceError | undefined {
  if (lengths.length > 1) return new ServiceError('bad_request', 'There is more than one Content-Length.');
  if (lengths.some((length) => !/^\d+$/.test(length)))
    return new ServiceError('bad_request', 'The Content-Length must be a decimal number.');
  if (encodings.length > 1 || (encodings[0] ?? 'chunked').trim().toLowerCase() !== 'chunked')
    return new ServiceError('bad_request', 'The only Transfer-Encoding understood is chunked.');
  if (lengths.length > 0 && encodings.length > 0)
    return new ServiceError('bad_request', 'Content-Length and Transfer-Encoding exclude each other.');
  return undefined;
}

// uWebSockets.js takes any bytes above a space for a method, and none at all.
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export function readFraming({ method, headers }: RequestHead): Framing {
  const lengths = headers.get('content-length') ?? [];
  const encodings = headers.get('transfer-encoding') ?? [];
  const error = METHOD.test(method)
    ? framingError(lengths, encodings)
    : new ServiceError('bad_request', 'The method is not a word.');
  const announcedBytes = error === undefined ? Number(lengths[0] ?? 0) : 0;
  const isChunked = encodings.length > 0;
  // uWebSockets.js reads chunk sizes more generously than others do (`:` to `@` count as digits, and what ends a chunk
  // is not looked at), so a chunked body may end elsewhere for it than for a proxy before it.
  const endsConnection = error !== undefined || isChunked || announcedBytes > MOST_DRAINED_BYTES;
  return { error, announcedBytes, isChunked, endsConnection };
}

export type Body =
  | { readonly isTooLarge: false; readonly bytes: Buffer }
  | { readonly isTooLarge: true; readonly isDrained: boolean };

/**
 * The whole body, or word that it is too large: then it was read to its end (`isDrained`) or was cut off at 1 MiB.
 * undefined when the peer went away before its end. Call it while the request is being handled.
 */
export function readBody(exchange: Exchange): Promise<Body | undefined> {
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
        resolve(undefined);
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
