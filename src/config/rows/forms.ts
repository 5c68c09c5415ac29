/** Forms of values, each with the words for it: tests of texts, numbers, lists and maps. */

import { isIPv4, isIPv6 } from 'node:net';
import { isAbsolute } from 'node:path';
import { type AddressList, parseAddressList } from '../../access/addresses.ts';
import { quote } from '../../clean.ts';
import { isObject } from '../../json.ts';
import { didYouMean, findMeantAmong } from '../../nearest.ts';
import { SCOPES } from '../../scopes.ts';

/** Checks the entries of a list; `value` is what the configuration holds where there are no problems. */
export type JudgeItems = (entries: readonly string[]) => {
  readonly value: readonly string[] | AddressList;
  readonly problems: readonly { readonly index: number; readonly reason: string }[];
  readonly warnings: readonly string[];
};

/** The values that a row accepts, and the words for them. */
export interface Form {
  /** Whether a value in a file is right; entries of lists and of named maps are checked further. */
  readonly accepts: (value: unknown) => boolean;
  /** The type in words, for the documentation. */
  readonly type: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** Judges the entries of a list, and normalises it. */
  readonly items?: JudgeItems;
}

type Test = (text: string) => boolean;

export const BOOLEAN: Form = {
  accepts: (value) => typeof value === 'boolean',
  type: 'boolean',
  expected: 'true or false',
};

export const integer = (least: number, most: number): Form => ({
  accepts: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  type: 'integer',
  expected: `a whole number from ${least} to ${most}`,
});

export const number = (expected: string, test: (value: number) => boolean): Form => ({
  accepts: (value) => Number.isFinite(value) && test(Number(value)),
  type: 'number',
  expected,
});

export const seconds = (least: number, most: number): Form =>
  number(`a number of seconds from ${least} to ${most}`, (value) => value >= least && value <= most);

export const text = (expected: string, test: Test): Form => ({
  accepts: (value) => typeof value === 'string' && test(value),
  type: 'string',
  expected,
});

/** One of some texts. */
export function choice(choices: readonly string[]): Form {
  const words = choices.map((each) => `"${each}"`);
  return text(`${words.slice(0, -1).join(', ')} or ${words.at(-1)}`, (value) => choices.includes(value));
}

/** A list whose entries are judged one by one, so that a message can name the line of each. */
const list = (expected: string, items: JudgeItems): Form => ({
  accepts: Array.isArray,
  type: 'list of strings',
  expected,
  items,
});

/** Judges each text of a list alone; `judge` returns what is wrong with one. */
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

export const texts = (expected: string, test: Test): Form =>
  list(
    expected,
    each((entry) => (test(entry) ? undefined : `expected ${expected}`)),
  );

/** A list of known names. */
export const namesOf = (noun: string, names: readonly string[], expected: string): Form =>
  list(
    expected,
    each((entry) => {
      if (names.includes(entry)) return undefined;
      const meant = findMeantAmong(entry, names);
      const hint = didYouMean(meant && quote(meant), `expected ${expected}`);
      return `unknown ${noun} ${quote(entry)}${hint}`;
    }),
  );

/** A list that would allow nothing, or no client, is a mistake. */
export const some = (form: Form): Form => ({
  ...form,
  accepts: (value) => Array.isArray(value) && value.length > 0,
});

/** A list of addresses and ranges, or of `*` too. */
export const addresses = (expected: string, allowsAny = false): Form =>
  list(expected, (entries) => {
    const { problems, warnings, rules } = parseAddressList(entries, allowsAny);
    return { value: { entries, rules }, problems, warnings };
  });

/** Addresses and ranges, as they are written. */
export const CLIENTS = some(
  list('a list of addresses and CIDR ranges', (entries) => ({
    value: entries,
    problems: parseAddressList(entries, false).problems,
    warnings: [],
  })),
);

export const SCOPE_LIST = namesOf('scope', SCOPES, `a list of scopes: ${SCOPES.join(', ')}`);

export const HOST_NAMES = list(
  'a list of host names without scheme, port or path',
  each((entry) => (isHostName(entry) ? undefined : 'expected a host name without scheme, port or path')),
);

const EXPECTED_ORIGIN = 'expected an origin, scheme://host or scheme://host:port, and nothing after it';

// URL accepts more hosts, such as `*`: an origin with one would be accepted and never match.
const ORIGIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu;

/** An origin must be written exactly as browsers send it, because it is compared as a whole. */
export const ORIGINS = list(
  'a list of origins such as "https://example.org"',
  each((entry) => {
    if (!URL.canParse(entry)) return EXPECTED_ORIGIN;
    const { protocol, host, origin, username, password } = new URL(entry);
    if (!ORIGIN_HOST.test(host) || protocol === 'file:' || username !== '' || password !== '')
      return EXPECTED_ORIGIN;
    // URL has an origin for the web's own schemes only; that of a browser extension is assembled here.
    const canonical = origin === 'null' ? `${protocol}//${host}` : origin;
    return canonical === entry ? undefined : `${EXPECTED_ORIGIN}; did you mean ${canonical}`;
  }),
);

/** An argument, a path or a variable; the kernel would end it at a NUL. */
export const isArgument: Test = (value) => !value.includes('\0');

export const ABSOLUTE_PATH = text('an absolute path', (value) => isAbsolute(value) && isArgument(value));

/** A path, and not the text of a file. */
export const isFileName: Test = (value) => value !== '' && !/[\0\r\n]|-----BEGIN/u.test(value);

/** A key must fit into a header and a query: printable ASCII, no space at either end, not empty. */
export const isPrintable: Test = (value) => /^[!-~](?:[ -~]*[!-~])?$/u.test(value);

/** A host name: DNS labels, which may contain an underscore; no port, no path. */
export const isHostName: Test = (value) =>
  value.length <= 253 && /^(?!-)(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{0,62}[A-Za-z0-9_]\.?$/u.test(value);

/** An address or a host name that a server can listen on. */
export function isListenHost(value: string): boolean {
  if (value.includes(':')) return isIPv6(value);
  return /^[0-9.]*$/u.test(value) ? isIPv4(value) : isHostName(value);
}

/** `mqtt://` or `mqtts://`, a host, perhaps a port, and nothing else. */
export function isBrokerUrl(value: string): boolean {
  const parts = /^mqtts?:\/\/(\[[^\]]+\]|[^:/?#@[\]]+)(?::(\d{1,5}))?\/?$/u.exec(value);
  const [, host = '', port = '1'] = parts ?? [];
  const isHost = host.startsWith('[') ? isIPv6(host.slice(1, -1)) : isListenHost(host);
  return isHost && Number(port) >= 1 && Number(port) <= 65_535;
}

/** The beginning of a topic: no wildcard, no empty level. */
export const isTopic: Test = (value) =>
  value.length <= 128 && /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/u.test(value);

/** The name of an app in `processes.launch`, of a machine in `wake.hosts`, of a rule in `watch.rules`. */
export const isEntryName: Test = (value) => /^[A-Za-z0-9_.-]{1,64}$/u.test(value);

/** The id of a machine, a hub or a key; also the name of a label. */
export const isId: Test = (value) => /^[A-Za-z0-9_-]{1,64}$/u.test(value);
export const ID = text('1 to 64 letters, digits, "_" and "-"', isId);

export const PIN = text('a pin, sha256/BASE64', (pin) => /^sha256\/[A-Za-z0-9+/]{43}=$/u.test(pin));

/** A map of names to texts; every name is checked, also one such as "constructor". */
export const textMap = (
  expected: string,
  isRight: (name: string, value: string) => boolean,
  most = Number.POSITIVE_INFINITY,
): Form => ({
  accepts: (value) =>
    isObject(value) &&
    Object.keys(value).length <= most &&
    Object.entries(value).every(([name, inner]) => typeof inner === 'string' && isRight(name, inner)),
  type: 'map of strings',
  expected,
});
