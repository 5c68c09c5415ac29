/** Where configuration files are looked for, and which of them count. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from './problems.ts';
import { codeOf, describe } from './read.ts';

/** What of the process and its machine decides where files are. */
export interface Surroundings {
  /** As Node names it: linux, darwin, win32. */
  readonly platform: string;
  /** The working folder; absolute. */
  readonly cwd: string;
  /** The environment variables. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** As Windows itself names its folder of all users' settings; undefined: the variable counts. */
  readonly machineFolder?: string | undefined;
}

/** The files a configuration is made of. */
export interface Sources {
  /** Those that are there (or were named), in order. */
  readonly files: readonly string[];
  /** Those, and the places beside them (or, with none found, anywhere) where one may appear. */
  readonly watch: readonly string[];
  readonly problems: readonly Problem[];
  /** The folder they were found in; undefined: they were named, or there are none. */
  readonly folder: string | undefined;
}

const NAMES = ['config.json', 'config.yaml', 'config.yml'];

/** The folders, first to last: the working folder, the user's, the machine's. */
export function listFolders({ platform, cwd, variables, machineFolder }: Surroundings): readonly string[] {
  if (platform === 'win32') {
    const programData = machineFolder ?? variables['ProgramData'] ?? variables['PROGRAMDATA'];
    const users = variables['XDG_CONFIG_HOME'];
    const bases = [users, programData].filter((base) => base !== undefined).filter(path.win32.isAbsolute);
    return [cwd, ...bases.map((base) => path.win32.join(base, 'hostwire'))];
  }
  const home = variables['HOME'];
  // The XDG base directory specification: an unset or relative value counts as $HOME/.config.
  const set = variables['XDG_CONFIG_HOME'];
  const own = isAbsolute(set) ? set : isAbsolute(home) ? path.posix.join(home, '.config') : undefined;
  return [cwd, ...(own === undefined ? [] : [path.posix.join(own, 'hostwire')]), '/etc/hostwire'];
}

function isAbsolute(folder: string | undefined): folder is string {
  return folder !== undefined && path.posix.isAbsolute(folder);
}

/** The files of `--config`, or else those of the first folder that has any. */
export function findSources(paths: readonly string[], surroundings: Surroundings): Sources {
  if (paths.length > 0) {
    const files = [...new Set(paths.map((given) => path.resolve(surroundings.cwd, given)))];
    return { files, watch: files, problems: [], folder: undefined };
  }
  const watch: string[] = [];
  for (const folder of listFolders(surroundings)) {
    const sources = findIn(folder);
    watch.push(...sources.watch);
    // A folder that cannot be looked into may hold the file that closes the service: never pass it by.
    if (sources.files.length + sources.problems.length > 0) return sources;
  }
  return { files: [], watch, problems: [], folder: undefined };
}

/**
 * The files at a reload: those of before, also when one is gone (an error then, and never a quiet return to the
 * defaults), and any that have appeared beside them.
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
    const failure = look(file);
    if (failure === undefined) files.push(file);
    else if (!['ENOENT', 'ENOTDIR'].includes(codeOf(failure))) {
      problems.push({
        file,
        line: undefined,
        key: undefined,
        value: undefined,
        message: `cannot be looked for: ${describe(failure)}`,
      });
    }
  }
  return { files, watch, problems, folder };
}

// lstat: a link that leads nowhere is there, and is then an error.
function look(file: string): unknown {
  try {
    lstatSync(file);
    return undefined;
  } catch (error) {
    return error ?? new Error('unknown error');
  }
}
