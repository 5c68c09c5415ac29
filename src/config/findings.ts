/** What the files of one configuration yield: settings to apply, problems, unknown keys, notices. */
import { kindOf, type Notice, type Problem, printable, show } from './problems.ts';
import type { Row } from './schema.ts';

/** A key with a value that its row accepts. */
export interface Setting {
  /** Dotted; an app of `processes.launch` is a setting of its own. */
  readonly key: string;
  readonly value: unknown;
  /** A path, or `option --port`. */
  readonly file: string;
  readonly line: number | undefined;
}

/** What was found in one file, or in all. */
export interface Findings {
  readonly settings: Setting[];
  readonly problems: Problem[];
  /** Keys that are unknown and near to none. */
  readonly unknownKeys: Problem[];
  readonly notices: Notice[];
}

export function createFindings(): Findings {
  return { settings: [], problems: [], unknownKeys: [], notices: [] };
}

/** Where a value stands, for messages. */
export interface Place {
  readonly file: string;
  readonly line: number | undefined;
  readonly path: readonly string[];
}

/** A problem of a text as a problem of its file. */
export function placed(
  file: string,
  { line, path, message }: Pick<Place, 'line' | 'path'> & Pick<Problem, 'message'>,
): Problem {
  const key = path.length === 0 ? undefined : path.map(printable).join('.');
  return { file, line, key, value: undefined, message };
}

/** A value that its row does not accept; what is or may be a secret is only called by its kind. */
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
