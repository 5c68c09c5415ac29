/** Judges the entries of lists. Addresses are judged by the room that will use them, through a function given in. */
import type { ItemKind } from './schema.ts';
import { isHostName } from './values.ts';

/** What the address lists' own parser says of them; rules it returns are not used here. */
export type CheckAddresses = (
  entries: readonly string[],
  allowWildcard: boolean,
) => {
  readonly problems: readonly {
    readonly index: number;
    readonly value: string;
    readonly reason: string;
  }[];
  readonly warnings: readonly string[];
};

export interface ItemProblem {
  readonly index: number;
  readonly reason: string;
}

export interface JudgedItems {
  readonly problems: readonly ItemProblem[];
  readonly warnings: readonly string[];
}

export function judgeItems(
  entries: readonly string[],
  kind: ItemKind,
  checkAddresses: CheckAddresses,
): JudgedItems {
  if (kind === 'address' || kind === 'address or *') return checkAddresses(entries, kind === 'address or *');
  const judge = kind === 'origin' ? judgeOrigin : judgeHostName;
  const problems = entries.flatMap((entry, index) => {
    const reason = judge(entry);
    return reason === undefined ? [] : [{ index, reason }];
  });
  return { problems, warnings: [] };
}

function judgeHostName(entry: string): string | undefined {
  return isHostName(entry) ? undefined : 'expected a host name without scheme, port or path';
}

const EXPECTED_ORIGIN = 'expected an origin, scheme://host or scheme://host:port, and nothing behind it';

// URL takes more, such as `*`: an origin of such a host would be sound and never match.
const ORIGIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu;

/** An origin must be spelt as browsers spell it, because it is compared whole. */
function judgeOrigin(entry: string): string | undefined {
  if (!URL.canParse(entry)) return EXPECTED_ORIGIN;
  const { protocol, host, origin, username, password } = new URL(entry);
  if (!ORIGIN_HOST.test(host) || protocol === 'file:' || username !== '' || password !== '')
    return EXPECTED_ORIGIN;
  // Only the web's own schemes have an origin in URL; those of browser extensions are put together here.
  const spelt = origin === 'null' ? `${protocol}//${host}` : origin;
  return spelt === entry ? undefined : `${EXPECTED_ORIGIN}: perhaps ${spelt}`;
}
