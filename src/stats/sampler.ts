/** Owns time: reads the host on absolute deadlines while there is demand, and on request. */
import { type Baseline, NO_BASELINE } from './baseline.ts';
import { covers, keysOf, type Needs, unite, windowed } from './needs.ts';
import { MAX_BASELINE_AGE_MS } from './poll-baseline.ts';
import type { Sample } from './sample.ts';
import { FIRST_WINDOW_MS, SampleReader, type SampleReaderOptions } from './sample-reader.ts';
import type { SampleSink, SampleSource } from './source.ts';
import { Encoded, VIEW_COUNT, type View, viewAt } from './view.ts';

/** Maximum age of a sample that answers a request. */
const FRESH_MS = 1000;
/** The longest that requests which join a reading may put it off, from its beginning. */
const MAX_WAIT_MS = 2 * FIRST_WINDOW_MS;

interface CachedSample {
  readonly encoded: Encoded;
  /** What it has: a set of keys (needs.ts). */
  readonly keys: number;
  /** Of the clock that counts suspended time: a sample from before a sleep is not fresh after it. */
  readonly sinceBootMs: number;
}

/** A reading that requests wait for. Further ones join it, and may widen it. */
interface PendingReading {
  keys: number;
  /** What `keys` will be compared with. */
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
  /** The newest first, and older ones that have more. */
  #cached: readonly CachedSample[] = [];
  #pending: (PendingReading & { readonly sample: Promise<Encoded> }) | undefined;
  #timer: unknown;
  #deadlineMs = 0;
  /** Drops what nobody has asked for in a long time. */
  #expiryTimer: unknown;
  #isClosed = false;
  #ticks = 0;
  #latenessMs = 0;

  constructor(options: SampleReaderOptions) {
    this.#clock = options.clock;
    this.#reader = new SampleReader(options);
  }

  get intervalMs(): number {
    return this.#reader.intervalMs;
  }

  /** Milliseconds until the next tick; Infinity while nobody is subscribed. */
  get nextTickInMs(): number {
    return this.#timer === undefined ? Number.POSITIVE_INFINITY : this.#deadlineMs - this.#clock.now();
  }

  /** The ticks since the start, and by how much they were late, all together. */
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
    if (this.#timer === undefined) this.#schedule(this.#clock.now() + this.intervalMs);
  }

  unsubscribe(view: View): void {
    const count = this.#demand[view.index] ?? 0;
    if (count === 0) throw new Error('unsubscribed a view without subscribers');
    this.#demand[view.index] = count - 1;
    if (count > 1) return;
    this.#updateKeys();
    if (this.#keys !== 0 || this.#demand.some((n) => n > 0)) return;
    this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#reader.endTicks();
    this.#expireIn(MAX_BASELINE_AGE_MS);
  }

  /** Takes effect from the next tick on; a tick that is further away than the new interval is brought forward. */
  setInterval(seconds: number): void {
    this.#reader.intervalMs = seconds * 1000;
    if (this.#timer === undefined) return;
    this.#clock.clearTimer(this.#timer);
    this.#schedule(Math.min(this.#deadlineMs, this.#clock.now() + this.intervalMs));
  }

  close(): void {
    this.#clock.clearTimer(this.#timer);
    this.#clock.clearTimer(this.#expiryTimer);
    this.#timer = undefined;
    this.#isClosed = true;
  }

  peek(needs: Needs): Encoded | undefined {
    return this.#find(keysOf(needs));
  }

  /** An average since the last requested reading; for a first load over two readings 200 ms apart. */
  async latest(needs: Needs): Promise<Encoded> {
    const wanted = keysOf(needs);
    for (;;) {
      const young = this.#find(wanted);
      if (young !== undefined) return young;
      const pending = this.#pending;
      if (pending === undefined) return await this.#begin(wanted);
      if (this.#join(pending, wanted)) return await pending.sample;
      await pending.sample;
    }
  }

  #isFresh({ sinceBootMs }: CachedSample): boolean {
    return this.#clock.sinceBoot() - sinceBootMs < FRESH_MS;
  }

  #find(wanted: number): Encoded | undefined {
    return this.#cached.find((cached) => covers(cached.keys, wanted) && this.#isFresh(cached))?.encoded;
  }

  #begin(wanted: number): Promise<Encoded> {
    const now = this.#clock.now();
    const pending = { keys: 0, start: NO_BASELINE, readyAtMs: now, maxReadyAtMs: now + MAX_WAIT_MS };
    // With all that fresh samples have, so that requests of different views in turn soon find one for all of them.
    // What needs no window is not kept waiting for that: its sample stands beside theirs.
    const fresh = windowed(wanted) === 0 ? [] : this.#cached.filter((cached) => this.#isFresh(cached));
    this.#join(
      pending,
      fresh.reduce((keys, cached) => unite(keys, cached.keys), wanted),
    );
    const sample = this.#take(pending);
    this.#pending = Object.assign(pending, { sample });
    return sample;
  }

  /** Makes `wanted` part of the reading, unless that would put it off for too long. */
  #join(pending: PendingReading, wanted: number): boolean {
    const keys = unite(pending.keys, wanted);
    const missing = keys & ~pending.keys;
    if (missing === 0) return true;
    const waitMs = this.#reader.windowMs(missing);
    const readyAtMs = this.#clock.now() + waitMs;
    if (readyAtMs > pending.maxReadyAtMs) return false;
    pending.start = this.#reader.open(missing, waitMs, pending.start);
    pending.keys = keys;
    pending.readyAtMs = Math.max(pending.readyAtMs, readyAtMs);
    return true;
  }

  async #take(pending: PendingReading): Promise<Encoded> {
    // Whoever asks in the same turn joins, also where there is nothing to wait for.
    await Promise.resolve();
    for (;;) {
      const waitMs = pending.readyAtMs - this.#clock.now();
      if (waitMs <= 0) break;
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, waitMs));
    }
    this.#pending = undefined;
    // A tick may have come meanwhile.
    const young = this.#find(pending.keys);
    if (young !== undefined) return young;
    const nextInMs = this.#timer !== undefined ? Math.max(0, this.nextTickInMs) : this.intervalMs;
    this.#expireIn(MAX_BASELINE_AGE_MS);
    return this.#keep(pending.keys, this.#reader.readRequest(pending.keys, pending.start, nextInMs));
  }

  /** One timer from the first reading on; it is set again only if it fires too early. */
  #expireIn(delayMs: number): void {
    // A reading that was pending at the end may be over only now.
    if (this.#isClosed) return;
    this.#expiryTimer ??= this.#clock.setTimer(() => {
      this.#expiryTimer = undefined;
      this.#cached = this.#cached.filter((cached) => this.#isFresh(cached));
      const restMs = this.#reader.expire();
      if (restMs !== undefined) this.#expireIn(restMs);
    }, delayMs);
  }

  #keep(keys: number, sample: Sample): Encoded {
    const encoded = new Encoded(sample);
    const others = this.#cached.filter((cached) => !covers(keys, cached.keys) && this.#isFresh(cached));
    this.#cached = [{ encoded, keys, sinceBootMs: this.#clock.sinceBoot() }, ...others];
    return encoded;
  }

  #updateKeys(): void {
    this.#keys = 0;
    this.#demand.forEach((count, index) => {
      if (count > 0) this.#keys = unite(this.#keys, keysOf(viewAt(index)));
    });
  }

  #schedule(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
    this.#timer = this.#clock.setTimer(() => this.#tick(), Math.max(0, deadlineMs - this.#clock.now()));
  }

  #tick(): void {
    const now = this.#clock.now();
    this.#ticks++;
    this.#latenessMs += Math.max(0, now - this.#deadlineMs);
    // setTimeout may fire up to a millisecond early; deadlines are absolute, so lateness never adds up.
    let next = this.#deadlineMs + this.intervalMs;
    if (next <= now) next = now + this.intervalMs - ((now - this.#deadlineMs) % this.intervalMs);
    this.#schedule(next);
    const sample = this.#tryRead(next - now);
    if (sample === undefined) return;
    const encoded = this.#keep(this.#keys, sample);
    for (const sink of this.#sinks) sink.publish(encoded);
  }

  /** A tick has no caller to throw to: its error is logged. */
  #tryRead(nextInMs: number): Sample | undefined {
    try {
      return this.#reader.readTick(this.#keys, nextInMs);
    } catch (error) {
      this.#reader.noteError(error);
      return undefined;
    }
  }
}
