/** Loads configuration files into one checked, frozen Config, or throws with every problem of all of them. */
import path from 'node:path';
import { checkTree } from './check.ts';
import { createFindings, type Findings, placed } from './findings.ts';
import { judgeKey, type KeyFile, resolveKeyFile } from './key-file.ts';
import {
  applyOverrides,
  clampInterval,
  collectValues,
  listOrigins,
  mergeSettings,
  type Overrides,
} from './merge.ts';
import { parseJson } from './parse-json.ts';
import { parseYaml } from './parse-yaml.ts';
import { ConfigError, formatProblem, type Notice, type Problem } from './problems.ts';
import { MAX_FILE_BYTES, readText } from './read.ts';
import { type Config, toConfig } from './schema.ts';
import { findSources, findSourcesAgain, type Sources, type Surroundings } from './search.ts';
import type { Parsed } from './tree.ts';

export interface LoadOptions {
  /** The files of `--config`, in order; empty: the files are searched for. */
  readonly paths: readonly string[];
  readonly overrides: Overrides;
  readonly surroundings: Surroundings;
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
  const { paths, overrides, surroundings } = options;
  const sources =
    previous === undefined
      ? findSources(paths, surroundings)
      : findSourcesAgain(previous, paths, surroundings);
  const findings = createFindings();
  findings.problems.push(...sources.problems);
  const modes = new Map<string, number>();
  for (const file of sources.files) loadFile(file, findings, modes);
  const settings = mergeSettings(findings);
  applyOverrides(overrides, settings, findings);
  const keyFile = resolveKeyFile(settings, findings);
  const watch = keyFile === undefined ? sources.watch : [...sources.watch, keyFile.path];
  if (findings.problems.length > 0) throw new ConfigError(sort(findings.problems, sources.files), watch);

  if (surroundings.platform !== 'win32') warnOfModes(modes, keyFile, findings);
  clampInterval(settings, findings);
  const values = collectValues(settings);
  const { unknownKeys } = findings;
  const unknown = unknownKeys.map((problem): Notice => ({ level: 'warn', text: formatProblem(problem) }));
  return {
    config: toConfig(values),
    notices: [...unknown, ...findings.notices, ...judgeKey(values)],
    origins: listOrigins(settings),
    unknownKeys,
    sources,
    watch,
  };
}

const PARSERS: Readonly<Record<string, (text: string) => Parsed>> = {
  '.json': parseJson,
  '.yaml': parseYaml,
  '.yml': parseYaml,
};

function loadFile(file: string, findings: Findings, modes: Map<string, number>): void {
  const fail = (line: number | undefined, message: string): void => {
    findings.problems.push(placed(file, { line, path: [], message }));
  };
  const parse = PARSERS[path.extname(file).toLowerCase()];
  if (parse === undefined) {
    fail(undefined, 'expected a name that ends in .json, .yaml or .yml');
    return;
  }
  const read = readText(file, MAX_FILE_BYTES);
  if ('message' in read) {
    fail(read.line, read.message);
    return;
  }
  modes.set(file, read.mode);
  const { tree, problems } = parse(read.text);
  findings.problems.push(...problems.map((problem) => placed(file, problem)));
  if (tree !== undefined) checkTree(file, tree, findings);
}

// In the order of the files, each from top to bottom; options last.
function sort(problems: readonly Problem[], files: readonly string[]): readonly Problem[] {
  const rank = ({ file }: Problem): number => (files.includes(file) ? files.indexOf(file) : files.length);
  return problems.toSorted((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0));
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o002;

function warnOfModes(
  modes: ReadonlyMap<string, number>,
  keyFile: KeyFile | undefined,
  findings: Findings,
): void {
  const holders = findings.settings.filter(({ key }) => key === 'auth.api_key').map(({ file }) => file);
  const all = [...modes].map(([file, mode]) => ({ file, mode, holdsKey: holders.includes(file) }));
  if (keyFile?.mode !== undefined) all.push({ file: keyFile.path, mode: keyFile.mode, holdsKey: true });
  const warn = (text: string): void => {
    findings.notices.push({ level: 'warn', text });
  };
  for (const { file, mode, holdsKey } of all) {
    if (mode & OTHERS_WRITE) warn(`${file}: others can write this file; run chmod o-w on it`);
    if (holdsKey && mode & OTHERS_READ)
      warn(`${file}: holds the key and others can read it; run chmod o-r on it`);
  }
}
