/** Asks the running service of the configuration over loopback, with a key that may do everything. */
import { apiKeyOf } from '../access/key.ts';
import { listedKeys } from '../access/key-list.ts';
import { ClientError } from '../client/errors.ts';
import { type RequestOptions, requestIn } from '../client/rest.ts';
import type { Config } from '../config/config.ts';
import { environmentFor } from './environment-for.ts';
import { findTarget } from './target.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** The service takes no question without a key, and there is none. */
export class NoKeyError extends Error {
  override message =
    'the configuration has only digests of keys with the scope admin; set HOSTWIRE_KEY to one of them';
}

/** The key of this user, or one of the configuration that may do everything; undefined: all of these are digests. */
function keyFor(auth: Config['auth'], given: string | undefined): string | undefined {
  const known = given ?? apiKeyOf(auth);
  if (known !== undefined) return known;
  return listedKeys(auth, Date.now())
    .filter(({ scopes, is_expired: isExpired }) => scopes.includes('admin') && !isExpired)
    .map(({ name }) => auth.keys[name]?.key_file?.secret)
    .find((secret) => secret !== undefined);
}

export interface Question extends Pick<RequestOptions, 'method' | 'body' | 'timeoutMs'> {
  readonly path: string;
  /** Clients of this machine that are let in without a key do not suffice. */
  readonly needsKey: boolean;
}

/** `variables`: of the environment. Rejects with NoKeyError, and where the service does not answer in time, or refuses to. */
export async function askService(config: Config, variables: Variables, question: Question): Promise<unknown> {
  const here = { url: undefined, machine: undefined, keyFile: undefined, pin: undefined, isOnce: false };
  const { url, key: given, pin } = findTarget(here, variables, () => config);
  const key = keyFor(config.auth, given);
  const { path, needsKey, ...options } = question;
  if (key === undefined && needsKey) throw new NoKeyError();
  // The certificate of the configuration is known by its pin, as for `hostwire top`.
  const { environment } = await environmentFor(pin);
  try {
    return (await requestIn(path, { url, key, ...options }, environment)).data;
  } catch (error) {
    // The clients of this machine may need none.
    const lacksKey = key === undefined && error instanceof ClientError && error.code === 'unauthorized';
    throw lacksKey ? new NoKeyError() : error;
  }
}
