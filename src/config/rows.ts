/** The rows that the table of configuration keys is made of. */
import * as v from 'valibot';
import { type AddressList, NO_ADDRESSES } from '../access/addresses.ts';
import type { PemFile } from '../tls/pair.ts';
import { isFileName, isMap } from './values.ts';

type AddressKind = 'address' | 'address or *';
type NameKind = 'host name' | 'origin';

/** What the entries of a list must be; each is checked by itself. */
export type ItemKind = AddressKind | NameKind;

/** What the entries of a map by name are. Each is a setting of its own, so that two files may each define some. */
export interface NamedEntries {
  readonly keys: Readonly<Record<string, Row<unknown>>>;
  /** The key that each entry must have, and the words for its value. */
  readonly required: string;
  readonly requires: string;
  /** A key that may stand in its place; `check` judges both. */
  readonly orElse?: string;
  /** The key that a text in the place of an entry stands for. */
  readonly short?: string;
  /** What a name is made of, where that is not ENTRY_NAME. */
  readonly names?: { readonly pattern: RegExp; readonly words: string };
  /** What is wrong with an entry whose values are right one by one. */
  readonly check?: (entry: Readonly<Record<string, unknown>>) => string | undefined;
}

/** A value of the right form that is wrong, or probably has no effect. */
export interface Doubt {
  /** false: a warning is enough, as of an unknown key. */
  readonly isError: boolean;
  readonly message: string;
}

/** One key. `T` is the type of its value in `Config`. */
export interface Row<T> {
  /** What a value in a file must satisfy; entries of lists and of named maps are checked further. */
  readonly schema: v.GenericSchema;
  readonly default: T;
  /** The type in words, for the documentation. */
  readonly type: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** One line for the documentation. */
  readonly meaning: string;
  readonly items?: ItemKind;
  /** Judges an accepted text further; for keys of named entries. */
  readonly judge?: (text: string) => Doubt | undefined;
  readonly entries?: NamedEntries;
  /** A change takes effect only when the service is restarted; with 'switching' only one from or to "not set" does. */
  readonly needsRestart?: true | 'switching';
  /** The value never appears in a message, a log or the output of `check`. */
  readonly isSecret?: true;
  /** A wrong value may be a secret written under the wrong key, so it is not shown. */
  readonly mayBeSecret?: true;
  /** Replaces the default in the documentation where it is not a literal. */
  readonly defaultInWords?: string;
}

type Description = Omit<Row<unknown>, 'schema' | 'default'>;

export function configRow<T>(schema: v.GenericSchema<T>, fallback: T, description: Description): Row<T> {
  return { schema, default: fallback, ...description };
}

export function booleanRow(
  fallback: boolean,
  meaning: string,
  more: Partial<Description> = {},
): Row<boolean> {
  return configRow(v.boolean(), fallback, { type: 'boolean', expected: 'true or false', meaning, ...more });
}

/** A map whose keys are names; each entry is checked further. */
export function namedRow<T>(
  entries: NamedEntries,
  words: Pick<Description, 'expected' | 'meaning'>,
): Row<Readonly<Record<string, T>>> {
  return {
    schema: v.custom<Readonly<Record<string, unknown>>>(isMap),
    // No prototype, so that a client's "constructor" finds nothing.
    default: Object.create(null),
    type: 'map',
    entries,
    ...words,
  };
}

// The entries are checked one by one, so that a message can name the line of each.
const ANY_LIST = v.array(v.unknown());

export function namesRow(items: NameKind, expected: string, meaning: string): Row<readonly string[]> {
  return { schema: ANY_LIST, default: [], type: 'list of strings', expected, meaning, items };
}

export function addressesRow(items: AddressKind, expected: string, meaning: string): Row<AddressList> {
  const words = { type: 'list of strings', expected, meaning, defaultInWords: '`[]`' };
  return { schema: ANY_LIST, default: NO_ADDRESSES, items, ...words };
}

/** A limit for each client address without the key. */
export function limitRow(fallback: number, what: string): Row<number> {
  return configRow(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000)), fallback, {
    type: 'integer',
    expected: 'a whole number from 0 to 1000000',
    meaning: `The maximum number of ${what} of one client address without the key; an IPv6 /64 network may have four times as many. 0: no limit.`,
  });
}

/** The path of a PEM file; `Config` has its content as well. */
export function pemRow(what: string, meaning: string): Row<PemFile | undefined> {
  return {
    schema: v.pipe(v.string(), v.check(isFileName)),
    default: undefined,
    type: 'string',
    expected: `the path of a PEM file with ${what}`,
    meaning: `${meaning} A relative path starts at the folder of the file that names it.`,
    defaultInWords: 'none',
    needsRestart: 'switching',
    // The content may have been written in place of the path.
    mayBeSecret: true,
  };
}
