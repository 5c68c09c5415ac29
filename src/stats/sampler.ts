/** Owns time: reads the host on absolute deadlines while there is demand, and on request. */
import { FRESH_MS } from './freshness.ts';
import { covers, keysOf, type Needs, unite } from './needs.ts';
import { Pace, type Wake } from './pace.ts';
import type { Sample } from './sample.ts';
import {
  FIRST_WINDOW_MS,
  PROBE_WAIT_MS,
  SampleReader,
  type SampleReaderOptions,
  type Tick,
} from './sample-reader.ts';
import type { SampleSink, SampleSource, SlowDemand } from './source.ts';
import { Encoded, VIEW_COUNT, type View, viewAt } from './view.ts';

/** A sample that answers requests while it is young. */
interface FreshSample {
  readonly encoded: Encoded;
  readonly keys: number;
  /** Time of the request, on the clock with suspended time: a sample from before a sleep is not fresh after it. */
  readonly askedAtMs: number;
}

/** A reading that requests wait for: those of one turn join it. Later ones with other needs share the one after it. */
interface PendingReading {
  keys: number;
  /** Undefined until it has begun. */
  readyAtMs: number | undefined;
}

const keysOfSlow = (slow: SlowDemand | undefined) => (slow === undefined ? 0 : keysOf(slow.needs));

export class Sampler implements SampleSource {
  readonly #clock: SampleReaderOptions['clock'];
  readonly #reader: SampleReader;
  readonly #sinks = new Set<SampleSink>();
  readonly #demand = new Uint32Array(VIEW_COUNT);
  /** The keys of all demand. */
  #keys = 0;
  #fresh: FreshSample | undefined;
  #pending: (PendingReading & { readonly sample: Promise<Encoded> }) | undefined;
  readonly #pace: Pace;
  #timer: unknown;
  #isClosed = false;
  #ticks = 0;
  #latenessMs = 0;

  constructor(options: SampleReaderOptions) {
    this.#clock = options.clock;
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
    this.#timer = undefined;
    this.#isClosed = true;
  }

  peek(needs: Needs): Encoded | undefined {
    return this.#find(keysOf(needs));
  }

  /** Returns averages since the last requested reading; for a first load over two readings 200 ms apart. */
  async latest(needs: Needs): Promise<Encoded> {
    const wanted = keysOf(needs);
    for (;;) {
      const fresh = this.#find(wanted);
      if (fresh !== undefined) return fresh;
      const pending = this.#pending ?? this.#begin();
      if (pending.readyAtMs === undefined) pending.keys = unite(pending.keys, wanted);
      const sample = await pending.sample;
      if (covers(pending.keys, wanted)) return sample;
    }
  }

  #begin() {
    const pending: PendingReading = { keys: 0, readyAtMs: undefined };
    this.#pending = Object.assign(pending, { sample: this.#take(pending) });
    return this.#pending;
  }

  async #take(pending: PendingReading): Promise<Encoded> {
    // All requests of the same turn come first.
    await Promise.resolve();
    try {
      // Includes all that the fresh sample has, so that requests of different views in turn soon find one for all.
      pending.keys = unite(pending.keys, this.#young?.keys ?? 0);
      const { keys } = pending;
      const askedAtMs = this.#clock.sinceBoot();
      const windowMs = this.#reader.windowMs(keys);
      pending.readyAtMs = this.#clock.now() + windowMs;
      const start = this.#reader.open(keys, windowMs, Math.min(windowMs, this.#nextInMs));
      for (let waitMs = windowMs; waitMs > 0; waitMs = this.#reader.haveAnswered(keys) ? 0 : PROBE_WAIT_MS) {
        pending.readyAtMs = this.#clock.now() + waitMs;
        await new Promise<void>((resolve) => this.#clock.setTimer(resolve, waitMs));
      }
      // A tick may have happened in the meantime.
      const young = this.#find(keys);
      if (young !== undefined) return young;
      const sample = this.#reader.readRequest(keys, start, this.#nextInMs);
      return this.#keep(keys, sample, askedAtMs);
    } finally {
      this.#pending = undefined;
    }
  }

  get #young(): FreshSample | undefined {
    const fresh = this.#fresh;
    return fresh !== undefined && this.#clock.sinceBoot() - fresh.askedAtMs < FRESH_MS ? fresh : undefined;
  }

  #find(wanted: number): Encoded | undefined {
    const young = this.#young;
    return young !== undefined && covers(young.keys, wanted) ? young.encoded : undefined;
  }

  /** Keeps a sample for requests, unless a fresh one has more. */
  #keep(keys: number, sample: Sample, askedAtMs = this.#clock.sinceBoot()): Encoded {
    const encoded = new Encoded(sample);
    if (covers(keys, this.#young?.keys ?? 0)) this.#fresh = { encoded, keys, askedAtMs };
    return encoded;
  }

  /** Returns milliseconds until the next reading for subscribers or the slow demand; an interval without either. */
  get #nextInMs(): number {
    const { next } = this.#pace;
    return next === undefined ? this.intervalMs : Math.max(0, next.atMs - this.#clock.now());
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

  #wake({ atMs, isTick, slow }: Wake): void {
    const now = this.#clock.now();
    if (isTick) {
      this.#ticks++;
      this.#latenessMs += Math.max(0, now - atMs);
      this.#pace.tickDone(now);
    }
    const slowKeys = keysOfSlow(slow);
    // A first reading for the slow demand alone only begins windows and asks probers.
    const isFirst = !isTick && !this.#reader.isReady(slowKeys);
    // The next one is expected after an interval; the sample shows when it really is due.
    if (slow) this.#pace.planSlow(now, isFirst ? FIRST_WINDOW_MS : slow.intervalMs);
    const nextAtMs = Math.min(
      this.#pace.next?.atMs ?? now,
      this.#pending?.readyAtMs ?? Number.POSITIVE_INFINITY,
    );
    const tick: Tick = {
      demand: isTick ? this.#keys : undefined,
      slow: slowKeys,
      ahead: keysOfSlow(this.#pace.next?.slow),
      nextInMs: Math.max(0, nextAtMs - now),
      nextTickInMs: this.nextTickInMs,
    };
    const read = this.#attempt(() => this.#reader.readTick(tick));
    if (slow && !read) this.#pace.planSlow(now, slow.intervalMs);
    if (slow && read && !isFirst) this.#pace.planSlow(now, slow.nextInMs(read.sample.counters.unixMs));
    this.#arm();
    if (read === undefined || isFirst) return;
    const { sample, isWhole } = read;
    const encoded = isWhole ? this.#keep(unite(tick.demand ?? 0, tick.slow), sample) : new Encoded(sample);
    if (isTick) for (const sink of this.#sinks) sink.publish(encoded);
    else slow?.publish(encoded);
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
