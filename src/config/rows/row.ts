/** The row of a configuration key, and functions that make the common ones. */

import { type AddressList, NO_ADDRESSES } from '../../access/addresses.ts';
import { quote } from '../../clean.ts';
import { isObject } from '../../json.ts';
import { didYouMean, findMeantAmong } from '../../nearest.ts';
import type { PemFile } from '../../tls/pair.ts';
import { each, type JudgeItems, judgeClients } from './list-items.ts';
import { isAbsolutePath, isFileName, isId } from './predicates.ts';

/** The entries of a map by name. Each is a setting of its own, so that two files may each define some. */
export interface NamedEntries {
  readonly keys: Readonly<Record<string, Row<unknown>>>;
  /** The key that each entry must have, and the words for its value. */
  readonly required: string;
  readonly requires: string;
  /** A key that may replace it; `check` judges both. */
  readonly orElse?: string;
  /** The key that is set where an entry is a text instead of a map. */
  readonly short?: string;
  /** The form of a name, where it is not that of isEntryName, and the words for its characters. */
  readonly names?: { readonly isRight: (name: string) => boolean; readonly words: string };
  /** A text in place of an entry may be a secret. */
  readonly mayBeSecret?: true;
  /** Returns what is wrong with an entry of which each value is right. */
  readonly check?: (entry: Readonly<Record<string, unknown>>) => string | undefined;
}

/** A value of the right form that is wrong, or probably has no effect. */
export interface Doubt {
  /** false: a warning is enough, as of an unknown key. */
  readonly isError: boolean;
  readonly message: string;
}

/** The content of a file that a value names: sources/named-files.ts reads and judges each kind. */
export type FileKind =
  | 'shared key'
  | 'key'
  | 'long key'
  | 'password'
  | 'signing keys'
  | 'certificate'
  | 'private key'
  | 'authorities';

/** A file with a secret, and the secret. */
export interface SecretFile {
  readonly path: string;
  readonly secret: string;
}

export function isSecretFile(value: unknown): value is SecretFile {
  return typeof value === 'object' && value !== null && 'secret' in value && 'path' in value;
}

/** One key. `T` is the type of its value in `Config`. */
export interface Row<T> {
  /** Whether a value in a file is right; entries of lists and of named maps are checked further. */
  readonly accepts: (value: unknown) => boolean;
  readonly default: T;
  /** The type in words, for the documentation. */
  readonly type: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** One line for the documentation. */
  readonly meaning: string;
  /** Judges the entries of a list, and normalises it. */
  readonly items?: JudgeItems;
  /** Judges an accepted text further; only for keys of named entries. */
  readonly judge?: (text: string) => Doubt | undefined;
  readonly entries?: NamedEntries;
  /** The kind of the file that the value names. In an entry of a named map it may depend on the other values. */
  readonly file?: FileKind | ((entry: Readonly<Record<string, unknown>>) => FileKind);
  /** The key that is set to the content of the file; this one keeps the path. Only one of the two may be set. */
  readonly sets?: string;
  /** A number below this one is replaced by it, with a warning. */
  readonly minimum?: number;
  /** The key whose value applies where this one is not set. */
  readonly follows?: string;
  /** A change needs a restart; with 'switching' only a change from or to "not set" does. */
  readonly needsRestart?: true | 'switching';
  /** The value never appears in a message, a log or the output of `check`. */
  readonly isSecret?: true;
  /** A wrong value may be a secret written under the wrong key, so it is not shown. */
  readonly mayBeSecret?: true;
  /** Replaces the default in the documentation where it is not a literal. */
  readonly defaultInWords?: string;
}

/** The values that a row accepts, and the words for them. */
export type Form = Pick<Row<unknown>, 'accepts' | 'type' | 'expected' | 'items'>;
type More = Partial<Omit<Row<unknown>, 'default'>>;

export const row = <T>(form: Form, fallback: T, meaning: string, more: More = {}): Row<T> => ({
  ...form,
  default: fallback,
  meaning,
  ...more,
});

/** A row without a default: the value is undefined where it is not set. */
export const optional = <T = string>(form: Form, meaning: string, more: More = {}): Row<T | undefined> =>
  row<T | undefined>(form, undefined, meaning, { defaultInWords: 'none', ...more });

export const booleanRow = (fallback: boolean, meaning: string, more: More = {}): Row<boolean> =>
  row(BOOLEAN, fallback, meaning, more);

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

type Test = (text: string) => boolean;

const isText = (test: Test) => (value: unknown) => typeof value === 'string' && test(value);

export const text = (expected: string, test: Test): Form => ({
  accepts: isText(test),
  type: 'string',
  expected,
});

export const ABSOLUTE_PATH = text('an absolute path', isAbsolutePath);
export const ID = text('1 to 64 letters, digits, "_" and "-"', isId);

/** A list whose entries are judged one by one, so that a message can name the line of each. */
const list = (expected: string, items: JudgeItems): Form => ({
  accepts: Array.isArray,
  type: 'list of strings',
  expected,
  items,
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

/** The clients that an entry is for. */
export const clientsRow = optional<readonly string[]>(
  some(list('a list of addresses and CIDR ranges', judgeClients)),
  'For clients with these addresses only.',
  { defaultInWords: 'any client' },
);

export function choiceRow<const T extends string>(
  choices: readonly T[],
  fallback: NoInfer<T>,
  meaning: string,
  more: More = {},
): Row<T> {
  const words = choices.map((choice) => `"${choice}"`);
  const expected = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return row<T>(
    text(expected, (value) => choices.some((choice) => choice === value)),
    fallback,
    meaning,
    more,
  );
}

/** The path of a file; `Config` has its content as well. */
export const fileRow = <T extends SecretFile | PemFile>(
  file: NonNullable<Row<unknown>['file']>,
  expected: string,
  meaning: string,
  more: More = {},
): Row<T | undefined> =>
  optional<T>(
    text(expected, isFileName),
    `${meaning} A relative path starts at the folder of the file that names it.`,
    // The content may have been written in place of the path.
    { file, mayBeSecret: true, ...more },
  );

export const pemRow = (file: FileKind, what: string, meaning: string): Row<PemFile | undefined> =>
  fileRow<PemFile>(file, `the path of a PEM file with ${what}`, meaning, { needsRestart: 'switching' });

type ValueOf<R> = R extends Row<infer T> ? T : never;

/** The values of an entry by its rows; a key without a default is absent where it is not set. */
export type EntryOf<Keys> = {
  readonly [K in keyof Keys as undefined extends ValueOf<Keys[K]> ? never : K]: ValueOf<Keys[K]>;
} & {
  readonly [K in keyof Keys as undefined extends ValueOf<Keys[K]> ? K : never]?: Exclude<
    ValueOf<Keys[K]>,
    undefined
  >;
};

/** A map whose keys are names; each entry is checked further. */
export const namedRow = <Keys extends NamedEntries['keys']>(
  entries: NamedEntries & { readonly keys: Keys },
  expected: string,
  meaning: string,
): Row<Readonly<Record<string, EntryOf<Keys>>>> =>
  // No prototype, so that a client's "constructor" finds nothing.
  row({ accepts: isObject, type: 'map', expected }, Object.create(null), meaning, { entries });

export const namesRow = (items: JudgeItems, expected: string, meaning: string): Row<readonly string[]> =>
  row<readonly string[]>(list(expected, items), [], meaning);

export const addressesRow = (items: JudgeItems, expected: string, meaning: string): Row<AddressList> =>
  row(list(expected, items), NO_ADDRESSES, meaning, { defaultInWords: '`[]`' });
