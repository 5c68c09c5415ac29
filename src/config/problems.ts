/** What is wrong with a configuration, in words that hold no secret. */

/** One thing that is wrong, or unknown. */
export interface Problem {
  /** The file's path, or `option --port`. */
  readonly file: string;
  /** From 1; undefined: the file as a whole. */
  readonly line: number | undefined;
  /** Dotted; undefined: the file as a whole. */
  readonly key: string | undefined;
  /** The value found, quoted and shortened; undefined: none, or not to be shown. */
  readonly value: string | undefined;
  /** What was expected and found, and the nearest key where one is unknown. */
  readonly message: string;
}

/** A line for the log that does not stop the service. */
export interface Notice {
  readonly level: 'warn' | 'error';
  readonly text: string;
}

export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  // Private, so that printing the error does not print it: a key written in place of a key file's path is among them.
  readonly #watch: readonly string[];

  constructor(problems: readonly Problem[], watch: readonly string[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
    this.#watch = watch;
  }

  /** The files whose change may mend it. */
  get watch(): readonly string[] {
    return this.#watch;
  }
}

/** `file:line: key: message`, without what is not known. */
export function formatProblem({ file, line, key, message }: Problem): string {
  return [formatPlace(file, line), key, message].filter((part) => part !== undefined).join(': ');
}

export function formatPlace(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}

const MOST_SHOWN = 60;

/** Text from a file as one short quoted word: no control character, no flood. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text)).replace(/[\u007f-\u009f\u2028\u2029]/gu, '\ufffd');
}

/** A key from a file, safe to print. */
export function printable(key: string): string {
  return shorten(key).replace(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
}

function shorten(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`;
}

/** The kind of a value, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}

/** A scalar as it would be written; undefined for anything else. */
export function show(value: unknown): string | undefined {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
