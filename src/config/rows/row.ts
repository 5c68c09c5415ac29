/** The row of a configuration key, and functions that make the common ones. */

import { type AddressList, NO_ADDRESSES } from '../../access/addresses.ts';
import { isObject } from '../../json.ts';
import type { PemFile } from '../../tls/pair.ts';
import { addresses, BOOLEAN, CLIENTS, choice, type Form, isFileName, text } from './forms.ts';

/** The values of an entry of a named map. */
export type Entry = Readonly<Record<string, unknown>>;

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
  readonly check?: (entry: Entry) => string | undefined;
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

export const isSecretFile = (value: unknown): value is SecretFile =>
  isObject(value) && 'secret' in value && 'path' in value;

/** One key. `T` is the type of its value in `Config`. */
export interface Row<T> extends Form {
  readonly default: T;
  /** One line for the documentation. */
  readonly meaning: string;
  /** Judges an accepted text further; only for keys of named entries. */
  readonly judge?: (text: string) => Doubt | undefined;
  readonly entries?: NamedEntries;
  /** The kind of the file that the value names. In an entry of a named map it may depend on the other values. */
  readonly file?: FileKind | ((entry: Entry) => FileKind);
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

type More = Partial<Omit<Row<unknown>, 'default'>>;

export const row = <T>(form: Form, fallback: T, meaning: string, more: More = {}): Row<T> => ({
  ...form,
  default: fallback,
  meaning,
  ...more,
});

/** A row without a default: the value is undefined where it is not set. NoInfer: else a table's type would determine T. */
export const optional = <T = string>(
  form: Form,
  meaning: string,
  more: More = {},
): Row<NoInfer<T> | undefined> =>
  row<T | undefined>(form, undefined, meaning, { defaultInWords: 'none', ...more });

export const booleanRow = (fallback: boolean, meaning: string, more: More = {}): Row<boolean> =>
  row(BOOLEAN, fallback, meaning, more);

/** The clients that an entry is for. */
export const clientsRow = optional<readonly string[]>(CLIENTS, 'For clients with these addresses only.', {
  defaultInWords: 'any client',
});

export const choiceRow = <const T extends string>(
  choices: readonly T[],
  fallback: NoInfer<T>,
  meaning: string,
  more: More = {},
): Row<T> => row<T>(choice(choices), fallback, meaning, more);

/** The path of a file; `Config` has its content as well. */
export const fileRow = <T extends SecretFile | PemFile>(
  file: NonNullable<Row<unknown>['file']>,
  expected: string,
  meaning: string,
  more: More = {},
): Row<T | undefined> =>
  optional<T>(
    text(expected, isFileName),
    meaning,
    // The content may have been written in place of the path.
    { file, mayBeSecret: true, ...more },
  );

/** The path of a file that nobody else may read. `content`: the words for it. */
export const secretRow = (file: NonNullable<Row<unknown>['file']>, content: string, meaning: string) =>
  fileRow<SecretFile>(file, `the path of a file that holds the ${content}`, meaning);

export const pemRow = (file: FileKind, content: string, meaning: string): Row<PemFile | undefined> =>
  fileRow<PemFile>(file, `the path of a PEM file with ${content}`, meaning, { needsRestart: 'switching' });

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

/** The type of an entry of a map by name. */
export type EntryIn<R> = R extends Row<Readonly<Record<string, infer E>>> ? E : never;

export const namesRow = (form: Form, meaning: string): Row<readonly string[]> => row(form, [], meaning);

export const addressesRow = (expected: string, meaning: string, allowsAny = false): Row<AddressList> =>
  row(addresses(expected, allowsAny), NO_ADDRESSES, meaning, { defaultInWords: '`[]`' });
