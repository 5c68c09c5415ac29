/** The last uses of keys for `hostwire keys`: the running service has them. */
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { askService, NoKeyError, type Variables } from '../ask-service.ts';

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

/** Never rejects. `variables`: of the environment. `limitMs`: for tests. */
export async function findLastUses(
  config: Config,
  variables: Variables,
  limitMs = ASK_LIMIT_MS,
): Promise<LastUses> {
  try {
    const question = { path: 'api/keys', needsKey: true, timeoutMs: limitMs };
    const answer = readAnswer(await askService(config, variables, question));
    return { source: 'service', reason: null, ...answer };
  } catch (error) {
    const reason = messageOf(error);
    const what = error instanceof NoKeyError ? 'was not asked' : 'did not return them';
    return { source: 'none', since: null, reason: `the service ${what}: ${reason}`, uses: new Map() };
  }
}
