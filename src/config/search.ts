/** Finds the configuration files. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from './problems.ts';
import { codeOf, describe } from './read.ts';

/** The facts of the process and its machine that decide where the files are. */
export interface Surroundings {
  /** As Node names it: linux, darwin, win32. */
  readonly platform: string;
  /** The working folder; absolute. */
  readonly cwd: string;
  /** The effective user that the service runs as; undefined (Windows): owners of files are not judged. */
  readonly uid?: number | undefined;
  /** The environment variables. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The folder for settings of all users, as Windows reports it; undefined: %ProgramData% is used. */
  readonly machineFolder?: string | undefined;
}

/** The files that make up a configuration. */
export interface Sources {
  /** Those that exist (or were named), in order. */
  readonly files: readonly string[];
  /** Those files, and the paths where another may appear: beside them, or in every folder when none was found. */
  readonly watch: readonly string[];
  readonly problems: readonly Problem[];
  /** The folder they were found in; undefined: the files were named, or none exists. */
  readonly folder: string | undefined;
}

const NAMES = ['config.json', 'config.yaml', 'config.yml'];

/** The folders in the order of the search: the working folder, the user's, the machine's. */
export function listFolders({ platform, cwd, variables, machineFolder }: Surroundings): readonly string[] {
  if (platform === 'win32') {
    const programData = machineFolder ?? variables['ProgramData'] ?? variables['PROGRAMDATA'];
    const users = variables['XDG_CONFIG_HOME'];
    const bases = [users, programData].filter((base) => base !== undefined).filter(path.win32.isAbsolute);
    return [cwd, ...bases.map((base) => path.win32.join(base, 'hostwire'))];
  }
  const home = variables['HOME'];
  // XDG base directory specification: an unset or relative value means $HOME/.config.
  const set = variables['XDG_CONFIG_HOME'];
  const own = isAbsolute(set) ? set : isAbsolute(home) ? path.posix.join(home, '.config') : undefined;
  return [cwd, ...(own === undefined ? [] : [path.posix.join(own, 'hostwire')]), '/etc/hostwire'];
}

function isAbsolute(folder: string | undefined): folder is string {
  return folder !== undefined && path.posix.isAbsolute(folder);
}

/** The files of `--config`, or without that option those of the first folder that has any. */
export function findSources(paths: readonly string[], surroundings: Surroundings): Sources {
  if (paths.length > 0) {
    const files = [...new Set(paths.map((given) => path.resolve(surroundings.cwd, given)))];
    return { files, watch: files, problems: [], folder: undefined };
  }
  const watch: string[] = [];
  for (const folder of listFolders(surroundings)) {
    const sources = findIn(folder);
    watch.push(...sources.watch);
    // A folder that cannot be read may hold the file that turns auth on, so it is never skipped.
    if (sources.files.length + sources.problems.length > 0) return sources;
  }
  return { files: [], watch, problems: [], folder: undefined };
}

/**
 * The files at a reload: the earlier ones, and any that have appeared beside them. A file that is gone stays in
 * the list, so that it is an error and never a silent return to the defaults.
 */
export function findSourcesAgain(
  previous: Sources,
  paths: readonly string[],
  surroundings: Surroundings,
): Sources {
  if (previous.folder === undefined) return findSources(paths, surroundings);
  const now = findIn(previous.folder);
  const files = now.watch.filter((file) => previous.files.includes(file) || now.files.includes(file));
  return { ...now, files };
}

function findIn(folder: string): Sources {
  const watch = NAMES.map((name) => path.join(folder, name));
  const files: string[] = [];
  const problems: Problem[] = [];
  for (const file of watch) {
    const failure = findFailure(file);
    if (failure === undefined) files.push(file);
    else if (!['ENOENT', 'ENOTDIR'].includes(codeOf(failure))) {
      problems.push({
        file,
        line: undefined,
        key: undefined,
        value: undefined,
        message: `cannot be accessed: ${describe(failure)}`,
      });
    }
  }
  return { files, watch, problems, folder };
}

// lstat, so that a dangling link counts as a file, and is then an error.
function findFailure(file: string): unknown {
  try {
    lstatSync(file);
    return undefined;
  } catch (error) {
    return error ?? new Error('unknown error');
  }
}
