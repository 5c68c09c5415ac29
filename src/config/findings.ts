/** The result of reading the files of a configuration: settings, problems, unknown keys, notices. */
import { kindOf, type Notice, type Problem, printable, show } from './problems.ts';
import type { Row } from './rows.ts';

/** A key with a value that its row accepts. */
export interface Setting {
  /** Dotted; each entry of a named map is a setting of its own. */
  readonly key: string;
  readonly value: unknown;
  /** A path, or `option --port`. */
  readonly file: string;
  readonly line: number | undefined;
}

/** Collects what is found in all files of a configuration. */
export interface Findings {
  readonly settings: Setting[];
  readonly problems: Problem[];
  /** Unknown keys that resemble no known one. */
  readonly unknownKeys: Problem[];
  readonly notices: Notice[];
}

export function createFindings(): Findings {
  return { settings: [], problems: [], unknownKeys: [], notices: [] };
}

/** The place of a value, for messages. */
export interface Place {
  readonly file: string;
  readonly line: number | undefined;
  readonly path: readonly string[];
}

/** Adds the file to a problem of its text. */
export function placed(
  file: string,
  { line, path, message }: Pick<Place, 'line' | 'path'> & Pick<Problem, 'message'>,
): Problem {
  const key = path.length === 0 ? undefined : path.map(printable).join('.');
  return { file, line, key, value: undefined, message };
}

/** The problem of a value that its row does not accept; of a value that may be secret only the kind is shown. */
export function refuse(
  { file, line, path }: Place,
  { expected, isSecret, mayBeSecret }: Pick<Row<unknown>, 'expected' | 'isSecret' | 'mayBeSecret'>,
  found: unknown,
): Problem {
  const isHidden = isSecret === true || mayBeSecret === true;
  const value = isHidden ? undefined : show(found);
  const message = `expected ${expected}, found ${value ?? kindOf(found)}${isHidden ? ' (not shown)' : ''}`;
  return { ...placed(file, { line, path, message }), value };
}
