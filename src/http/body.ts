/** Request bodies: framing, size and content type, checked before anything acts. */
import { ServiceError } from '../errors.ts';
import type { Exchange } from './engine.ts';
import type { HeaderLists, RequestHead } from './head.ts';

export const MAX_BODY_BYTES = 16 * 1024;
/** A refused body is read up to here, so that a client that is still sending can read the answer. */
export const MAX_DRAINED_BYTES = 1024 * 1024;

/** How the head delimits the request. */
export interface Framing {
  /** Why the end of the request is ambiguous; undefined if it is clear. */
  readonly error: ServiceError | undefined;
  /** The Content-Length; 0 without one. */
  readonly announcedBytes: number;
  readonly isChunked: boolean;
  /** No further request is read from the connection: its beginning is ambiguous, or too far away. */
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

// uWebSockets.js accepts any bytes above a space as a method, and an empty one.
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export function readFraming({ method, headers }: RequestHead): Framing {
  const lengths = headers.get('content-length') ?? [];
  const encodings = headers.get('transfer-encoding') ?? [];
  const error = METHOD.test(method)
    ? framingError(lengths, encodings)
    : new ServiceError('bad_request', 'The method is not a word.');
  const announcedBytes = error === undefined ? Number(lengths[0] ?? 0) : 0;
  const isChunked = encodings.length > 0;
  // uWebSockets.js reads chunk sizes more leniently than other servers (`:` to `@` count as digits, and the end of a
  // chunk is not checked), so a chunked body may end at another byte for it than for a proxy before it.
  const endsConnection = error !== undefined || isChunked || announcedBytes > MAX_DRAINED_BYTES;
  return { error, announcedBytes, isChunked, endsConnection };
}

export type Body =
  | { readonly isTooLarge: false; readonly bytes: Buffer }
  | { readonly isTooLarge: true; readonly isDrained: boolean };

/**
 * The whole body, or that it is too large: then it was read to its end (`isDrained`) or was cut off at 1 MiB.
 * undefined if the peer closed the connection before its end. Call it while the request is being handled.
 */
export function readBody(exchange: Exchange): Promise<Body | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let total = 0;
    exchange.readBody({
      onChunk(chunk, isLast) {
        total += chunk.length;
        // The bytes belong to uWebSockets.js and are overwritten after this call.
        if (total <= MAX_BODY_BYTES) chunks.push(Buffer.from(chunk));
        else chunks.length = 0;
        if (!isLast) exchange.keepBody(Math.min(total, MAX_BODY_BYTES));
        if (total > MAX_DRAINED_BYTES) resolve({ isTooLarge: true, isDrained: false });
        else if (isLast)
          resolve(
            total > MAX_BODY_BYTES
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
