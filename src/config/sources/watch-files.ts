/**
 * Watches files by their folders, and reports when one was written in place, replaced, deleted or created; of a folder, when
 * anything in it was.
 */
import { type FSWatcher, lstatSync, realpathSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../errors.ts';

export interface WatchTimes {
  /** Time without an event after which a change counts as complete. */
  readonly quietMs: number;
  /** Maximum time from the first event to the report, for a folder that never becomes quiet. */
  readonly maxMs: number;
  /** Interval at which a folder is polled that cannot be watched (missing, or no inotify watch left). */
  readonly pollMs: number;
}

const TIMES: WatchTimes = { quietMs: 100, maxMs: 500, pollMs: 5000 };

/** Calls `onChange` when a change of any of the files is complete. Does not keep the process alive. */
export class FileWatcher {
  readonly #onChange: () => void;
  readonly #times: WatchTimes;
  readonly #folders = new Map<string, FSWatcher>();
  /** Path → its identity at the last report. */
  #looks = new Map<string, string>();
  #hasLinks = false;
  /** Something in a watched folder has changed: its own look shows only what was created or removed. */
  #hasChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #firstEventAt = 0;
  #lastEventAt = 0;
  #isClosed = false;

  constructor(paths: readonly string[], onChange: () => void, times: WatchTimes = TIMES) {
    this.#onChange = onChange;
    this.#times = times;
    this.setPaths(paths);
  }

  /** Watches these from now on; a pending change of a file that stays watched is still reported. */
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
    const resolved = new Map<string, string>();
    const places = paths.map((file) => placeOf(file, resolved));
    this.#hasLinks = places.some(({ target }, at) => target !== paths[at]);
    const wanted = new Set(places.flatMap(({ folders }) => folders));
    for (const folder of this.#folders.keys()) if (!wanted.has(folder)) this.#drop(folder);
    for (const folder of wanted) if (!this.#folders.has(folder)) this.#watchFolder(folder);
    const polled = [...wanted].filter((folder) => !this.#folders.has(folder));
    this.#pollWhile(polled.length > 0);
    // Changes of the files in it send no event.
    if (polled.some((folder) => this.#looks.has(folder))) this.#hasChanged = true;
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
      // The folder does not exist, or no watch is left: it is polled.
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

  // Must be cheap: the folder may be busy with other files, or a file replaced 200 times per second.
  #notice(folder: string, name: string | null): void {
    // The folder's own name: it was moved or deleted, and its replacement must be watched instead.
    const isFolder = name === path.basename(folder);
    if (isFolder) this.#drop(folder);
    // A link in the path may have any name: a mounted Kubernetes volume swaps one called ..data.
    else if (this.#looks.has(folder)) this.#hasChanged = true;
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
      const left = Math.min(quietLeft, this.#firstEventAt + this.#times.maxMs - now);
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
    let hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    for (const [file, before] of this.#looks) {
      const now = lookAt(file);
      if (now === before) continue;
      this.#looks.set(file, now);
      hasChanged = true;
    }
    if (hasChanged) this.#onChange();
  }
}

/**
 * Finds the target of the links of a path; and the folder that it is in, that of the target, and the path itself where it is a
 * folder. `resolved`: the folders of this pass, of which thousands of files share one.
 */
function placeOf(file: string, resolved: Map<string, string>) {
  const folder = path.dirname(file);
  const own = lstatSync(file, { throwIfNoEntry: false });
  const isPlain = own?.isSymbolicLink() === false && folder !== file;
  const real = isPlain ? (resolved.get(folder) ?? resolveLinks(folder)) : '';
  if (isPlain) resolved.set(folder, real);
  const target = isPlain ? path.join(real, path.basename(file)) : resolveLinks(file);
  const status = isPlain ? own : statSync(file, { throwIfNoEntry: false });
  return {
    target,
    folders: [folder, path.dirname(target), ...(status?.isDirectory() === true ? [file] : [])],
  };
}

function resolveLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** A text that is different after each change of the file. */
function lookAt(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return codeOf(error);
  }
}
