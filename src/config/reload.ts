/** Reloads the configuration on a signal or a file change, and applies it only when it is valid. */
import { isDeepStrictEqual } from 'node:util';
import { compileKey } from '../access/key.ts';
import { type Defer, runInSlices, type Steps } from '../clock.ts';
import { isPemFile } from '../tls/pair.ts';
import { ConfigError, formatProblem, type Notice, show } from './checks/problems.ts';
import { type Config, readKey, toConfig } from './config.ts';
import type { LiveConfig } from './current.ts';
import { KeyExpiry } from './key-expiry.ts';
import { type Loaded, type LoadOptions, load } from './load.ts';
import { ROWS } from './rows/key-table.ts';
import { FileWatcher, type WatchTimes } from './sources/watch-files.ts';

export interface ReloaderOptions {
  readonly load: LoadOptions;
  /** The configuration that the service started with. */
  readonly loaded: Loaded;
  /** Gets the whole new configuration; keys that need a restart keep their old values in it. */
  readonly config: LiveConfig;
  /** Lines for the log. */
  readonly report: (notice: Notice) => void;
  readonly times?: WatchTimes;
  /** For tests: replaces the interval of a day. */
  readonly dayMs?: number;
  /** For tests: replaces the turns of the event loop. */
  readonly defer?: Defer;
}

const DAY_MS = 86_400_000;

/** The part of a load that the next one needs: a hub has thousands of machines in the rest. */
const keptOf = ({ config: _, origins, ...kept }: Loaded) => ({
  ...kept,
  origins: new Map([...origins].filter(([key]) => key.startsWith('auth.keys.'))),
});

export class Reloader {
  readonly #options: Omit<ReloaderOptions, 'loaded'>;
  #loaded: ReturnType<typeof keptOf>;
  #watcher: FileWatcher | undefined;
  #daily: NodeJS.Timeout | undefined;
  readonly #expiry = new KeyExpiry((names) => this.#expire(names));
  /** The notices of the last load, which the next load does not repeat. */
  #reported: ReadonlySet<string>;
  #lastError: string | undefined;
  #running: Steps<void> | undefined;
  /** A reload that is still to be made, and whether it was asked for. */
  #pending: { readonly isAsked: boolean } | undefined;

  constructor({ loaded, ...options }: ReloaderOptions) {
    this.#options = options;
    this.#loaded = keptOf(loaded);
    this.#reported = new Set(loaded.notices.map(({ text }) => text));
  }

  /** Starts watching the files, and applies what has changed since they were loaded. */
  start(): void {
    if (this.#watcher !== undefined) return;
    this.#watcher = new FileWatcher(this.#loaded.watch, () => this.#reload(false), this.#options.times);
    // A certificate comes near its end without a change of any file.
    if (this.#options.config.current.server.tls.cert !== undefined)
      this.#daily = setInterval(() => this.#reload(false), this.#options.dayMs ?? DAY_MS).unref();
    this.#expiry.follow(this.#options.config.current.auth.keys);
    this.#reload(false);
  }

  /** For SIGHUP: like a change of a file, but an error that was reported already is reported again. */
  reload(): void {
    this.#reload(true);
  }

  close(): void {
    clearInterval(this.#daily);
    this.#expiry.close();
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#running?.return();
  }

  /** Thousands of keys need many turns of the event loop. All requests of that time are one more reload after it. */
  #reload(isAsked: boolean): void {
    this.#pending = { isAsked: isAsked || this.#pending?.isAsked === true };
    if (this.#running !== undefined) return;
    this.#running = this.#reloads();
    runInSlices(this.#running, this.#options.defer);
  }

  *#reloads(): Steps<void> {
    try {
      for (let next = this.#pending; next !== undefined; next = this.#pending) {
        this.#pending = undefined;
        yield* this.#reloadOnce(next.isAsked);
      }
    } finally {
      this.#running = undefined;
    }
  }

  *#reloadOnce(isAsked: boolean): Steps<void> {
    try {
      const hasChanged = yield* this.#take(yield* load(this.#options.load, this.#loaded));
      this.#reportSuccess(hasChanged, isAsked);
    } catch (error) {
      if (error instanceof ConfigError) {
        this.#watcher?.setPaths([...this.#loaded.watch, ...error.watch]);
        yield* this.#dropGone(error);
      }
      const reason =
        error instanceof ConfigError ? error.problems.map(formatProblem).join('; ') : String(error);
      if (!isAsked && reason === this.#lastError) return;
      this.#lastError = reason;
      this.#options.report({
        level: 'error',
        text: `the configuration was not reloaded, the old one stays in effect: ${reason}`,
      });
    }
  }

  #reportSuccess(hasChanged: boolean, isAsked: boolean): void {
    const wasWrong = this.#lastError !== undefined;
    this.#lastError = undefined;
    if (!hasChanged && !isAsked && !wasWrong) return;
    const what = hasChanged
      ? 'the configuration was reloaded'
      : 'the configuration was read again: no changes';
    this.#options.report({ level: 'info', text: wasWrong ? `${what}; it is valid again` : what });
  }

  /** Whether anything changed that takes effect. */
  *#take(loaded: Loaded): Steps<boolean> {
    const live = this.#options.config;
    for (const [name, key] of Object.entries(loaded.config.auth.keys)) {
      compileKey(name, key);
      yield;
    }
    const { config, restart } = keepRestartKeys(live.current, loaded.config);
    const hasChanged = !isDeepStrictEqual(config, live.current);
    yield;
    if (hasChanged) live.replace(config);
    yield;
    this.#expiry.follow(live.current.auth.keys);
    this.#loaded = keptOf(loaded);
    this.#watcher?.setPaths(loaded.watch);
    const notices = [...loaded.notices, ...restart];
    for (const notice of notices) {
      if (!this.#reported.has(notice.text)) this.#options.report(notice);
      yield;
    }
    this.#reported = new Set(notices.map(({ text }) => text));
    return hasChanged;
  }

  /** Drops the keys that were taken back, although the configuration that says so does not apply. */
  *#dropGone({ keys }: ConfigError): Steps<void> {
    const { config, report } = this.#options;
    const left: Record<string, unknown> = Object.create(null);
    const gone: string[] = [];
    for (const [name, entry] of Object.entries(config.current.auth.keys)) {
      const key = `auth.keys.${name}`;
      if (keys?.isGone(name, entry, this.#loaded.origins.get(key)) === true) gone.push(key);
      else left[name] = entry;
      yield;
    }
    if (gone.length === 0) return;
    config.replace(toConfig(new Map([['auth.keys', left]]), config.current));
    this.#expiry.follow(config.current.auth.keys);
    report({ level: 'info', text: `removed or changed, and no longer accepted: ${gone.join(', ')}` });
  }

  /** The configuration is the same, and lets fewer clients in. */
  #expire(names: readonly string[]): void {
    const { config, report } = this.#options;
    report({ level: 'info', text: `expired: ${names.map((name) => `auth.keys.${name}`).join(', ')}` });
    config.replace(config.current);
  }
}

/** `next` with the values of `current` for keys that need a restart, and a warning for each that differs. */
export function keepRestartKeys(
  current: Config,
  next: Config,
): { readonly config: Config; readonly restart: readonly Notice[] } {
  const kept = new Map<string, unknown>();
  const restart: Notice[] = [];
  for (const [key, row] of ROWS) {
    if (row.needsRestart === undefined) continue;
    const [before, after] = [readKey(current, key), readKey(next, key)];
    if (isDeepStrictEqual(before, after)) continue;
    if (row.needsRestart === 'switching' && before !== undefined && after !== undefined) continue;
    kept.set(key, before);
    restart.push({
      level: 'warn',
      text: `${key} is now ${describe(after)}: restart needed, ${describe(before)} stays in effect`,
    });
  }
  return { config: kept.size === 0 ? next : toConfig(kept, next), restart };
}

function describe(value: unknown): string | undefined {
  if (value === undefined) return 'no value';
  if (isPemFile(value)) return show(value.path);
  return show(value) ?? JSON.stringify(value);
}
