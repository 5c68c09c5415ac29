/**
 * Judges unknown keys of files and unknown environment variables. Both follow one rule, as do series of watch rules: a likely
 * typo stops the start, any other unknown name gets a warning, and both messages suggest a known name.
 */
import { isObject, membersOf } from '../../json.ts';
import { didYouMean, findLike, findMeantAmong, findNearest } from '../../nearest.ts';
import { KEY_GROUPS, ROWS, variableOf } from '../rows/key-table.ts';
import type { Doubt } from '../rows/row.ts';
import { type Findings, type Place, placeIn } from './findings.ts';

const ALWAYS = 'it is always on';

/**
 * Keys of the program whose interface this service has, as its own files have them, and their replacements. They are
 * not typos, so such a file starts.
 */
const ORIGIN_KEYS: ReadonlyMap<string, string> = new Map([
  ['display', 'the name that is shown is host.name'],
  ['websocket', 'clients choose their topics, and the interval is stats.stream_interval_seconds'],
  ['features.enable_system', ALWAYS],
  ['features.enable_usage', ALWAYS],
  ['features.enable_stats', ALWAYS],
  ['features.enable_stream', ALWAYS],
  ['features.enable_autostart', 'the operating system starts the service'],
  ['stats.gpu_enabled', 'the GPU is read where there is one'],
  ['stats.disk_cache_seconds', 'a disk that does not answer keeps its last values'],
]);

/** Keys that were replaced, which no other key is meant by. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ['hub.mqtt', 'its keys are those of hub.brokers.NAME now'],
]);

const PATHS = [...ROWS.keys()];
const SECTIONS = Object.keys(KEY_GROUPS);
const withoutSection = (path: string) => path.slice(path.indexOf('.') + 1);

/** The one of `paths` that was probably meant by `path`. */
function findIn(path: readonly string[], paths: readonly string[]): string | undefined {
  const word = findMeantAmong(path.at(-1) ?? '', paths.map(withoutSection));
  return findMeantAmong(path.join('.'), paths) ?? paths.find((each) => withoutSection(each) === word);
}

/**
 * The key or section that was probably meant by `path`. One of another section is named separately from it: the key may
 * not be indented, or have a dot in its name.
 */
function findMeant(path: readonly string[]): string | undefined {
  const top = path.length === 1 ? findMeantAmong(path.join('.'), SECTIONS) : undefined;
  const near = top ?? findIn(path, siblings(path));
  if (near !== undefined) return near;
  const other = findIn(path, PATHS)?.split('.') ?? [];
  return other.length < 2 ? other[0] : `${other.at(-1)} in the section ${other.slice(0, -1).join('.')}`;
}

const siblings = ([section]: readonly string[]) => PATHS.filter((known) => known.startsWith(`${section}.`));

/** The nearest of `names`, whatever the distance. */
const findAny = (name: string, names: readonly string[]) =>
  findNearest(name, names, () => Number.MAX_SAFE_INTEGER);

/** Judges a key that is not in the table, and everything below it. */
export function judgeUnknown(place: Place, value: unknown): readonly (Place & Doubt)[] {
  const { path } = place;
  const remark = ORIGIN_KEYS.get(path.join('.'));
  if (remark !== undefined) return listLeaves(place, value, `not used here, ignored; ${remark}`);
  const replaced = REPLACED.get(path.join('.'));
  if (replaced !== undefined) return [{ ...place, isError: true, message: `is gone; ${replaced}` }];
  const meant = findMeant(path);
  if (meant !== undefined || path[0] === 'auth') {
    const nearest = meant ?? findAny(path.join('.'), siblings(path));
    return [{ ...place, isError: true, message: `unknown key${didYouMean(nearest)}` }];
  }
  const typos = Object.entries(membersOf(value))
    .flatMap(([key, inner]) => judgeUnknown(placeIn(place, key), inner))
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

/** A warning for each value of a section, or for the one value. */
function listLeaves(place: Place, value: unknown, message: string): readonly (Place & Doubt)[] {
  const entries = Object.entries(membersOf(value));
  return entries.length > 0
    ? entries.flatMap(([key, inner]) => listLeaves(placeIn(place, key), inner, message))
    : [{ ...place, isError: false, message }];
}

/**
 * Whether a top-level entry of a file is one of ours: a section, a section under a misspelt name that has one of its
 * keys, or a dotted key. Other programs have sections with names like these, but not with the same keys.
 */
export function isOurEntry(name: string, value: unknown): boolean {
  if (Object.hasOwn(KEY_GROUPS, name) || ROWS.has(name)) return true;
  const group = findMeantAmong(name, SECTIONS);
  if (group === undefined || !isObject(value)) return false;
  const keys = Object.keys(KEY_GROUPS[group] ?? {});
  return Object.keys(value).some((key) => findMeantAmong(key, keys) !== undefined);
}

const VARIABLES = PATHS.map((path) => variableOf([path]));
const PREFIX = variableOf(['']);
const AUTH = variableOf(['auth']);
/** A shorter name without its section must be exact if it is short: `HOSTWIRE_FILES` does not mean `log.file`. */
const MIN_NEAR_LETTERS = PREFIX.length + 6;

/** Judges a variable by the rule for keys of files. A variable that resembles no key may belong to another program, and is not an error. */
export function judgeUnknownVariable(name: string, findings: Findings): void {
  const file = `variable ${name}`;
  const say = (meant: string | undefined) => `sets no key of the configuration${didYouMean(meant)}`;
  const meant = findMeantVariable(name.toUpperCase());
  const [section = ''] = name.slice(PREFIX.length).split('_');
  const inSection = variablesOf(`${PREFIX}${section}`);
  // As in a file: a key that is misspelt under auth would leave the service open.
  const isOfAuth = name === AUTH || name.startsWith(`${AUTH}_`);
  const place = { file, path: [] };
  if (meant !== undefined || isOfAuth)
    findings.doubt(place, { isError: true, message: say(meant ?? findAny(name, variablesOf(AUTH))) });
  else if (inSection.length > 0)
    findings.doubt(place, { isError: false, message: say(findLike(name, inSection)) });
  else findings.note('info', `${file}: ${say(undefined)}`);
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
