/** The last uses of keys for `hostwire keys`: the running service has them. */
import { apiKeyOf } from '../../access/key.ts';
import { listedKeys } from '../../access/key-list.ts';
import { requestIn } from '../../client/rest.ts';
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { environmentFor } from '../environment-for.ts';
import { findTarget, type Target } from '../target.ts';

interface LastUse {
  /** Unix seconds. */
  readonly at: number;
  readonly address: string;
  /** Streams and sockets that are open. */
  readonly open: number;
}

export interface LastUses {
  /** `none`: nothing is known. */
  readonly source: 'service' | 'none';
  /** Unix seconds; earlier uses are not known. */
  readonly since: number | null;
  /** Why nothing is known. */
  readonly reason: string | null;
  /** By the name of the key. */
  readonly uses: ReadonlyMap<string, LastUse>;
}

/** With what else it does, the command takes less than 2 s. */
const ASK_LIMIT_MS = 1500;

/** The key of this user, or one of the configuration that may do everything; undefined: all of these are digests. */
function keyFor(auth: Config['auth'], given: string | undefined, nowMs: number): string | undefined {
  const known = given ?? apiKeyOf(auth);
  if (known !== undefined) return known;
  return listedKeys(auth, nowMs)
    .filter(({ scopes, is_expired: isExpired }) => scopes.includes('admin') && !isExpired)
    .map(({ name }) => auth.keys[name]?.key_file?.secret)
    .find((secret) => secret !== undefined);
}

function readAnswer(answer: unknown): Pick<LastUses, 'since' | 'uses'> {
  if (!isObject(answer) || typeof answer['since'] !== 'number' || !Array.isArray(answer['keys']))
    throw new Error('unexpected answer');
  const rows: readonly unknown[] = answer['keys'];
  const uses = new Map<string, LastUse>();
  for (const row of rows) {
    const last = isObject(row) ? row['last_use'] : undefined;
    if (!isObject(row) || !isObject(last)) continue;
    const [{ name, open }, { at, address }] = [row, last];
    if (typeof name === 'string' && typeof at === 'number' && typeof address === 'string')
      uses.set(name, { at, address, open: typeof open === 'number' ? open : 0 });
  }
  return { since: answer['since'], uses };
}

/** Throws where the service does not answer in time, or refuses to. */
async function askService(target: Target, timeoutMs: number): Promise<LastUses> {
  const { url, key, pin } = target;
  // The certificate of the configuration is known by its pin, as for `hostwire top`.
  const { environment } = await environmentFor(pin);
  const { data } = await requestIn('api/keys', { url, key, timeoutMs }, environment);
  return { source: 'service', reason: null, ...readAnswer(data) };
}

/** Never rejects. `variables`: of the environment. `limitMs`: for tests. */
export async function findLastUses(
  config: Config,
  variables: Readonly<Record<string, string | undefined>>,
  nowMs: number,
  limitMs = ASK_LIMIT_MS,
): Promise<LastUses> {
  const here = { url: undefined, machine: undefined, keyFile: undefined, pin: undefined, isOnce: false };
  const unknown = (reason: string): LastUses => ({ source: 'none', since: null, reason, uses: new Map() });
  try {
    const target = findTarget(here, variables, () => config);
    const key = keyFor(config.auth, target.key, nowMs);
    if (key !== undefined) return await askService({ ...target, key }, limitMs);
    return unknown(
      'the service was not asked: the configuration has only digests of keys with the scope admin; ' +
        'set HOSTWIRE_KEY to one of them',
    );
  } catch (error) {
    return unknown(`the service did not return them: ${messageOf(error)}`);
  }
}
