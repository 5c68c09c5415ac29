/**
 * Names that are not known: keys of files, environment variables, series of watch rules. One rule for all of them: a
 * likely typo stops the start, any other unknown name gets a warning, and both say which name was probably meant.
 */
import { didYouMean, findLike, findMeantAmong, findNearest } from './nearest.ts';
import { ORIGIN_KEYS } from './origin-keys.ts';
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
export const withoutSection = (path: string) => path.slice(path.indexOf('.') + 1);

/** Dotted keys by what follows the section. */
export const LAST_WORDS: ReadonlyMap<string, string> = new Map(
  PATHS.map((path) => [withoutSection(path), path]),
);

/** The known key (or group) that was probably meant by `path`, also when it stands in the wrong group. */
export function findMeant(path: readonly string[]): string | undefined {
  const dotted = path.join('.');
  const last = path.at(-1) ?? '';
  const word = findMeantAmong(last, [...LAST_WORDS.keys()]);
  return (
    findMeantAmong(dotted, PATHS) ??
    (path.length === 1 ? findMeantAmong(dotted, Object.keys(KEY_GROUPS)) : undefined) ??
    (word === undefined ? undefined : LAST_WORDS.get(word))
  );
}

/** Judges a key that is not in the table, and everything below it. */
export function judgeUnknown(path: readonly string[], line: Line, value: Tree): readonly UnknownKey[] {
  const remark = ORIGIN_KEYS.get(path.join('.'));
  if (remark !== undefined) return listLeaves(path, line, value, remark);
  const meant = findMeant(path);
  const isInAuth = path[0] === 'auth';
  if (meant !== undefined || isInAuth) {
    const nearest = meant ?? findNearest(path.join('.'), siblings(path), () => Number.MAX_SAFE_INTEGER);
    const named = path.length === 1 ? inSection(nearest) : nearest;
    return [{ path, line, isError: true, message: `unknown key${didYouMean(named)}` }];
  }
  const below = value.kind === 'map' ? value.entries : [];
  const typos = below
    .flatMap((entry) => judgeUnknown([...path, entry.key], entry.line, entry.value))
    .filter(({ isError }) => isError);
  if (typos.length > 0) return typos;
  const like = path.length === 1 ? undefined : findLike(path.join('.'), siblings(path));
  return [{ path, line, isError: false, message: `unknown key, ignored${didYouMean(like)}` }];
}

/** Names the section apart: the key stands outside of it, for want of an indentation or with a dot in its name. */
function inSection(key: string | undefined): string | undefined {
  const dot = key?.lastIndexOf('.') ?? -1;
  return dot < 0 ? key : `${key?.slice(dot + 1)} in the section ${key?.slice(0, dot)}`;
}

function siblings(path: readonly string[]): readonly string[] {
  return PATHS.filter((known) => known.startsWith(`${path[0]}.`));
}

/** A warning for each value of a section, or for the one value. */
function listLeaves(path: readonly string[], line: Line, value: Tree, remark: string): readonly UnknownKey[] {
  if (value.kind === 'map' && value.entries.length > 0)
    return value.entries.flatMap((entry) =>
      listLeaves([...path, entry.key], entry.line, entry.value, remark),
    );
  return [{ path, line, isError: false, message: `means nothing here, ignored; ${remark}` }];
}

/**
 * Whether a top-level entry of a file is one of ours: a section, a section under a misspelt name that has one of its
 * keys, or a dotted key. Other programs have sections with names like these, but not with the same keys.
 */
export function isOurEntry(name: string, value: Tree): boolean {
  if (Object.hasOwn(KEY_GROUPS, name) || ROWS.has(name)) return true;
  const group = findMeantAmong(name, Object.keys(KEY_GROUPS));
  if (group === undefined || value.kind !== 'map') return false;
  const keys = Object.keys(KEY_GROUPS[group] ?? {});
  return value.entries.some(({ key }) => findMeantAmong(key, keys) !== undefined);
}
