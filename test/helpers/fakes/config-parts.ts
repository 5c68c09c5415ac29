/** Configurations for tests: parts as a file spells them, laid over the defaults. */
import { type AddressList, parseAddressList } from '#src/access/addresses.js';
import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';

/** A group of keys as a file spells it: address lists are lists of texts. */
type Written<Group> = {
  readonly [K in keyof Group]: Group[K] extends AddressList ? readonly string[] : Group[K];
};

/** Any part of a configuration. */
export type ConfigPart = { readonly [K in keyof Config]?: Partial<Written<Config[K]>> };

/** Throws if an address is invalid: a list without that entry would test something else. */
function checkedList(entries: readonly string[], allowWildcard: boolean): AddressList {
  const { rules, problems } = parseAddressList(entries, allowWildcard);
  if (problems.length > 0) throw new Error(`not an address list: ${JSON.stringify(problems)}`);
  return { entries, rules };
}

/** The defaults with `parts` laid over them, later ones over earlier ones. */
export function configWith(...parts: readonly ConfigPart[]): Config {
  // Each group is the default's with parts of the same type laid over it.
  return parts.reduce<Config>(layOver, DEFAULT_CONFIG);
}

function layOver(base: Config, part: ConfigPart): Config {
  const groups = Object.keys(base) as (keyof Config)[]; // Its own keys are exactly Config's.
  const laid = Object.fromEntries(groups.map((key) => [key, { ...base[key], ...part[key] }]));
  const { allowed_ips, blocked_ips } = part.auth ?? {};
  const { trusted_proxies } = part.server ?? {};
  const auth = {
    ...laid['auth'],
    ...(allowed_ips && { allowed_ips: checkedList(allowed_ips, true) }),
    ...(blocked_ips && { blocked_ips: checkedList(blocked_ips, false) }),
  };
  const server = {
    ...laid['server'],
    ...(trusted_proxies && { trusted_proxies: checkedList(trusted_proxies, false) }),
  };
  const { plain_networks } = part.hub ?? {};
  const hub = {
    ...laid['hub'],
    ...(plain_networks && { plain_networks: checkedList(plain_networks, false) }),
  };
  // Every group is there, and every address list was checked.
  return { ...laid, auth, server, hub } as unknown as Config;
}
