/** The shared key: whether a request sent one, and whether it is the right one. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type AccessRequest, valuesOf } from './request.ts';

export type KeyState = 'none' | 'valid' | 'wrong';

/** Digests have one length, so that the comparison says nothing about the key's. */
export function digestKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

function isKey(digest: Buffer | undefined, candidate: string): boolean {
  return digest !== undefined && timingSafeEqual(digest, digestKey(candidate));
}

function isBearerOf(digest: Buffer | undefined, header: string): boolean {
  const candidate = /^bearer +(.+)$/i.exec(header)?.[1];
  return candidate !== undefined && isKey(digest, candidate);
}

/**
 * Two of a kind prove nothing: exactly one Authorization header, or exactly one `api_key` in the query.
 * `digest` is undefined when no key is configured: then none is right.
 */
export function judgeKey(digest: Buffer | undefined, request: AccessRequest): KeyState {
  const headers = valuesOf(request, 'authorization');
  const [header] = headers;
  if (headers.length === 1 && header !== undefined && isBearerOf(digest, header)) return 'valid';
  const [queryKey] = request.queryKeys;
  if (request.queryKeys.length === 1 && queryKey !== undefined && isKey(digest, queryKey)) return 'valid';
  return headers.length + request.queryKeys.length === 0 ? 'none' : 'wrong';
}
