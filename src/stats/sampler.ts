/** Owns time: reads the host on absolute deadlines while there is demand, and on request. */
import { type Baseline, NO_BASELINE } from './baseline.ts';
import { FreshSamples } from './fresh-samples.ts';
import { covers, keysOf, type Needs, unite, windowed } from './needs.ts';
import { Pace, type Wake } from './pace.ts';
import { MAX_BASELINE_AGE_MS } from './poll-baseline.ts';
import {
  FIRST_WINDOW_MS,
  PROBE_WAIT_MS,
  SampleReader,
  type SampleReaderOptions,
  type Tick,
} from './sample-reader.ts';
import type { SampleSink, SampleSource, SlowDemand } from './source.ts';
import { Encoded, VIEW_COUNT, type View, viewAt } from './view.ts';

/** Maximum delay that joining requests may add, from the reading's start. */
const MAX_WAIT_MS = 2 * FIRST_WINDOW_MS;

/** A reading that requests wait for. Further requests join it, and may widen it. */
interface PendingReading {
  keys: number;
  /** When it was begun (Clock.sinceBoot). */
  readonly askedAtMs: number;
  /** The readings that `keys` will be compared with. */
  start: Baseline;
  readyAtMs: number;
  readonly maxReadyAtMs: number;
}

export class Sampler implements SampleSource {
  readonly #clock: SampleReaderOptions['clock'];
  readonly #reader: SampleReader;
  readonly #sinks = new Set<SampleSink>();
  readonly #demand = new Uint32Array(VIEW_COUNT);
  /** The keys of all demand. */
  #keys = 0;
  readonly #fresh: FreshSamples;
  #pending: (PendingReading & { readonly sample: Promise<Encoded> }) | undefined;
  readonly #pace: Pace;
  #timer: unknown;
  /** Drops readings that were not requested for a long time. */
  #expiryTimer: unknown;
  #isClosed = false;
  #ticks = 0;
  #latenessMs = 0;

  constructor(options: SampleReaderOptions) {
    this.#clock = options.clock;
    this.#fresh = new FreshSamples(options.clock);
    this.#reader = new SampleReader(options);
    this.#pace = new Pace(this.#reader.intervalMs);
  }

  get intervalMs(): number {
    return this.#pace.intervalMs;
  }

  /** Returns milliseconds until the next tick; Infinity without subscribers. */
  get nextTickInMs(): number {
    return this.#pace.tickAtMs - this.#clock.now();
  }

  /** Returns the number of ticks since the start, and their total lateness. */
  get tickCounters(): { readonly ticks: number; readonly latenessMs: number } {
    return { ticks: this.#ticks, latenessMs: this.#latenessMs };
  }

  /** Sends `sink` the sample of each tick, until the returned function is called. */
  attach(sink: SampleSink): () => void {
    this.#sinks.add(sink);
    if (sink.view !== undefined) this.subscribe(sink.view);
    return () => {
      if (this.#sinks.delete(sink) && sink.view !== undefined) this.unsubscribe(sink.view);
    };
  }

  subscribe(view: View): void {
    this.#demand[view.index] = (this.#demand[view.index] ?? 0) + 1;
    if (!covers(this.#keys, keysOf(view))) this.#updateKeys();
    if (this.#pace.tickAtMs < Number.POSITIVE_INFINITY || this.#isClosed) return;
    this.#pace.tickAtMs = this.#clock.now() + this.intervalMs;
    this.#arm();
  }

  unsubscribe(view: View): void {
    const count = this.#demand[view.index] ?? 0;
    if (count === 0) throw new Error('unsubscribed a view without subscribers');
    this.#demand[view.index] = count - 1;
    if (count > 1) return;
    this.#updateKeys();
    if (this.#keys !== 0 || this.#demand.some((n) => n > 0)) return;
    this.#pace.tickAtMs = Number.POSITIVE_INFINITY;
    this.#arm();
    this.#reader.endTicks();
    this.#expireIn(MAX_BASELINE_AGE_MS);
  }

  /** Reads for `slow` from `inMs` on, instead of the previous slow demand; undefined: for none. */
  setSlow(slow: SlowDemand | undefined, inMs = 0): void {
    this.#pace.setSlow(slow, this.#clock.now() + inMs);
    this.#arm();
  }

  /**
   * Takes effect from the next tick on; a tick that is further away than the new interval is brought forward.
   */
  setInterval(seconds: number): void {
    this.#reader.intervalMs = seconds * 1000;
    this.#pace.intervalMs = seconds * 1000;
    if (this.#pace.tickAtMs === Number.POSITIVE_INFINITY) return;
    this.#pace.tickAtMs = Math.min(this.#pace.tickAtMs, this.#clock.now() + this.intervalMs);
    this.#arm();
  }

  close(): void {
    this.#clock.clearTimer(this.#timer);
    this.#clock.clearTimer(this.#expiryTimer);
    this.#timer = undefined;
    this.#isClosed = true;
  }

  peek(needs: Needs): Encoded | undefined {
    return this.#fresh.find(keysOf(needs));
  }

  /** Returns averages since the last requested reading; for a first load over two readings 200 ms apart. */
  async latest(needs: Needs): Promise<Encoded> {
    const wanted = keysOf(needs);
    for (;;) {
      const young = this.#fresh.find(wanted);
      if (young !== undefined) return young;
      const pending = this.#pending;
      if (pending === undefined) return await this.#begin(wanted);
      if (this.#join(pending, wanted)) return await pending.sample;
      await pending.sample;
    }
  }

  #begin(wanted: number): Promise<Encoded> {
    const now = this.#clock.now();
    const pending = {
      keys: 0,
      askedAtMs: this.#clock.sinceBoot(),
      start: NO_BASELINE,
      readyAtMs: now,
      maxReadyAtMs: now + MAX_WAIT_MS,
    };
    // Includes all that fresh samples have, so that requests of different views in turn soon find one for all
    // of them. Views that need no window do not wait for that: their sample stands beside the others.
    this.#join(pending, windowed(wanted) === 0 ? wanted : unite(wanted, this.#fresh.keys));
    const sample = this.#take(pending);
    this.#pending = Object.assign(pending, { sample });
    return sample;
  }

  /** Makes `wanted` part of the reading, unless that would delay it too long. */
  #join(pending: PendingReading, wanted: number): boolean {
    const keys = unite(pending.keys, wanted);
    const missing = keys & ~pending.keys;
    if (missing === 0) return true;
    const waitMs = this.#reader.windowMs(missing);
    const now = this.#clock.now();
    const readyAtMs = now + waitMs;
    if (readyAtMs > pending.maxReadyAtMs) return false;
    const nextInMs = Math.max(0, Math.min(readyAtMs, this.#pace.next?.atMs ?? readyAtMs) - now);
    pending.start = this.#reader.open(missing, waitMs, nextInMs, pending.start);
    pending.keys = keys;
    pending.readyAtMs = Math.max(pending.readyAtMs, readyAtMs);
    return true;
  }

  async #take(pending: PendingReading): Promise<Encoded> {
    // Requests in the same turn join, even if there is nothing to wait for.
    await Promise.resolve();
    try {
      for (;;) {
        await this.#untilReady(pending);
        // A tick may have happened in the meantime.
        const young = this.#fresh.find(pending.keys);
        if (young !== undefined) return young;
        if (this.#reader.haveAnswered(pending.keys)) break;
        pending.readyAtMs = this.#clock.now() + PROBE_WAIT_MS;
      }
      const { next } = this.#pace;
      const nextInMs = next === undefined ? this.intervalMs : Math.max(0, next.atMs - this.#clock.now());
      this.#expireIn(MAX_BASELINE_AGE_MS);
      const sample = this.#reader.readRequest(pending.keys, pending.start, nextInMs);
      return this.#fresh.keep(pending.keys, sample, pending.askedAtMs);
    } finally {
      this.#pending = undefined;
    }
  }

  async #untilReady(pending: PendingReading): Promise<void> {
    for (;;) {
      const waitMs = pending.readyAtMs - this.#clock.now();
      if (waitMs <= 0) return;
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, waitMs));
    }
  }

  /** One timer from the first reading on; it is set again only if it fires too early. */
  #expireIn(delayMs: number): void {
    // A reading that was pending at the end may finish only now.
    if (this.#isClosed) return;
    this.#expiryTimer ??= this.#clock.setTimer(() => {
      this.#expiryTimer = undefined;
      this.#fresh.prune();
      const restMs = this.#reader.expire();
      if (restMs !== undefined) this.#expireIn(restMs);
    }, delayMs);
  }

  #updateKeys(): void {
    this.#keys = 0;
    this.#demand.forEach((count, index) => {
      if (count > 0) this.#keys = unite(this.#keys, keysOf(viewAt(index)));
    });
  }

  #arm(): void {
    this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
    const { next } = this.#pace;
    if (next === undefined || this.#isClosed) return;
    this.#timer = this.#clock.setTimer(() => this.#wake(next), Math.max(0, next.atMs - this.#clock.now()));
  }

  #wake({ atMs, isTick, isSlow }: Wake): void {
    const now = this.#clock.now();
    if (isTick) {
      this.#ticks++;
      this.#latenessMs += Math.max(0, now - atMs);
      this.#pace.tickDone(now);
    }
    const { slow } = this.#pace;
    const slowKeys = slow === undefined ? 0 : keysOf(slow.needs);
    if (!isTick && this.#isPuttingOffSlow(slowKeys, now)) return;
    // The next reading is expected after an interval; the sample shows when it really is due.
    if (isSlow) this.#pace.slowDone(now, undefined);
    const nextAtMs = Math.min(
      this.#pace.next?.atMs ?? now,
      this.#pending?.readyAtMs ?? Number.POSITIVE_INFINITY,
    );
    const tick: Tick = {
      demand: isTick ? this.#keys : undefined,
      slow: isSlow ? slowKeys : 0,
      ahead: this.#pace.next?.isSlow === true ? slowKeys : 0,
      nextInMs: Math.max(0, nextAtMs - now),
      nextTickInMs: this.nextTickInMs,
    };
    const read = this.#attempt(() => this.#reader.readTick(tick));
    if (isSlow) this.#pace.slowDone(now, read?.sample.counters.unixMs);
    this.#arm();
    if (read === undefined) return;
    const { sample, isWhole } = read;
    const encoded = isWhole
      ? this.#fresh.keep(unite(isTick ? this.#keys : 0, isSlow ? slowKeys : 0), sample)
      : new Encoded(sample);
    if (isTick) for (const sink of this.#sinks) sink.publish(encoded);
    else slow?.publish(encoded);
  }

  /** Returns whether the due reading for the slow demand must wait, because it would be a first one. */
  #isPuttingOffSlow(keys: number, now: number): boolean {
    const waitMs = this.#attempt(() => this.#reader.prepareSlow(keys));
    if (waitMs === undefined || waitMs === 0) return false;
    this.#pace.putOffSlow(now, waitMs);
    this.#arm();
    return true;
  }

  /** A tick has no caller to throw to: its error is logged, and it has no result. */
  #attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#reader.noteError(error);
      return undefined;
    }
  }
}
