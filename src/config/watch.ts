/** Tells when files change: written in place, renamed over, deleted or created. Their folders are what is watched. */
import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { codeOf } from './read.ts';

export interface ConfigWatcher {
  /** Watches these from now on; what has changed in those already watched is not forgotten. */
  setPaths(paths: readonly string[]): void;
  close(): void;
}

export interface WatchTimes {
  /** So long nothing has happened: what is being written is probably whole. Milliseconds. */
  readonly quietMs: number;
  /** Without quiet, so long after the first event at the latest. */
  readonly mostMs: number;
  /** How often folders are asked that cannot be watched (not there yet, no inotify left). */
  readonly pollMs: number;
}

const TIMES: WatchTimes = { quietMs: 100, mostMs: 500, pollMs: 5000 };

/** Calls `onChange` after a change of any of `paths` has settled. Keeps no process alive. */
export function watchConfig(
  paths: readonly string[],
  onChange: () => void,
  times: WatchTimes = TIMES,
): ConfigWatcher {
  const watcher = new Watcher(onChange, times);
  watcher.setPaths(paths);
  return watcher;
}

class Watcher implements ConfigWatcher {
  readonly #onChange: () => void;
  readonly #times: WatchTimes;
  readonly #folders = new Map<string, FSWatcher>();
  /** Path → what it looked like when it was last told of. */
  #looks = new Map<string, string>();
  #hasLinks = false;
  #timer: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #firstEventAt = 0;
  #lastEventAt = 0;
  #isClosed = false;

  constructor(onChange: () => void, times: WatchTimes) {
    this.#onChange = onChange;
    this.#times = times;
  }

  setPaths(paths: readonly string[]): void {
    this.#looks = new Map(paths.map((file) => [file, this.#looks.get(file) ?? lookAt(file)]));
    this.#watchFolders();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #watchFolders(): void {
    const paths = [...this.#looks.keys()];
    this.#hasLinks = paths.some((file) => resolveLinks(file) !== file);
    const wanted = new Set(paths.flatMap(foldersOf));
    for (const folder of this.#folders.keys()) if (!wanted.has(folder)) this.#drop(folder);
    for (const folder of wanted) if (!this.#folders.has(folder)) this.#watchFolder(folder);
    this.#pollWhile([...wanted].some((folder) => !this.#folders.has(folder)));
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#notice(folder, name));
      watcher.on('error', () => {
        this.#drop(folder);
        this.#pollWhile(true);
      });
      this.#folders.set(folder, watcher);
    } catch {
      // It is not there, or no watch is left: it is polled.
    }
  }

  #drop(folder: string): void {
    this.#folders.get(folder)?.close();
    this.#folders.delete(folder);
  }

  #pollWhile(isNeeded: boolean): void {
    if (isNeeded && this.#poll === undefined && !this.#isClosed) {
      this.#poll = setInterval(() => this.#settle(), this.#times.pollMs).unref();
    } else if (!isNeeded) {
      clearInterval(this.#poll);
      this.#poll = undefined;
    }
  }

  // Cheap, because a folder may be busy with other files, or one file be renamed over 200 times a second.
  #notice(folder: string, name: string | null): void {
    // The folder's own name: it was moved or deleted, and what comes in its place must be watched anew.
    const isFolder = name === path.basename(folder);
    if (isFolder) this.#drop(folder);
    // A link on the way (a mounted Kubernetes volume swaps one called ..data) may have any name.
    else if (name !== null && !this.#hasLinks && !this.#looks.has(path.join(folder, name))) return;
    const now = performance.now();
    this.#lastEventAt = now;
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#firstEventAt = now;
    this.#arm(this.#times.quietMs);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      const now = performance.now();
      const quietLeft = this.#lastEventAt + this.#times.quietMs - now;
      const left = Math.min(quietLeft, this.#firstEventAt + this.#times.mostMs - now);
      if (left > 1) {
        this.#arm(left);
        return;
      }
      this.#timer = undefined;
      this.#settle();
    }, ms).unref();
  }

  #settle(): void {
    this.#watchFolders();
    let hasChanged = false;
    for (const [file, before] of this.#looks) {
      const now = lookAt(file);
      if (now === before) continue;
      this.#looks.set(file, now);
      hasChanged = true;
    }
    if (hasChanged) this.#onChange();
  }
}

/** The folder a path is in, and the one its links lead to. */
function foldersOf(file: string): readonly string[] {
  return [path.dirname(file), path.dirname(resolveLinks(file))];
}

function resolveLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Changes whenever the file does. */
function lookAt(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return codeOf(error);
  }
}
