/** Checks the entries of a list and turns them into the value that the configuration holds. */
import { type AddressList, parseAddressList } from '../../access/addresses.ts';
import { isHostName } from './predicates.ts';

export interface ItemProblem {
  readonly index: number;
  readonly reason: string;
}

export interface JudgedItems {
  /** To be used only where there are no problems. */
  readonly value: readonly string[] | AddressList;
  readonly problems: readonly ItemProblem[];
  readonly warnings: readonly string[];
}

export type JudgeItems = (entries: readonly string[]) => JudgedItems;

const addresses =
  (allowsAny: boolean): JudgeItems =>
  (entries) => {
    const { problems, warnings, rules } = parseAddressList(entries, allowsAny);
    return { value: { entries, rules }, problems, warnings };
  };

export const judgeAddresses = addresses(false);
/** Addresses and ranges, or `*`. */
export const judgeAddressesOrAny = addresses(true);

/** Lists of texts that are each judged alone: `judge` returns what is wrong with one. */
export const each =
  (judge: (entry: string) => string | undefined): JudgeItems =>
  (entries) => ({
    value: entries,
    problems: entries.flatMap((entry, index) => {
      const reason = judge(entry);
      return reason === undefined ? [] : [{ index, reason }];
    }),
    warnings: [],
  });

/** Addresses and ranges, as they are written. */
export const judgeClients: JudgeItems = (entries) => ({
  ...judgeAddresses(entries),
  value: entries,
  warnings: [],
});

export const judgeHostNames = each((entry) =>
  isHostName(entry) ? undefined : 'expected a host name without scheme, port or path',
);

const EXPECTED_ORIGIN = 'expected an origin, scheme://host or scheme://host:port, and nothing after it';

// URL accepts more hosts, such as `*`: an origin with one would be accepted and never match.
const ORIGIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu;

/** An origin must be written exactly as browsers send it, because it is compared as a whole. */
export const judgeOrigins = each((entry) => {
  if (!URL.canParse(entry)) return EXPECTED_ORIGIN;
  const { protocol, host, origin, username, password } = new URL(entry);
  if (!ORIGIN_HOST.test(host) || protocol === 'file:' || username !== '' || password !== '')
    return EXPECTED_ORIGIN;
  // URL has an origin for the web's own schemes only; that of a browser extension is assembled here.
  const canonical = origin === 'null' ? `${protocol}//${host}` : origin;
  return canonical === entry ? undefined : `${EXPECTED_ORIGIN}; did you mean ${canonical}`;
});
