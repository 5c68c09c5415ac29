/** Finds the configuration files. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../errors.ts';
import { describe } from './read-text.ts';

/** The facts of the process and its machine that decide where the files are. */
export interface Surroundings {
  /** Node's name of it: linux, darwin, win32. */
  readonly platform: string;
  /** The working folder; absolute. */
  readonly cwd: string;
  /** The effective user that the service runs as; undefined (Windows): owners of files are not judged. */
  readonly uid?: number | undefined;
  /** The environment variables. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The folder for settings of all users, as Windows reports it; undefined: %ProgramData% is used. */
  readonly machineFolder?: string | undefined;
  /** Whether this Node has node:sqlite; undefined: what needs it is not judged. */
  readonly hasSqlite?: boolean;
}

/** The files that make up a configuration. */
export interface Sources {
  /** Files that exist (or were named), in order. */
  readonly files: readonly string[];
  /** These files, and the paths where another may appear: beside them, or in every folder if none was found. */
  readonly watch: readonly string[];
  /** Files that may exist and cannot be accessed, and why. */
  readonly failures: readonly { readonly file: string; readonly message: string }[];
  /** The folder they were found in; undefined: the files were named, or none exists. */
  readonly folder: string | undefined;
  /** The files of the start: a missing one is an error, never a silent return to the defaults. */
  readonly required: readonly string[];
  /** Files of another program in the working folder. */
  readonly foreign: readonly string[];
}

const NAMES = ['config.json', 'config.yaml', 'config.yml'];

/** The folders in the order of the search: the user's, the working folder, the machine's. */
export function listFolders({ platform, cwd, variables, machineFolder }: Surroundings): readonly string[] {
  if (platform === 'win32') {
    const programData = machineFolder ?? variables['ProgramData'] ?? variables['PROGRAMDATA'];
    const inBase = (base: string | undefined) =>
      base !== undefined && path.win32.isAbsolute(base) ? [path.win32.join(base, 'hostwire')] : [];
    return [...inBase(variables['XDG_CONFIG_HOME']), cwd, ...inBase(programData)];
  }
  const home = variables['HOME'];
  // XDG base directory specification: an unset or relative value means $HOME/.config.
  const set = variables['XDG_CONFIG_HOME'];
  const own = isAbsolute(set) ? set : isAbsolute(home) ? path.posix.join(home, '.config') : undefined;
  return [...(own === undefined ? [] : [path.posix.join(own, 'hostwire')]), cwd, '/etc/hostwire'];
}

function isAbsolute(folder: string | undefined): folder is string {
  return folder !== undefined && path.posix.isAbsolute(folder);
}

/** Whether a file in the working folder is ours, not that of another program that runs there. */
export type IsOurs = (file: string) => boolean;

/**
 * The files of `--config`, or that of $HOSTWIRE_CONFIG, or those of the first folder that has any. In the working folder
 * only our files count. With `previous` (a reload) the files of the start, and any that have appeared beside them.
 */
export function findSources(
  paths: readonly string[],
  surroundings: Surroundings,
  isOurs: IsOurs,
  previous?: Sources,
): Sources {
  if (previous?.folder !== undefined) {
    const { folder, required } = previous;
    const now = findIn(folder, surroundings, isOurs);
    const files = now.watch.filter((file) => required.includes(file) || now.files.includes(file));
    return { ...now, files, required };
  }
  const { cwd, variables } = surroundings;
  const named = variables['HOSTWIRE_CONFIG'] ?? '';
  const given = paths.length > 0 || named === '' ? paths : [named];
  if (given.length > 0) {
    const files = [...new Set(given.map((each) => path.resolve(cwd, each)))];
    return { files, watch: files, failures: [], folder: undefined, required: files, foreign: [] };
  }
  const watch: string[] = [];
  const foreign: string[] = [];
  // Each once: the working folder may be the user's, where all files are ours.
  for (const folder of new Set(listFolders(surroundings))) {
    const sources = findIn(folder, surroundings, isOurs);
    watch.push(...sources.watch);
    foreign.push(...sources.foreign);
    // A folder that cannot be read may hold the file that turns auth on, so it is never skipped.
    if (sources.files.length + sources.failures.length > 0)
      return { ...sources, foreign, required: sources.files };
  }
  return { files: [], watch, failures: [], folder: undefined, required: [], foreign };
}

function findIn(folder: string, surroundings: Surroundings, isOurs: IsOurs): Omit<Sources, 'required'> {
  const watch = NAMES.map((name) => path.join(folder, name));
  // The working folder may be one of the others too, where all files are ours.
  const isShared =
    folder === surroundings.cwd && listFolders(surroundings).filter((each) => each === folder).length === 1;
  const files: string[] = [];
  const foreign: string[] = [];
  const failures: { file: string; message: string }[] = [];
  for (const file of watch) {
    try {
      // Not stat: a dangling link counts as a file, and is then an error.
      lstatSync(file);
    } catch (error) {
      const message = `cannot be accessed: ${describe(error)}; let the user of the service enter its folder`;
      if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error))) failures.push({ file, message });
      continue;
    }
    (!isShared || isOurs(file) ? files : foreign).push(file);
  }
  return { files, watch, failures, folder, foreign };
}
