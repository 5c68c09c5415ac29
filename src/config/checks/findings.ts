/** The result of reading the sources of a configuration: settings, problems, unknown keys, notices. */
import type { Doubt, Row } from '../rows/row.ts';
import { type Lines, lineKey, pathOfItem } from '../sources/parse.ts';
import { formatProblem, kindOf, type Notice, type Problem, printable, show } from './problems.ts';

/** A key with a value that its row accepts. */
export interface Setting {
  /** Dotted; each entry of a named map is a setting of its own. */
  readonly key: string;
  readonly value: unknown;
  /** A path, or `option --port`. */
  readonly file: string;
  readonly line?: number | undefined;
}

/** Settings by their dotted key. */
export type Settings = Map<string, Setting>;

/** The place of a value, for messages. */
export interface Place {
  readonly file: string;
  readonly line?: number | undefined;
  readonly path: readonly string[];
  /** The lines of the values in this one. */
  readonly lines?: Lines;
}

const placeAt = (place: Place, path: readonly string[]): Place => ({
  ...place,
  path,
  line: place.lines?.get(lineKey(path)) ?? place.line,
});

/** The place of an entry in the map at `place`. */
export const placeIn = (place: Place, key: string): Place => placeAt(place, [...place.path, key]);

/** The place of an item in the list at `place`. */
export const placeOfItem = (place: Place, index: number): Place =>
  placeAt(place, pathOfItem(place.path, index));

/** The place of a setting, or of `key` in it. */
export const placeOf = ({ file, line, ...setting }: Setting, key = setting.key): Place => ({
  file,
  line,
  path: key.split('.'),
});

type Limits = Pick<Row<unknown>, 'expected' | 'isSecret' | 'mayBeSecret'>;

/** Collects what is found in all sources of a configuration. */
export class Findings {
  /** The keys that may be named; undefined: any. All other text may be a secret, and no value is shown. */
  readonly #shown: readonly string[] | undefined;
  readonly settings: Setting[] = [];
  readonly problems: Problem[] = [];
  /** Unknown keys that resemble no known one. */
  readonly unknownKeys: Problem[] = [];
  readonly notices: Notice[] = [];

  constructor(shown?: readonly string[]) {
    this.#shown = shown;
  }

  set({ file, line, path }: Place, value: unknown): void {
    this.settings.push({ key: path.join('.'), value, file, line });
  }

  fail(place: Place, message: string): void {
    this.problems.push(this.#problemAt(place, message));
  }

  /** Adds the problem of a value that its row does not accept; of a value that may be secret only the kind is shown. */
  refuse(place: Place, row: Limits, found: unknown): void {
    const shown = this.#isHidden(row) ? `${kindOf(found)} (not shown)` : (show(found) ?? kindOf(found));
    this.fail(place, `expected ${row.expected}, found ${shown}`);
  }

  /** Adds the problem of an item of a list. */
  refuseItem(place: Place, row: Limits, found: string, reason: string): void {
    // A URL may have a password before an @.
    const shown = found.includes('@') ? undefined : show(found);
    if (this.#isHidden(row)) this.refuse(place, row, found);
    else
      this.fail(place, shown === undefined || reason.includes(shown) ? reason : `${reason}, found ${shown}`);
  }

  #isHidden({ isSecret, mayBeSecret }: Limits): boolean {
    return isSecret === true || mayBeSecret === true || this.#shown !== undefined;
  }

  doubt(place: Place, { isError, message }: Doubt): void {
    (isError ? this.problems : this.unknownKeys).push(this.#problemAt(place, message));
  }

  /** Adds a notice. `about`: the place and the key that it is about. */
  note(level: Notice['level'], text: string, about?: Pick<Problem, 'file' | 'line' | 'key'>): void {
    this.notices.push({
      level,
      text: about === undefined ? text : formatProblem({ ...about, message: text }),
    });
  }

  #problemAt({ file, line, path }: Place, message: string): Problem {
    const parts = path.map((part) =>
      this.#shown?.includes(part.replace(/\[\d+\]$/u, '')) === false ? '(not shown)' : printable(part),
    );
    return { file, line, key: path.length === 0 ? undefined : parts.join('.'), message };
  }
}
