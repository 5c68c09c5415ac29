/** Answers of one agent by path: all who ask meanwhile share one request, and its answer for a few seconds. */
import type { Clock } from '../clock.ts';
import { ServiceError } from '../errors.ts';
import { fetchJson } from './pull/fetch.ts';
import type { Target } from './pull/target.ts';
import type { Times } from './times.ts';

/** Old ones are dropped this often. */
const FORGET_MS = 20_000;

export class Answers {
  readonly #clock: Clock;
  readonly #times: Times;
  /** undefined where nobody has asked lately. */
  #kept: Map<string, { readonly bytes: Promise<Buffer>; untilMs: number }> | undefined;
  #timer: unknown;

  constructor(clock: Clock, times: Times) {
    this.#clock = clock;
    this.#times = times;
  }

  /** Rejects with ServiceError. */
  async get(target: Target, path: string, ageMs: number): Promise<Buffer> {
    this.#kept ??= new Map();
    const kept = this.#kept;
    const known = kept.get(path);
    if (known !== undefined && this.#clock.now() < known.untilMs) return await known.bytes;
    const { headMs } = this.#times;
    const bytes = fetchJson(target, path, { headMs, silenceMs: headMs }).answer.then((found) => {
      if (Buffer.isBuffer(found)) return found;
      const { isRefusal, reason } = found;
      const state = isRefusal ? 'refused' : 'down';
      throw new ServiceError('host_unreachable', 'The machine gave no answer.', { state, reason });
    });
    // Its age counts from the answer on.
    const entry = { bytes, untilMs: Number.POSITIVE_INFINITY };
    kept.set(path, entry);
    this.#timer ??= this.#clock.setTimer(() => this.#forget(), FORGET_MS);
    try {
      return await bytes;
    } catch (error) {
      kept.delete(path);
      throw error;
    } finally {
      entry.untilMs = this.#clock.now() + ageMs;
    }
  }

  clear(): void {
    this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#kept = undefined;
  }

  #forget(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (const [path, { untilMs }] of this.#kept ?? []) if (untilMs <= now) this.#kept?.delete(path);
    if (this.#kept?.size === 0) this.#kept = undefined;
    if (this.#kept !== undefined) this.#timer = this.#clock.setTimer(() => this.#forget(), FORGET_MS);
  }
}
