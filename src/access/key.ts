/** Checks the shared key of a request. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type AccessRequest, valuesOf } from './request.ts';

export type KeyState = 'none' | 'valid' | 'wrong';

/** Longer than any key that can be configured, in characters. */
const MAX_KEY_LENGTH = 4096;

/** Digests are of equal length, so comparing them does not reveal the length of the key. */
export function digestKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

function isKey(digest: Buffer | undefined, candidate: string): boolean {
  // Digesting a whole head of 16 KiB would take 35 µs, ten times as long as a key.
  if (digest === undefined || candidate.length > MAX_KEY_LENGTH) return false;
  return timingSafeEqual(digest, digestKey(candidate));
}

function isBearerOf(digest: Buffer | undefined, header: string): boolean {
  // The two repetitions cannot match the same characters, and nothing fails after the second: otherwise
  // 16,000 blanks before a line separator, which `.` does not match, would be tried in 16,000 ways.
  const candidate = /^bearer +([^ ].*)$/is.exec(header)?.[1];
  return candidate !== undefined && isKey(digest, candidate);
}

/**
 * Only a single Authorization header, or a single `api_key` in the query, can be valid; repeated ones are
 * wrong. `digest` is undefined when no key is configured: then no key is valid.
 */
export function judgeKey(digest: Buffer | undefined, request: AccessRequest): KeyState {
  const headers = valuesOf(request, 'authorization');
  const [header] = headers;
  if (headers.length === 1 && header !== undefined && isBearerOf(digest, header)) return 'valid';
  const [queryKey] = request.queryKeys;
  if (request.queryKeys.length === 1 && queryKey !== undefined && isKey(digest, queryKey)) return 'valid';
  return headers.length + request.queryKeys.length === 0 ? 'none' : 'wrong';
}
