/** Unknown keys: which are a slip of the pen and stop the start, and which only get a warning. */
import { findNearest } from './nearest.ts';
import { ROWS, SECTIONS } from './schema.ts';
import type { Tree } from './tree.ts';

export interface UnknownKey {
  readonly path: readonly string[];
  readonly line: number;
  /** false: a warning is enough. */
  readonly isError: boolean;
  readonly message: string;
}

const PATHS = [...ROWS.keys()];
const LAST_WORDS = new Map(PATHS.map((path) => [path.slice(path.indexOf('.') + 1), path]));

// In a word of four letters or fewer two are too many to tell: every other word would be near.
function mostLetters(candidate: string): number {
  return candidate.length <= 4 ? 1 : 2;
}

/** The nearest candidate within two letters. */
export function findMeantAmong(word: string, candidates: Iterable<string>): string | undefined {
  return findNearest(word, candidates, mostLetters);
}

/** The known key (or section) that `path` was probably meant to be, also when it stands in a wrong place. */
export function findMeant(path: readonly string[]): string | undefined {
  const dotted = path.join('.');
  const last = path.at(-1) ?? '';
  const word = findMeantAmong(last, LAST_WORDS.keys());
  return (
    findMeantAmong(dotted, PATHS) ??
    (path.length === 1 ? findMeantAmong(dotted, Object.keys(SECTIONS)) : undefined) ??
    (word === undefined ? undefined : LAST_WORDS.get(word))
  );
}

/** Judges a key that is not in the table, with all that lies below it. */
export function judgeUnknown(path: readonly string[], line: number, value: Tree): readonly UnknownKey[] {
  const meant = findMeant(path);
  const isInAuth = path[0] === 'auth';
  if (meant !== undefined || isInAuth) {
    const nearest = meant ?? findNearest(path.join('.'), siblings(path), () => Number.MAX_SAFE_INTEGER);
    return [{ path, line, isError: true, message: `unknown key; the nearest known one is ${nearest}` }];
  }
  const below = value.kind === 'map' ? value.entries : [];
  const slips = below
    .flatMap((entry) => judgeUnknown([...path, entry.key], entry.line, entry.value))
    .filter(({ isError }) => isError);
  return slips.length > 0 ? slips : [{ path, line, isError: false, message: 'unknown key, ignored' }];
}

function siblings(path: readonly string[]): readonly string[] {
  return PATHS.filter((known) => known.startsWith(`${path[0]}.`));
}
