/** The result of reading the sources of a configuration: settings, problems, unknown keys, notices. */
import { didYouMean, findMeantAmong } from '../../nearest.ts';
import type { Doubt, Row } from '../rows/row.ts';
import type { MapEntry } from '../sources/tree.ts';
import { formatProblem, kindOf, type Notice, type Problem, printable, quote, show } from './problems.ts';

/** A key with a value that its row accepts. */
export interface Setting {
  /** Dotted; each entry of a named map is a setting of its own. */
  readonly key: string;
  readonly value: unknown;
  /** A path, or `option --port`. */
  readonly file: string;
  readonly line: number | undefined;
}

/** Settings by their dotted key. */
export type Settings = Map<string, Setting>;

/** The place of a value, for messages. */
export interface Place {
  readonly file: string;
  readonly line: number | undefined;
  readonly path: readonly string[];
}

/** The place of an entry in the map at `place`. */
export const placeIn = ({ file, path }: Place, { key, line }: MapEntry): Place => ({
  file,
  line,
  path: [...path, key],
});

/** The place of a setting, or of `key` in it. */
export const placeOf = ({ file, line, ...setting }: Setting, key = setting.key): Place => ({
  file,
  line,
  path: key.split('.'),
});

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

  /** `value`: the value found, where it may be shown. */
  fail(place: Place, message: string, value?: string): void {
    this.problems.push(this.#problemAt(place, message, value));
  }

  /** Adds the problem of a value that its row does not accept; of a value that may be secret only the kind is shown. */
  refuse(
    place: Place,
    row: Pick<Row<unknown>, 'expected' | 'isSecret' | 'mayBeSecret' | 'item'>,
    found: unknown,
  ): void {
    const { expected, isSecret, mayBeSecret, item } = row;
    const at =
      item && Array.isArray(found)
        ? found.findIndex((each) => typeof each !== 'string' || !item.test(each))
        : -1;
    if (item !== undefined && Array.isArray(found) && at >= 0) {
      const path = [...place.path.slice(0, -1), `${place.path.at(-1)}[${at}]`];
      this.#refuseItem({ ...place, path }, row, found[at]);
      return;
    }
    const isHidden = isSecret === true || mayBeSecret === true || this.#shown !== undefined;
    const value = isHidden ? undefined : show(found);
    const shown = value ?? kindOf(found);
    this.fail(place, `expected ${expected}, found ${shown}${isHidden ? ' (not shown)' : ''}`, value);
  }

  #refuseItem(place: Place, { item, ...row }: Parameters<Findings['refuse']>[1], found: unknown): void {
    const { noun, names } = item ?? {};
    if (names === undefined || typeof found !== 'string' || this.#shown !== undefined) {
      this.refuse(place, row, found);
      return;
    }
    const meant = findMeantAmong(found, names);
    const hint = didYouMean(meant && quote(meant), `expected ${row.expected}`);
    this.fail(place, `unknown ${noun} ${quote(found)}${hint}`, quote(found));
  }

  doubt(place: Place, { isError, message }: Doubt): void {
    (isError ? this.problems : this.unknownKeys).push(this.#problemAt(place, message));
  }

  /** Adds a notice. `place`: the key that it is about. */
  note(level: Notice['level'], text: string, place?: Pick<Problem, 'file' | 'line' | 'key'>): void {
    this.notices.push({
      level,
      text: place === undefined ? text : formatProblem({ ...place, message: text }),
    });
  }

  #problemAt({ file, line, path }: Place, message: string, value?: string): Problem {
    const shown = this.#shown;
    const parts = path.map((part) =>
      shown?.includes(part.replace(/\[\d+\]$/u, '')) === false ? '(not shown)' : printable(part),
    );
    return { file, line, key: path.length === 0 ? undefined : parts.join('.'), value, message };
  }
}
