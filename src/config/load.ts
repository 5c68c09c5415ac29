/** Loads configuration files into one checked, frozen Config, or throws with every problem of all of them. */
import path from 'node:path';
import { checkTree } from './check.ts';
import { judgeHistory, judgeLaunch, judgeNeeds, judgeRole, type Role } from './effects.ts';
import { createFindings, type Findings, placed } from './findings.ts';
import { resolveAgents, resolveDial } from './hub-files.ts';
import { judgeKey, type KeyFile, resolveKeyFile } from './key-file.ts';
import type { LaunchEntry } from './launch-rows.ts';
import {
  applyOverrides,
  clampInterval,
  collectValues,
  listOrigins,
  mergeSettings,
  type Overrides,
} from './merge.ts';
import { resolveMqtt } from './mqtt-files.ts';
import { whyCommandNotTrusted, whyFileNotTrusted } from './owners.ts';
import { parseJson } from './parse-json.ts';
import { parseYaml } from './parse-yaml.ts';
import { ConfigError, formatProblem, type Notice, type Problem } from './problems.ts';
import { MAX_FILE_BYTES, type Ownership, readText } from './read.ts';
import { type Config, toConfig } from './schema.ts';
import { findSources, findSourcesAgain, type Sources, type Surroundings } from './search.ts';
import { resolveTls } from './tls-files.ts';
import type { Parsed } from './tree.ts';
import { isOurEntry } from './unknown.ts';
import { applyVariables } from './variables.ts';

export interface LoadOptions {
  /** The files of `--config`, in order; empty: the files are searched for. */
  readonly paths: readonly string[];
  readonly overrides: Overrides;
  readonly surroundings: Surroundings;
  /** Of the process that loads them; undefined: a check of files that may be for either role. */
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
  /** Every file whose change, creation or removal calls for a reload. */
  readonly watch: readonly string[];
}

/**
 * Loads the configuration. With `previous` (a reload) the files are those of the earlier load, so that a deleted
 * one is an error. Throws a ConfigError with all problems of all files.
 */
export function loadConfig(options: LoadOptions, previous?: Sources): Loaded {
  const { paths, overrides, surroundings, role } = options;
  const sources =
    previous === undefined
      ? findSources(paths, surroundings, isOurs)
      : findSourcesAgain(previous, paths, surroundings, isOurs);
  const findings = createFindings();
  findings.problems.push(...sources.problems);
  findings.notices.push(...noticesOf(sources, previous));
  const owners = new Map<string, Ownership>();
  for (const file of sources.files) loadFile(file, surroundings.uid, findings, owners);
  const settings = mergeSettings(findings);
  applyVariables(surroundings.variables, settings, findings);
  applyOverrides(overrides, settings, findings);
  if (surroundings.uid !== undefined) judgeCommands(surroundings.uid, findings);
  const keyFile = resolveKeyFile(settings, findings, surroundings.uid);
  const tlsFiles = resolveTls(settings, findings, surroundings.uid);
  const mqttFiles = resolveMqtt(settings, findings, surroundings.uid);
  const agentFiles = [
    ...resolveAgents(settings, findings, surroundings.uid),
    ...resolveDial(settings, findings, surroundings.uid),
  ];
  const watch = [
    ...sources.watch,
    ...(keyFile === undefined ? [] : [keyFile.path]),
    ...tlsFiles,
    ...mqttFiles,
    ...agentFiles,
  ];
  if (findings.problems.length > 0) throw new ConfigError(sort(findings.problems, sources.files), watch);

  if (surroundings.platform !== 'win32') warnOfReaders(owners, keyFile, findings);
  clampInterval(settings, findings);
  const values = collectValues(settings);
  const { unknownKeys } = findings;
  const inEffect = [...settings.values()];
  const withoutEffect = [
    ...judgeRole(inEffect, role),
    ...judgeNeeds(settings, role),
    // A hub has neither.
    ...(role === 'hub' ? [] : [...judgeHistory(settings, surroundings), ...judgeLaunch(inEffect)]),
  ];
  const unknown = unknownKeys.map((problem): Notice => ({ level: 'warn', text: formatProblem(problem) }));
  return {
    config: toConfig(values),
    notices: [...unknown, ...findings.notices, ...withoutEffect, ...judgeKey(values)],
    origins: listOrigins(settings),
    unknownKeys,
    sources,
    watch,
  };
}

function noticesOf({ foreign, files }: Sources, previous: Sources | undefined): readonly Notice[] {
  const gone = (previous?.files ?? []).filter((file) => !files.includes(file));
  return [
    ...foreign.map(
      (file): Notice => ({
        level: 'info',
        text: `${file}: not read, none of its keys is ours; --config reads it all the same`,
      }),
    ),
    ...gone.map((file): Notice => ({ level: 'warn', text: `${file}: gone, its settings no longer apply` })),
  ];
}

/** A file that cannot be read or parsed is taken for ours, because it may be the one that turns auth on. */
function isOurs(file: string): boolean {
  const read = readText(file, MAX_FILE_BYTES);
  if ('message' in read) return true;
  const { tree } = PARSERS[path.extname(file).toLowerCase()]?.(read.text) ?? {};
  return tree?.kind !== 'map' || tree.entries.some(({ key, value }) => isOurEntry(key, value));
}

const PARSERS: Readonly<Record<string, (text: string) => Parsed>> = {
  '.json': parseJson,
  '.yaml': parseYaml,
  '.yml': parseYaml,
};

function loadFile(
  file: string,
  uid: number | undefined,
  findings: Findings,
  owners: Map<string, Ownership>,
): void {
  const fail = (line: number | undefined, message: string): void => {
    findings.problems.push(placed(file, { line, path: [], message }));
  };
  const parse = PARSERS[path.extname(file).toLowerCase()];
  if (parse === undefined) {
    fail(undefined, 'its name has another ending; expected .json, .yaml or .yml');
    return;
  }
  const read = readText(file, MAX_FILE_BYTES);
  if ('message' in read) {
    fail(read.line, read.message);
    return;
  }
  const { owner } = read;
  const reason = whyFileNotTrusted(file, owner, uid);
  // Nothing in it is looked at: its messages could be somebody else's words.
  if (reason !== undefined) {
    fail(undefined, reason);
    return;
  }
  owners.set(file, owner);
  const { tree, problems } = parse(read.text);
  findings.problems.push(...problems.map((problem) => placed(file, problem)));
  if (tree !== undefined) checkTree(file, tree, findings);
  else if (problems.length === 0)
    findings.notices.push({ level: 'info', text: `${file}: is empty; it sets nothing` });
}

// In the order of the files, each from top to bottom; options last.
function sort(problems: readonly Problem[], files: readonly string[]): readonly Problem[] {
  const rank = ({ file }: Problem): number => (files.includes(file) ? files.indexOf(file) : files.length);
  return problems.toSorted((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0));
}

/** Commands that somebody else can replace are not launched. */
function judgeCommands(uid: number, { settings, problems }: Findings): void {
  for (const { key, value, file, line } of settings) {
    if (!key.startsWith('processes.launch.')) continue;
    // judgeLaunch has checked it.
    const { command } = value as LaunchEntry;
    const reason = whyCommandNotTrusted(command, uid);
    if (reason !== undefined)
      problems.push(placed(file, { line, path: key.split('.'), message: `its command: ${reason}` }));
  }
}

const OTHERS_READ = 0o004;

function warnOfReaders(
  owners: ReadonlyMap<string, Ownership>,
  keyFile: KeyFile | undefined,
  findings: Findings,
): void {
  const holders = new Set(
    findings.settings.filter(({ key }) => key === 'auth.api_key').map(({ file }) => file),
  );
  const all = [...owners].filter(([file]) => holders.has(file));
  if (keyFile?.owner !== undefined) all.push([keyFile.path, keyFile.owner]);
  for (const [file, { mode }] of all) {
    const text = `${file}: holds the key and others can read it; run chmod o-r on it`;
    if (mode & OTHERS_READ) findings.notices.push({ level: 'warn', text });
  }
}
