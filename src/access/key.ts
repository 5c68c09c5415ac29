/** Finds the key that a request sends among those of the configuration. */
import { createHash, randomBytes } from 'node:crypto';
import { ALL_SCOPES, type Scope, type Scopes, scopesOf } from '../scopes.ts';
import { type Address, type AddressRules, matches, parseAddressList } from './addresses.ts';
import { parseExpiry } from './expiry.ts';
import { type AccessRequest, valuesOf } from './request.ts';

/** A further key, as the configuration has it: with a digest or the key itself. */
export interface KeySettings {
  /** As `describeDigest` writes it. */
  readonly digest?: string;
  readonly key_file?: { readonly secret: string };
  readonly scopes: readonly Scope[];
  /** As `parseExpiry` reads it; undefined: it does not expire. */
  readonly expires?: string;
  /** Addresses and ranges of the clients that may use it; undefined: any. */
  readonly addresses?: readonly string[];
}

export interface Key {
  /** In `auth.keys`; DEFAULT_KEY is that of `auth.api_key`. */
  readonly name: string;
  readonly scopes: Scopes;
  readonly expiresAtMs: number;
  readonly addresses: AddressRules | undefined;
}

/** The configured keys by their marks. */
export interface KeyRing {
  readonly keys: ReadonlyMap<string, Key>;
  /** By the names of the keys that end, in milliseconds of Unix time. */
  readonly ends: ReadonlyMap<string, number>;
}

/** The name of the key of `auth.api_key`, which may do everything. */
export const DEFAULT_KEY = 'default';

/** Longer than any key that can be configured, in characters. */
const MAX_KEY_LENGTH = 4096;

const sha256 = (data: string | Buffer) => createHash('sha256').update(data);

export const digestKey = (key: string): Buffer => sha256(key).digest();

const DIGEST = /^sha256\/([A-Za-z0-9+/]{43}=)$/;

/** `sha256/` and the padded base64 of the SHA-256 of the key's bytes. */
export const describeDigest = (key: string): string => `sha256/${digestKey(key).toString('base64')}`;

export const isDigest = (text: string): boolean => DIGEST.test(text);

/**
 * A hash of the digest and a secret of this process. It is looked up instead of the digest: the time depends
 * neither on the number of keys nor on how close a guess is, because no client can know the hash.
 */
const markOf = (digest: Buffer): string => sha256(SECRET).update(digest).digest('base64');
const SECRET = randomBytes(32);

/** The moment at which a key ends, in milliseconds of Unix time; Infinity: never. */
export function endOf(settings: Pick<KeySettings, 'expires'>): number {
  const { expires } = settings;
  const end =
    ends.get(settings) ?? (expires === undefined ? Number.POSITIVE_INFINITY : (parseExpiry(expires) ?? 0));
  ends.set(settings, end);
  return end;
}

/** Thousands of keys are asked for their ends, again and again. */
const ends = new WeakMap<object, number>();

function digestOf({ digest, key_file: file }: KeySettings): Buffer {
  if (file !== undefined) return digestKey(file.secret);
  return Buffer.from(DIGEST.exec(digest ?? '')?.[1] ?? '', 'base64');
}

/** Returns the key of `auth.api_key`; undefined where there is none, or an empty one. */
export const apiKeyOf = ({ api_key: key }: { readonly api_key: string | undefined }): string | undefined =>
  key === '' ? undefined : key;

/** `apiKey`: as of `apiKeyOf`. */
export function compileKeys(
  apiKey: string | undefined,
  further: Readonly<Record<string, KeySettings>> = {},
): KeyRing {
  const keys = new Map<string, Key>();
  const endings = new Map<string, number>();
  for (const [name, settings] of Object.entries(further)) {
    const { mark, key } = compileKey(name, settings);
    if (key.expiresAtMs !== Number.POSITIVE_INFINITY) endings.set(name, key.expiresAtMs);
    keys.set(mark, key);
  }
  if (apiKey !== undefined)
    keys.set(markOf(digestKey(apiKey)), {
      name: DEFAULT_KEY,
      scopes: ALL_SCOPES,
      expiresAtMs: Number.POSITIVE_INFINITY,
      addresses: undefined,
    });
  return { keys, ends: endings };
}

/** A reload with thousands of keys changes few of them. */
const compiled = new WeakMap<KeySettings, { readonly mark: string; readonly key: Key }>();

export function compileKey(name: string, settings: KeySettings) {
  const earlier = compiled.get(settings);
  if (earlier?.key.name === name) return earlier;
  const { scopes, addresses } = settings;
  const key = {
    name,
    scopes: scopesOf(scopes),
    expiresAtMs: endOf(settings),
    addresses: addresses && parseAddressList(addresses, false).rules,
  };
  const entry = { mark: markOf(digestOf(settings)), key };
  compiled.set(settings, entry);
  return entry;
}

/** A request and its client, at a moment of Unix time. */
interface Sent {
  readonly request: AccessRequest;
  readonly client: Address;
  readonly nowMs: number;
}

function findKey({ keys }: KeyRing, candidate: string, { client, nowMs }: Sent): Key | undefined {
  // All of a head of 16 KiB would take 35 µs to digest, ten times as long as a key.
  if (keys.size === 0 || candidate.length > MAX_KEY_LENGTH) return undefined;
  const key = keys.get(markOf(digestKey(candidate)));
  if (key === undefined || nowMs >= key.expiresAtMs) return undefined;
  return key.addresses === undefined || matches(key.addresses, client) ? key : undefined;
}

/** Returns the token of an Authorization header. */
export function bearerIn(header: string): string | undefined {
  // Neither repetition can take what the other one does, and nothing fails after the second: else 16,000 blanks before a
  // line separator, which `.` does not match, would be tried in 16,000 ways.
  return /^bearer +([^ ].*)$/is.exec(header)?.[1];
}

/**
 * Returns the key that a request sends. Only a single Authorization header, or a single `api_key` in the query, can be
 * valid; repeated ones are wrong. A key is wrong when it has expired, or its client has another address than it is for.
 */
export function judgeKey(ring: KeyRing, sent: Sent): Key | 'none' | 'wrong' {
  const { queryKeys } = sent.request;
  const headers = valuesOf(sent.request, 'authorization');
  const [header] = headers;
  const bearer = headers.length === 1 && header !== undefined ? bearerIn(header) : undefined;
  const byHeader = bearer === undefined ? undefined : findKey(ring, bearer, sent);
  if (byHeader !== undefined) return byHeader;
  const [queryKey] = queryKeys;
  const byQuery =
    queryKeys.length === 1 && queryKey !== undefined ? findKey(ring, queryKey, sent) : undefined;
  return byQuery ?? (headers.length + queryKeys.length === 0 ? 'none' : 'wrong');
}
