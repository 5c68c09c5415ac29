/** Request bodies: framing, size and content type, checked before anything acts. */
import { ServiceError } from '../errors.ts';
import { PLACES, QUOTAS } from '../fairness/limits.ts';
import type { Exchange } from './engine.ts';
import { type HeaderLists, type RequestHead, TOKEN } from './head.ts';

const PIECE_BYTES = 256;
/** Maximum time for the whole body: more than the 30 to 32 s after which node:http answers with 408. */
const BODY_LIMIT_MS = 35_000;
/** Memory of a body that is being read, beside its bytes: a promise, a timer, closures. */
const OVERHEAD_BYTES = 1024;

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

export function readFraming({ method, headers }: RequestHead): Framing {
  const lengths = headers.get('content-length') ?? [];
  const encodings = headers.get('transfer-encoding') ?? [];
  // uWebSockets.js accepts any bytes above a space as a method, and an empty one.
  const error = TOKEN.test(method)
    ? framingError(lengths, encodings)
    : new ServiceError('bad_request', 'The method is not a word.');
  const announcedBytes = error === undefined ? Number(lengths[0] ?? 0) : 0;
  const isChunked = encodings.length > 0;
  // uWebSockets.js reads chunk sizes more leniently than other servers (`:` to `@` count as digits, and the end of a
  // chunk is not checked), so a chunked body may end at another byte for it than for a proxy before it.
  const endsConnection = error !== undefined || isChunked || announcedBytes > QUOTAS.drainedBody.maxBytes;
  return { error, announcedBytes, isChunked, endsConnection };
}

export type Body =
  | { readonly isTooLarge: false; readonly bytes: Buffer }
  | { readonly isTooLarge: true; readonly isDrained: boolean };

/**
 * Reads the whole body, or finds that it is too large: then it was read to its end (`isDrained`) or up to 1 MiB.
 * Resolves with undefined if the connection ended first. Call it while the request is being handled.
 *
 * A body that takes too long or arrives in too many pieces cuts its connection, within the call that delivers the piece,
 * because uWebSockets.js delivers all the pieces of a read (512 KiB) before anything else may run. `onCut` gets the reason.
 */
export function readBody(
  exchange: Pick<Exchange, 'readBody' | 'bufferBody' | 'cut'>,
  { announcedBytes, isChunked }: Pick<Framing, 'announcedBytes' | 'isChunked'>,
  onCut: (reason: string) => void,
  limitMs = BODY_LIMIT_MS,
): Promise<Body | undefined> {
  return new Promise((resolve) => {
    // One buffer for all of it: each small piece would cost a hundred bytes and more beside its own.
    const { maxBytes } = QUOTAS.body;
    const kept = Buffer.allocUnsafeSlow(isChunked ? maxBytes : Math.min(announcedBytes, maxBytes));
    let total = 0;
    let pieces = 0;
    let isOver = false;
    const finish = (body: Body | undefined): void => {
      clearTimeout(timer);
      resolve(body);
    };
    const cut = (reason: string): void => {
      if (isOver) return;
      isOver = true;
      exchange.cut();
      onCut(reason);
      finish(undefined);
    };
    const timer = setTimeout(() => cut(`took longer than ${limitMs / 1000} s`), limitMs);
    exchange.readBody({
      onChunk(chunk, isLast) {
        if (isOver) return;
        if (total + chunk.length <= kept.length) chunk.copy(kept, total);
        total += chunk.length;
        pieces++;
        if (pieces > PLACES.bodyPieces.max + total / PIECE_BYTES) {
          cut(`arrived in ${pieces} pieces of ${(total / pieces).toFixed(0)} bytes on average`);
          return;
        }
        // Pieces that follow are counted until the answer has ended the connection.
        if (total > QUOTAS.drainedBody.maxBytes) finish({ isTooLarge: true, isDrained: false });
        else if (isLast)
          finish(
            total > maxBytes
              ? { isTooLarge: true, isDrained: true }
              : { isTooLarge: false, bytes: kept.subarray(0, total) },
          );
      },
      onAborted() {
        isOver = true;
        finish(undefined);
      },
    });
    exchange.bufferBody(OVERHEAD_BYTES + kept.length);
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
