/** Loads configuration files into one checked, frozen Config, or throws with every problem of all of them. */

import { lstatSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeKeys } from '../access/key-list.ts';
import { runNow, type Steps } from '../clock.ts';
import { QUOTAS } from '../fairness/limits.ts';
import { isObject } from '../json.ts';
import { judgeBetweenKeys } from './checks/between-keys.ts';
import { checkTree } from './checks/check-tree.ts';
import { listEffects, type Role } from './checks/effects.ts';
import { Findings, placeOf, type Settings } from './checks/findings.ts';
import {
  ConfigError,
  formatPlace,
  formatProblem,
  type KnownKeys,
  type Notice,
  type Problem,
} from './checks/problems.ts';
import { isOurEntry } from './checks/unknown-keys.ts';
import { type Config, isOfHub, toConfig } from './config.ts';
import {
  applyOverrides,
  applyVariables,
  collectValues,
  listOrigins,
  mergeSettings,
  type Overrides,
  readFiles,
} from './merge.ts';
import { ROWS } from './rows/key-table.ts';
import { isThere, OTHERS_READ } from './sources/named-files.ts';
import { whyCommandNotTrusted, whyFileNotTrusted } from './sources/owners.ts';
import { type Format, type Parsed, parse } from './sources/parse.ts';
import { listFolder, type Ownership, type ReadProblem, readText } from './sources/read-text.ts';
import { findSources, type Sources, type Surroundings } from './sources/search.ts';

export interface LoadOptions {
  /** The files of `--config`, in order; empty: the files are searched for. */
  readonly paths: readonly string[];
  readonly overrides: Overrides;
  readonly surroundings: Surroundings;
  /** The role of the process that loads them; undefined: a check of files that may be for either role. */
  readonly role?: Role;
}

export interface Loaded {
  readonly config: Config;
  /** Lines for the log; nothing in them is secret. */
  readonly notices: readonly Notice[];
  /** Dotted key → `file:line`, `default` or `option --port`. */
  readonly origins: ReadonlyMap<string, string>;
  /** Keys that are not in the table: warnings for the service (in `notices`), errors for `hostwire check`. */
  readonly unknownKeys: readonly Problem[];
  readonly sources: Sources;
  /** The files of `auth.keys_folder` by their paths. */
  readonly keyFiles: ReadonlyMap<string, KeyFile>;
  /** Every file whose change, creation or removal calls for a reload; a folder stands for all that is in it. */
  readonly watch: readonly string[];
}

/** The results of an earlier load that the next one uses. */
export type Previous = Pick<Loaded, 'sources' | 'keyFiles'>;

interface KeyFile {
  /** Different after each change of the file; undefined: a link, whose target may change, or a file that is not there. */
  readonly look: string | undefined;
  /** Whether `found` holds for as long as `look` is the same. */
  readonly isFinal: boolean;
  readonly found: Findings;
}

/**
 * Loads the configuration. With `before` (a reload) the files are those of the earlier load, so that a deleted
 * one is an error. Throws a ConfigError with all problems of all files.
 */
export const loadConfig = (options: LoadOptions, before?: Previous): Loaded => runNow(load(options, before));

/** Does the same in steps: one for each key, because there may be thousands. */
export function* load(options: LoadOptions, before?: Previous): Steps<Loaded> {
  const { paths, overrides, surroundings, role } = options;
  const previous = before?.sources;
  const sources = findSources(paths, surroundings, isOurs, previous);
  const findings = new Findings();
  for (const { file, message } of sources.failures) findings.fail({ file, path: [] }, message);
  noteFiles(sources, previous, findings);
  const owners = new Map<string, Ownership>();
  const values = new Map<string, unknown>();
  for (const file of sources.files) {
    const read = readSource(file, surroundings.uid);
    if ('owner' in read) {
      owners.set(file, read.owner);
      checkSource(file, read, findings);
      if (read.value !== undefined) values.set(file, read.value);
    } else findings.fail({ file, line: read.line, path: [] }, read.message);
  }
  const settings = mergeSettings(findings);
  applyVariables(surroundings.variables, settings, findings);
  applyOverrides(overrides, settings, findings);
  const keyFiles = new Map<string, KeyFile>();
  const folder = yield* readKeyFolder(settings, surroundings.uid, findings, keyFiles, before?.keyFiles);
  judgeCommands(surroundings.uid, findings);
  const files = yield* readFiles(settings, findings, surroundings.uid);
  yield;
  judgeBetweenKeys(settings, findings);
  const links = [...keyFiles].flatMap(([file, { look }]) => (look === undefined ? [file] : []));
  const watch = [...sources.watch, ...folder, ...links, ...files.map((file) => file.path)];
  yield;
  refuseKeyFiles(keyFiles, settings, findings);
  if (findings.problems.length > 0)
    throw new ConfigError(
      sort(findings.problems, sources.files),
      watch,
      knownKeys(settings, sources, values),
    );
  yield;

  for (const file of files) if ('owner' in file) owners.set(file.path, file.owner);
  const keyFile = settings.get('auth.api_key')?.file;
  if (surroundings.platform !== 'win32') warnOfReaders(owners, keyFile, findings);
  const { unknownKeys } = findings;
  const unknown = unknownKeys.map((problem): Notice => ({ level: 'warn', text: formatProblem(problem) }));
  const merged = collectValues(settings, findings);
  yield;
  const config = toConfig(merged);
  yield;
  const effects = listEffects(settings, surroundings, role);
  yield;
  const origins = listOrigins(settings);
  yield;
  const features = role === 'hub' || isOfHub(config) ? undefined : config.features;
  return {
    config,
    notices: [
      ...unknown,
      ...findings.notices,
      ...effects,
      ...describeKeys(config.auth, features, Date.now()).map((text): Notice => ({ level: 'info', text })),
    ],
    origins,
    unknownKeys,
    sources,
    keyFiles,
    watch,
  };
}

function noteFiles({ foreign, files }: Sources, previous: Sources | undefined, findings: Findings): void {
  for (const file of foreign)
    findings.note('info', `${file}: not read, because none of its keys is known; read it with --config FILE`);
  for (const file of previous?.files ?? [])
    if (!files.includes(file)) findings.note('warn', `${file}: gone, its settings no longer apply`);
}

/** A file that cannot be read or parsed counts as ours, because it may be the one that turns auth on. */
function isOurs(file: string): boolean {
  const read = readText(file, QUOTAS.configFile.maxBytes);
  const format = formatOf(file);
  const value = 'message' in read || format === undefined ? undefined : parse(read.text, format).value;
  return !isObject(value) || Object.entries(value).some(([key, inner]) => isOurEntry(key, inner));
}

const FORMATS: Readonly<Record<string, Format>> = { '.json': 'JSON', '.yaml': 'YAML', '.yml': 'YAML' };
const formatOf = (file: string) => FORMATS[path.extname(file).toLowerCase()];

/** The parsed text of a file, or why there is none. `inner`: the path of its value in the configuration. */
function readSource(
  file: string,
  uid: number | undefined,
  inner: readonly string[] = [],
): (Parsed & { readonly owner: Ownership }) | ReadProblem {
  const fail = (message: string) => ({ line: undefined, message });
  const format = formatOf(file);
  if (format === undefined) return fail('its name has another ending; expected .json, .yaml or .yml');
  const read = readText(file, QUOTAS.configFile.maxBytes);
  if ('message' in read) return read;
  const { owner } = read;
  const message = whyFileNotTrusted(file, owner, uid);
  // It is not parsed: messages could quote text of another user.
  return message === undefined ? { owner, ...parse(read.text, format, inner) } : fail(message);
}

function checkSource(file: string, { value, lines, problems }: Parsed, findings: Findings): void {
  for (const problem of problems) findings.fail({ file, ...problem }, problem.message);
  if (value !== undefined) checkTree({ file, path: [], line: lines.get(''), lines }, value, findings);
  else if (problems.length === 0) findings.note('info', `${file}: is empty; it sets nothing`);
}

// In the order of the files, each from top to bottom; options last.
function sort(problems: readonly Problem[], files: readonly string[]): readonly Problem[] {
  const rank = ({ file }: Problem): number => (files.includes(file) ? files.indexOf(file) : files.length);
  return problems.toSorted((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0));
}

/**
 * Adds the keys of `auth.keys_folder`: each file is an entry of `auth.keys` with its name. Fills `keyFiles`, with what `before`
 * has of files that have not changed. Returns the folder, to be watched; a folder that is missing has no files yet.
 */
function* readKeyFolder(
  settings: Settings,
  uid: number | undefined,
  findings: Findings,
  keyFiles: Map<string, KeyFile>,
  before?: ReadonlyMap<string, KeyFile>,
): Steps<readonly string[]> {
  const setting = settings.get('auth.keys_folder');
  if (setting === undefined) return [];
  const folder = path.resolve(path.dirname(setting.file), String(setting.value));
  settings.set(setting.key, { ...setting, value: folder });
  const listed = listFolder(folder);
  if (typeof listed === 'string') findings.fail(placeOf(setting), `${folder}: ${listed}`);
  const files = typeof listed === 'string' ? [] : listed.filter((file) => formatOf(file) !== undefined);
  yield;
  const owner = ownerOf(statusOf(folder));
  for (const file of files) {
    yield;
    const keyFile = readKeyFile(file, uid, owner, before?.get(file));
    keyFiles.set(file, keyFile);
    const { found } = keyFile;
    findings.problems.push(...found.problems);
    findings.unknownKeys.push(...found.unknownKeys);
    findings.notices.push(...found.notices);
    for (const entry of found.settings) {
      const other = settings.get(entry.key);
      if (other !== undefined)
        findings.fail(placeOf(entry), `set at ${formatPlace(other.file, other.line)} too`);
      else settings.set(entry.key, entry);
    }
  }
  return [folder];
}

/** A change sooner after another may leave the time of the file as it is: file systems count it in up to 2 s. */
const CLOCK_STEP_MS = 2000;

/** Reads a file, unless it is the same as `before`. `folderOwner`: a change of it may be one of the verdict on the file. */
function readKeyFile(
  file: string,
  uid: number | undefined,
  folderOwner: string,
  before: KeyFile | undefined,
): KeyFile {
  const status = statusOf(file);
  const look =
    status?.isFile() === true
      ? `${folderOwner} ${ownerOf(status)} ${status.dev} ${status.ino} ${status.size} ${status.mtimeMs} ${status.ctimeMs}`
      : undefined;
  if (before?.isFinal === true && look === before.look) return before;
  const { name } = path.parse(file);
  const found = new Findings([
    'auth',
    'keys',
    name,
    ...Object.keys(ROWS.get('auth.keys')?.entries?.keys ?? {}),
  ]);
  const read = readSource(file, uid, ['auth', 'keys', name]);
  // A file may have been removed since the folder was listed.
  if (!('owner' in read)) {
    if (isThere(file)) found.fail({ file, line: read.line, path: [] }, read.message);
  } else if (read.value === undefined && read.problems.length === 0)
    found.fail({ file, path: [] }, 'is empty');
  else {
    const value = read.value === undefined ? undefined : { auth: { keys: { [name]: read.value } } };
    checkSource(file, { ...read, value }, found);
  }
  const isOld = status !== undefined && Date.now() - status.ctimeMs > CLOCK_STEP_MS;
  const isFinal = look !== undefined && isOld && found.problems.length === 0;
  // The same objects as before need no comparison later.
  return { look, isFinal, found: before && isDeepStrictEqual(before.found, found) ? before.found : found };
}

/** Not of the target of a link. */
function statusOf(file: string) {
  try {
    return lstatSync(file);
  } catch {
    return undefined;
  }
}

const ownerOf = (status: ReturnType<typeof statusOf>) => `${status?.uid} ${status?.gid} ${status?.mode}`;

/** Leaves out the files of keys that have problems: the others, and the rest of the configuration, apply without them. */
function refuseKeyFiles(
  files: ReadonlyMap<string, unknown>,
  settings: Settings,
  { problems, notices }: Findings,
): void {
  const all = problems.splice(0);
  problems.push(...all.filter(({ file }) => !files.has(file)));
  const refused = all.filter(({ file }) => files.has(file));
  for (const problem of refused)
    notices.push({ level: 'error', text: `${formatProblem(problem)}; this key is not accepted` });
  const names = new Set(refused.map(({ file }) => file));
  for (const [key, { file }] of names.size === 0 ? [] : settings) if (names.has(file)) settings.delete(key);
}

/** `values`: those of the files that could be read. */
function knownKeys(settings: Settings, { files }: Sources, values: ReadonlyMap<string, unknown>): KnownKeys {
  const folder = settings.get('auth.keys_folder')?.value;
  return {
    folder: folder === undefined ? undefined : String(folder),
    isGone(name, entry, origin) {
      const file = origin?.replace(/:\d+$/u, '') ?? '';
      const now = settings.get(`auth.keys.${name}`)?.value;
      if (isObject(now))
        return !isDeepStrictEqual([now['digest'], now['key_file']], [entry.digest, entry.key_file]);
      // A file of the configuration that is missing for a moment is being replaced.
      if (!values.has(file)) return !files.includes(file) && !isThere(file);
      const inner = (map: unknown, key: string) => (isObject(map) ? map[key] : undefined);
      return ['auth', 'keys', name].reduce(inner, values.get(file)) === undefined;
    },
  };
}

/** Refuses commands that another user can replace. */
function judgeCommands(uid: number | undefined, findings: Findings): void {
  if (uid === undefined) return;
  for (const setting of findings.settings) {
    const { key, value } = setting;
    if (!key.startsWith('processes.launch.') || !isObject(value)) continue;
    const reason = whyCommandNotTrusted(String(value['command']), uid);
    if (reason !== undefined) findings.fail(placeOf(setting), `its command: ${reason}`);
  }
}

/** Warns of files with the key that others can read. `keyFile`: the source of the key in effect. */
function warnOfReaders(
  owners: ReadonlyMap<string, Ownership>,
  keyFile: string | undefined,
  findings: Findings,
): void {
  const holders = findings.settings.flatMap(({ key, file }) => (key === 'auth.api_key' ? [file] : []));
  for (const [file, { mode }] of owners) {
    if ((mode & OTHERS_READ) === 0 || (file !== keyFile && !holders.includes(file))) continue;
    findings.note('warn', `${file}: holds the key and others can read it; run chmod o-r on it`);
  }
}
