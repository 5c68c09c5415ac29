/** The last uses of keys for `hostwire keys`: the running service has them. */
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../errors.ts';
import type { KeyList, KeyRow } from '../../wire/keys.ts';
import { askService, NoKeyError, type Variables } from '../ask-service.ts';

/** With `open`: its streams and sockets. */
type LastUse = NonNullable<KeyRow['last_use']> & Pick<KeyRow, 'open'>;

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

/** Never rejects. `variables`: of the environment. `limitMs`: for tests. */
export async function findLastUses(
  config: Config,
  variables: Variables,
  limitMs = ASK_LIMIT_MS,
): Promise<LastUses> {
  try {
    const question = { path: 'api/keys', needsKey: true, timeoutMs: limitMs };
    // The service of this configuration answers so; docs/api.md has the shape.
    const { since, keys } = (await askService(config, variables, question)) as Partial<KeyList>;
    if (since === undefined || keys === undefined) throw new Error('unexpected answer');
    const uses = keys.flatMap(({ name, last_use: use, open }) =>
      use === null ? [] : [[name, { ...use, open }] as const],
    );
    return { source: 'service', reason: null, since, uses: new Map(uses) };
  } catch (error) {
    const reason = messageOf(error);
    const what = error instanceof NoKeyError ? 'was not asked' : 'did not return them';
    return { source: 'none', since: null, reason: `the service ${what}: ${reason}`, uses: new Map() };
  }
}
