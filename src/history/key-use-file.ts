/** The last uses of keys in a file beside the history: names, times and addresses, without a key or a digest. */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { parseAddress } from '../access/addresses.ts';
import type { KeyUse, KeyUses } from '../access/key-uses.ts';
import { type Clock, settlesWithin, wholeSeconds } from '../clock.ts';
import { codeOf, messageOf } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import type { Log } from '../log/log.ts';

/** Some 10,000 keys. */
export const MAX_USES_BYTES = 2 ** 20;
/** From one write to the next. */
const WRITE_MS = 60_000;
/** The service must be gone within a second. */
const CLOSE_LIMIT_MS = 500;
/** The end of the format is its version. */
const FORMAT = 'hostwire key uses 1';

/** The path of the file beside the history at `historyPath`. */
export const keyUsesPathOf = (historyPath: string): string => `${historyPath}.key-uses.json`;

export interface StoredUses {
  /** Unix milliseconds; uses before are not known. */
  readonly sinceMs: number;
  /** By the name of the key. */
  readonly uses: ReadonlyMap<string, KeyUse>;
}

export function formatUses({ sinceMs, uses }: StoredUses): string {
  const keys = [...uses].map(
    ([name, { atMs, address }]) => [name, { at: wholeSeconds(atMs), address }] as const,
  );
  return `${JSON.stringify({ format: FORMAT, since: wholeSeconds(sinceMs), keys: Object.fromEntries(keys) })}\n`;
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** Returns undefined for anything that `formatUses` did not write. */
export function parseUses(text: string): StoredUses | undefined {
  const stored = parseJson(text);
  if (!isObject(stored) || stored['format'] !== FORMAT) return undefined;
  const { since, keys } = stored;
  if (!isTime(since) || !isObject(keys)) return undefined;
  const uses = new Map<string, KeyUse>();
  for (const [name, use] of Object.entries(keys)) {
    if (!isObject(use) || !isTime(use['at']) || typeof use['address'] !== 'string') return undefined;
    const address = parseAddress(use['address']);
    if (address === undefined) return undefined;
    uses.set(name, { atMs: use['at'] * 1000, address: address.text });
  }
  return { sinceMs: since * 1000, uses };
}

export interface KeyUseFileOptions {
  readonly path: string;
  readonly uses: KeyUses;
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  readonly log: Pick<Log, 'warn' | 'error' | 'info'>;
  /** Maximum time that close() waits for its write. For tests, which may run on a busy machine. */
  readonly closeLimitMs?: number;
}

/**
 * Reads the file once and writes it while there are new uses, on one thread of libuv's pool at a time. Nothing waits for it
 * but the end of the service, which has a limit.
 */
export class KeyUseFile {
  readonly #options: KeyUseFileOptions;
  #timer: unknown;
  /** Settled when what was begun is done. Never rejects. */
  #work: Promise<void>;
  /** A write is to follow it: a disk that hangs gets no second one. */
  #isDue = false;
  #hasFailed = false;

  constructor(options: KeyUseFileOptions) {
    this.#options = options;
    this.#work = this.#restore();
    this.#writeLater();
  }

  /** Writes what is new, if that takes no longer than `closeLimitMs`. Resolves with false as `Store.close` does. Never rejects. */
  async close(): Promise<boolean> {
    const { clock, closeLimitMs = CLOSE_LIMIT_MS } = this.#options;
    clock.clearTimer(this.#timer);
    return await settlesWithin(
      this.#work.then(() => this.#write()),
      closeLimitMs,
    );
  }

  #writeLater(): void {
    this.#timer = this.#options.clock.setTimer(() => {
      this.#writeLater();
      if (this.#isDue) return;
      this.#isDue = true;
      this.#work = this.#work.then(() => {
        this.#isDue = false;
        return this.#write();
      });
    }, WRITE_MS);
  }

  async #restore(): Promise<void> {
    const { path, uses, log } = this.#options;
    try {
      const text = await readSmallFile(path);
      if (text === undefined) return;
      const stored = parseUses(text);
      if (stored !== undefined) {
        uses.restore(stored.uses, stored.sinceMs);
        return;
      }
      log.warn(`history.path: ${path} is damaged or of another program; it is replaced`);
      uses.returnNews();
    } catch (error) {
      log.warn(`history.path: the last uses of keys cannot be read: ${messageOf(error)}`);
    }
  }

  async #write(): Promise<void> {
    const { path, uses, log } = this.#options;
    const news = uses.takeNews();
    if (news === undefined) return;
    try {
      await replaceFile(path, formatUses({ sinceMs: uses.sinceMs, uses: news }));
      if (this.#hasFailed) log.info('history.path: the last uses of keys are stored again');
      this.#hasFailed = false;
    } catch (error) {
      uses.returnNews();
      if (!this.#hasFailed)
        log.error(
          `history.path: the last uses of keys are not stored: ${messageOf(error)}; it is retried every minute`,
        );
      this.#hasFailed = true;
    }
  }
}

/** Returns undefined where there is no file, and an empty text for one that cannot be ours. */
async function readSmallFile(path: string): Promise<string | undefined> {
  let file: FileHandle | undefined;
  try {
    // O_NONBLOCK: a pipe without a writer must not be waited for. Windows has no such flag.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const status = await file.stat();
    return status.isFile() && status.size <= MAX_USES_BYTES ? await file.readFile('utf8') : '';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}

/** Whatever happens on the way, `path` has the old text or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.new`;
  await rm(next, { force: true });
  try {
    const file = await open(next, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw error;
  }
}
