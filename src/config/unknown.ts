/** Unknown keys: likely typos stop the start; others only get a warning. */
import { findNearest } from './nearest.ts';
import { KEY_GROUPS, ROWS } from './schema.ts';
import type { Line, Tree } from './tree.ts';

export interface UnknownKey {
  readonly path: readonly string[];
  readonly line: Line;
  /** false: a warning is enough. */
  readonly isError: boolean;
  readonly message: string;
}

const PATHS = [...ROWS.keys()];
const LAST_WORDS = new Map(PATHS.map((path) => [path.slice(path.indexOf('.') + 1), path]));

// With two edits allowed, a word of up to four letters would be near to almost any other; with one, a word of two.
function maxEdits(candidate: string): number {
  if (candidate.length <= 2) return 0;
  return candidate.length <= 4 ? 1 : 2;
}

/** The nearest candidate within two letters. */
export function findMeantAmong(word: string, candidates: Iterable<string>): string | undefined {
  return findNearest(word, candidates, maxEdits);
}

/** The known key (or group) that was probably meant by `path`, also when it stands in the wrong group. */
export function findMeant(path: readonly string[]): string | undefined {
  const dotted = path.join('.');
  const last = path.at(-1) ?? '';
  const word = findMeantAmong(last, LAST_WORDS.keys());
  return (
    findMeantAmong(dotted, PATHS) ??
    (path.length === 1 ? findMeantAmong(dotted, Object.keys(KEY_GROUPS)) : undefined) ??
    (word === undefined ? undefined : LAST_WORDS.get(word))
  );
}

/** Judges a key that is not in the table, and everything below it. */
export function judgeUnknown(path: readonly string[], line: Line, value: Tree): readonly UnknownKey[] {
  const meant = findMeant(path);
  const isInAuth = path[0] === 'auth';
  if (meant !== undefined || isInAuth) {
    const nearest = meant ?? findNearest(path.join('.'), siblings(path), () => Number.MAX_SAFE_INTEGER);
    return [{ path, line, isError: true, message: `unknown key; the nearest known one is ${nearest}` }];
  }
  const below = value.kind === 'map' ? value.entries : [];
  const typos = below
    .flatMap((entry) => judgeUnknown([...path, entry.key], entry.line, entry.value))
    .filter(({ isError }) => isError);
  return typos.length > 0 ? typos : [{ path, line, isError: false, message: 'unknown key, ignored' }];
}

function siblings(path: readonly string[]): readonly string[] {
  return PATHS.filter((known) => known.startsWith(`${path[0]}.`));
}
