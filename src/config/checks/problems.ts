/** Problems of a configuration, and the texts that describe them without showing a secret. */
import type { KeySettings } from '../../access/key.ts';
import { clean, MAX_SHOWN_CHARACTERS, quote } from '../../clean.ts';

/** Something wrong, or an unknown key. */
export interface Problem {
  /** The file's path, or `option --port`. */
  readonly file: string;
  /** From 1; undefined: the whole file. */
  readonly line?: number | undefined;
  /** Dotted; undefined: the whole file. */
  readonly key?: string | undefined;
  /** The expected and the found value, or the nearest known key. */
  readonly message: string;
}

/** A line for the log that does not stop the service. */
export interface Notice {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** The keys of a configuration with errors. */
export interface KnownKeys {
  /** `auth.keys_folder`, absolute; undefined: none, or not known. */
  readonly folder: string | undefined;
  /** Whether the key `name` of an earlier load, with this entry and origin, is no longer there. */
  readonly isGone: (name: string, entry: KeySettings, origin: string | undefined) => boolean;
}

export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  // Private, so that printing the error does not print it: a path in it may be a key written under api_key_file.
  readonly #watch: readonly string[];
  readonly #keys: KnownKeys | undefined;

  constructor(problems: readonly Problem[], watch: readonly string[], keys?: KnownKeys) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
    this.#watch = watch;
    this.#keys = keys;
  }

  /** The files whose change may fix it. */
  get watch(): readonly string[] {
    return this.#watch;
  }

  /** The keys that it has in spite of its errors; undefined: not known. */
  get keys(): KnownKeys | undefined {
    return this.#keys;
  }
}

/** `file:line: key: message` in one line, without the parts that are undefined. */
export function formatProblem({ file, line, key, message }: Problem): string {
  const text = [formatPlace(file, line), key, message].filter((part) => part !== undefined).join(': ');
  return clean(text, text.length);
}

export function formatPlace(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}

/** A key from a file, shortened and without control characters. */
export function printable(key: string): string {
  return clean(key, MAX_SHOWN_CHARACTERS + 1);
}

/** The kind of a value, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}

/** A scalar as it is written in a file; undefined for anything else. */
export function show(value: unknown): string | undefined {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
