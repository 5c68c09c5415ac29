/** GET /api/keys: the keys of the configuration, and their last uses. */
import { listedKeys } from '../../access/key-list.ts';
import type { KeyUses } from '../../access/key-uses.ts';
import { wholeSeconds } from '../../clock.ts';
import type { CurrentConfig } from '../../config/current.ts';
import { jsonAnswer } from '../../http/reply.ts';
import type { Run } from '../../http/routes.ts';
import type { KeyList } from '../../wire/keys.ts';

export interface KeyListDeps {
  readonly config: CurrentConfig;
  readonly uses: Pick<KeyUses, 'of' | 'beforeLast' | 'sinceMs'>;
}

export const keysRun =
  ({ config, uses }: KeyListDeps): Run =>
  ({ client, headers }) => {
    const payload: KeyList = {
      since: wholeSeconds(uses.sinceMs),
      keys: listedKeys(config.current.auth, Date.now()).map((key) => {
        // The request itself would hide the use that is asked for.
        const use = key.name === client.key ? uses.beforeLast(key.name) : uses.of(key.name);
        const last = use && { at: wholeSeconds(use.atMs), address: use.address };
        return { ...key, last_use: last ?? null, open: use?.open ?? 0 };
      }),
    };
    return jsonAnswer(payload, headers);
  };
