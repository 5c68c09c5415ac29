/** Loads the configuration again, on a signal or a change, and hands it on only when it is sound. */
import { isDeepStrictEqual } from 'node:util';
import { type Loaded, type LoadOptions, loadConfig } from './load.ts';
import { ConfigError, formatProblem, type Notice, show } from './problems.ts';
import { type Config, ROWS, toConfig } from './schema.ts';
import { type ConfigWatcher, type WatchTimes, watchConfig } from './watch.ts';

export interface ReloaderOptions {
  readonly load: LoadOptions;
  /** What the service runs with. */
  readonly loaded: Loaded;
  /** Takes over the whole new configuration; keys that need a restart have their old values in it. */
  readonly apply: (config: Config) => void;
  /** Lines for the log. */
  readonly report: (notice: Notice) => void;
  readonly times?: WatchTimes;
}

export class Reloader {
  readonly #options: ReloaderOptions;
  #loaded: Loaded;
  #config: Config;
  #watcher: ConfigWatcher | undefined;
  /** What was said of the files last; saying it again at each touch would be noise. */
  #said: ReadonlySet<string>;
  #lastError: string | undefined;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#loaded = options.loaded;
    this.#config = options.loaded.config;
    this.#said = new Set(options.loaded.notices.map(({ text }) => text));
  }

  /** The configuration in effect. */
  get config(): Config {
    return this.#config;
  }

  /** Begins to watch the files, and picks up what has changed since they were loaded. */
  start(): void {
    if (this.#watcher !== undefined) return;
    this.#watcher = watchConfig(this.#loaded.watch, () => this.#reload(false), this.#options.times);
    this.#reload(false);
  }

  /** For SIGHUP: like a change of a file, and an error is told again. */
  reload(): void {
    this.#reload(true);
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #reload(isAsked: boolean): void {
    try {
      this.#take(loadConfig(this.#options.load, this.#loaded.sources));
      this.#lastError = undefined;
    } catch (error) {
      if (error instanceof ConfigError) this.#watcher?.setPaths([...this.#loaded.watch, ...error.watch]);
      const reason =
        error instanceof ConfigError ? error.problems.map(formatProblem).join('; ') : String(error);
      if (!isAsked && reason === this.#lastError) return;
      this.#lastError = reason;
      this.#options.report({ level: 'error', text: `the configuration stays as it was: ${reason}` });
    }
  }

  #take(loaded: Loaded): void {
    const { config, restart } = keepRestartKeys(this.#config, loaded.config);
    if (!isDeepStrictEqual(config, this.#config)) {
      this.#options.apply(config);
      this.#config = config;
    }
    this.#loaded = loaded;
    this.#watcher?.setPaths(loaded.watch);
    const notices = [...loaded.notices, ...restart];
    for (const notice of notices) if (!this.#said.has(notice.text)) this.#options.report(notice);
    this.#said = new Set(notices.map(({ text }) => text));
  }
}

/** `next` with the values of `current` for keys that need a restart, and a line for each that differs. */
export function keepRestartKeys(
  current: Config,
  next: Config,
): { readonly config: Config; readonly restart: readonly Notice[] } {
  const values = new Map<string, unknown>();
  const restart: Notice[] = [];
  for (const [key, row] of ROWS) {
    const [before, after] = [readKey(current, key), readKey(next, key)];
    values.set(key, row.needsRestart ? before : after);
    if (row.needsRestart && before !== after) {
      restart.push({
        level: 'warn',
        text: `${key} is now ${show(after)}: restart needed, ${show(before)} stays`,
      });
    }
  }
  return { config: toConfig(values), restart };
}

/** The value of a dotted key. */
export function readKey(config: Config, key: string): unknown {
  const [section = '', name = ''] = key.split('.');
  // The table's keys are the only ones asked for.
  const sections = config as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return sections[section]?.[name];
}
