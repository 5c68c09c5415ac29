/**
 * Judges unknown keys of files and unknown environment variables. Both follow one rule, as do series of watch rules: a likely
 * typo stops the start, any other unknown name gets a warning, and both messages suggest a known name.
 */
import { didYouMean, findLike, findMeantAmong, findNearest } from '../../nearest.ts';
import { KEY_GROUPS, ROWS, variableOf } from '../rows/key-table.ts';
import type { Doubt } from '../rows/row.ts';
import type { Tree } from '../sources/tree.ts';
import { type Findings, type Place, placeIn } from './findings.ts';
import { ORIGIN_KEYS } from './origin-keys.ts';

const PATHS = [...ROWS.keys()];
const SECTIONS = Object.keys(KEY_GROUPS);
const withoutSection = (path: string) => path.slice(path.indexOf('.') + 1);

/** The one of `paths` that was probably meant by `path`. */
function findIn(path: readonly string[], paths: readonly string[]): string | undefined {
  const word = findMeantAmong(path.at(-1) ?? '', paths.map(withoutSection));
  return (
    findMeantAmong(path.join('.'), paths) ??
    paths.find((each) => word !== undefined && withoutSection(each) === word)
  );
}

/** The key or section that was probably meant by `path`: of its own section, or else of another one, which is named separately. */
function findMeant(path: readonly string[]): string | undefined {
  const top = path.length === 1 ? findMeantAmong(path.join('.'), SECTIONS) : undefined;
  return top ?? findIn(path, siblings(path)) ?? inSection(findIn(path, PATHS));
}

/** Judges a key that is not in the table, and everything below it. */
export function judgeUnknown(place: Place, value: Tree): readonly (Place & Doubt)[] {
  const { path } = place;
  const remark = ORIGIN_KEYS.get(path.join('.'));
  if (remark !== undefined) return listLeaves(place, value, `means nothing here, ignored; ${remark}`);
  const meant = findMeant(path);
  if (meant !== undefined || path[0] === 'auth') {
    const nearest = meant ?? findNearest(path.join('.'), siblings(path), () => Number.MAX_SAFE_INTEGER);
    return [{ ...place, isError: true, message: `unknown key${didYouMean(nearest)}` }];
  }
  const below = value.kind === 'map' ? value.entries : [];
  const typos = below
    .flatMap((entry) => judgeUnknown(placeIn(place, entry), entry.value))
    .filter(({ isError }) => isError);
  if (typos.length > 0) return typos;
  const like = path.length === 1 ? undefined : findLike(path.join('.'), siblings(path));
  return [{ ...place, isError: false, message: `unknown key, ignored${didYouMean(like)}` }];
}

/** Judges a key of an entry of a named map; `known`: the keys that it may have. */
export function judgeUnknownIn(known: readonly string[], key: string): Doubt {
  const meant = findMeantAmong(key, known);
  return meant === undefined
    ? { isError: false, message: `unknown key, ignored${didYouMean(findLike(key, known))}` }
    : { isError: true, message: `unknown key${didYouMean(meant)}` };
}

/** Names the section separately: the unknown key is outside of it, perhaps because it is not indented or has a dot in its name. */
function inSection(key: string | undefined): string | undefined {
  const dot = key?.lastIndexOf('.') ?? -1;
  return dot < 0 ? key : `${key?.slice(dot + 1)} in the section ${key?.slice(0, dot)}`;
}

function siblings(path: readonly string[]): readonly string[] {
  return PATHS.filter((known) => known.startsWith(`${path[0]}.`));
}

/** A warning for each value of a section, or for the one value. */
function listLeaves(place: Place, value: Tree, message: string): readonly (Place & Doubt)[] {
  return value.kind === 'map' && value.entries.length > 0
    ? value.entries.flatMap((entry) => listLeaves(placeIn(place, entry), entry.value, message))
    : [{ ...place, isError: false, message }];
}

/**
 * Whether a top-level entry of a file is one of ours: a section, a section under a misspelt name that has one of its
 * keys, or a dotted key. Other programs have sections with names like these, but not with the same keys.
 */
export function isOurEntry(name: string, value: Tree): boolean {
  if (Object.hasOwn(KEY_GROUPS, name) || ROWS.has(name)) return true;
  const group = findMeantAmong(name, SECTIONS);
  if (group === undefined || value.kind !== 'map') return false;
  const keys = Object.keys(KEY_GROUPS[group] ?? {});
  return value.entries.some(({ key }) => findMeantAmong(key, keys) !== undefined);
}

const VARIABLES = PATHS.map((path) => variableOf([path]));
const PREFIX = variableOf(['']);
const AUTH = variableOf(['auth']);
/** A shorter name without its section must be exact if it is short: `HOSTWIRE_FILES` does not mean `log.file`. */
const MIN_NEAR_LETTERS = PREFIX.length + 6;

/** Judges a variable by the rule for keys of files. A variable that resembles no key may belong to another program, and is not an error. */
export function judgeUnknownVariable(name: string, findings: Findings): void {
  const file = `variable ${name}`;
  const doubt = (isError: boolean, meant: string | undefined) => {
    const message = `sets no key of the configuration${didYouMean(meant)}`;
    findings.doubt({ file, line: undefined, path: [] }, { isError, message });
  };
  const meant = findMeantVariable(name.toUpperCase());
  const [section = ''] = name.slice(PREFIX.length).split('_');
  const inSection = variablesOf(`${PREFIX}${section}`);
  if (meant !== undefined) doubt(true, meant);
  // As in a file: a key that is misspelt under auth would leave the service open.
  else if (name === AUTH || name.startsWith(`${AUTH}_`))
    doubt(
      true,
      findNearest(name, variablesOf(AUTH), () => Number.MAX_SAFE_INTEGER),
    );
  else if (inSection.length > 0) doubt(false, findLike(name, inSection));
  else findings.note('info', `${file}: sets no key of the configuration${didYouMean(undefined)}`);
}

const variablesOf = (section: string) => VARIABLES.filter((name) => name.startsWith(`${section}_`));

function findMeantVariable(name: string): string | undefined {
  const short = shortVariables();
  const exact = VARIABLES.includes(name) ? name : short.get(name);
  if (exact !== undefined) return exact;
  const near = [...short.keys()].filter(({ length }) => length >= MIN_NEAR_LETTERS);
  const word = findMeantAmong(name, near);
  return findMeantAmong(name, VARIABLES) ?? (word === undefined ? undefined : short.get(word));
}

/** `HOSTWIRE_PORT` → `HOSTWIRE_SERVER_PORT`: names without their section, where only one section has such a key. */
function shortVariables(): ReadonlyMap<string, string> {
  const words = PATHS.map(withoutSection);
  return new Map(
    PATHS.map((path): [string, string] => [withoutSection(path), path])
      .filter(([word]) => words.indexOf(word) === words.lastIndexOf(word))
      .map(([word, path]) => [variableOf([word]), variableOf([path])]),
  );
}
