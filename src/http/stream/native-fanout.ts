/**
 * The fan-out with a native writer: a stream stays with the engine until its head and first event have left; then the
 * addon owns its connection, and what is left of it here are some bytes in arrays.
 */

import { AddressCounts } from '../../fairness/address-counts.ts';
import type { StreamHost, StreamWriter } from '../../host/streams.ts';
import { slotOf } from '../../host/streams.ts';
import type { View } from '../../stats/view.ts';
import { VIEW_COUNT, viewAt } from '../../stats/view.ts';
import type { Caller } from '../clients/caller.ts';
import { type Holder, Ledger } from '../clients/ledger.ts';
import type { Exchange, StreamSocket } from '../engine.ts';
import type { Headers } from '../reply.ts';
import { Fanout, type FanoutOptions } from './fanout.ts';
import type { EventCounters, SampleEvents, StreamHub } from './stream-hub.ts';

/** A stream that takes nothing of its rest for this long when all end is cut; the service is gone within a second. */
const END_LIMIT_MS = 400;
const MIN_SLOTS = 64;

export interface NativeFanoutOptions extends FanoutOptions {
  readonly streams: StreamHost;
}

export class NativeFanout implements StreamHub {
  readonly #options: NativeFanoutOptions;
  readonly #ledger: Ledger;
  readonly #tally: Pick<AddressCounts, 'add' | 'remove'>;
  /** Those that are the engine's: their first event has not left, or they are not for the writer (TLS). */
  readonly #fanout: Fanout;
  /** Made with the first stream, when the stall limit is known. */
  #writer: StreamWriter | undefined;
  /** By slot. Equal callers are one object (Gate.keep). */
  readonly #callers: (Caller | undefined)[] = [];
  #ids = new Uint32Array(MIN_SLOTS);
  #views = new Uint8Array(MIN_SLOTS);
  /** By view. */
  readonly #counts = new Uint32Array(VIEW_COUNT);
  #size = 0;
  /** By slot: the few for which bytes are kept. */
  readonly #holders = new Map<number, Holder>();
  #newest: SampleEvents | undefined;
  #number = 0;
  #isEnding = false;

  constructor(options: NativeFanoutOptions) {
    const { ledger = new Ledger(), tally = new AddressCounts() } = options;
    this.#options = options;
    this.#ledger = ledger;
    this.#tally = tally;
    this.#fanout = new Fanout({ ...options, ledger, tally, handOver: (socket) => this.#take(socket) });
  }

  get size(): number {
    return this.#fanout.size + this.#size;
  }

  get adopted(): number {
    return this.#size;
  }

  get eventCounters(): EventCounters {
    const { sent, skipped } = this.#fanout.eventCounters;
    const written = this.#writer?.counters();
    return { sent: sent + (written?.sentEvents ?? 0), skipped: skipped + (written?.skippedEvents ?? 0) };
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  get stallLimitSeconds(): number {
    return this.#fanout.stallLimitSeconds;
  }

  set stallLimitSeconds(seconds: number) {
    this.#fanout.stallLimitSeconds = seconds;
  }

  open(
    exchange: Exchange,
    view: View,
    encoded: SampleEvents,
    headers: Headers,
    caller: Caller,
    skipsNext: boolean,
  ): void {
    this.#fanout.open(exchange, view, encoded, headers, caller, skipsNext);
  }

  publish(encoded: SampleEvents): void {
    this.#newest = encoded;
    this.#number++;
    this.#fanout.publish(encoded);
    for (let index = 0; index < VIEW_COUNT; index++)
      if (this.#counts[index] !== 0) this.#write(viewAt(index));
  }

  judgeAgain(passes: (caller: Caller) => boolean): void {
    this.#fanout.judgeAgain(passes);
    const verdicts = new Map<Caller, boolean>();
    const cut: number[] = [];
    this.#callers.forEach((caller, slot) => {
      if (caller === undefined) return;
      const verdict = verdicts.get(caller) ?? passes(caller);
      verdicts.set(caller, verdict);
      if (!verdict) cut.push(this.#ids[slot] ?? 0);
    });
    this.#writer?.cut(cut);
  }

  close(): number {
    const full = this.#fanout.close();
    if (this.#size === 0 || this.#writer === undefined) return full;
    this.#isEnding = true;
    void this.#writer.end(END_LIMIT_MS).then(() => {
      this.#isEnding = false;
    });
    return full;
  }

  #write(view: View): void {
    if (this.#newest !== undefined) this.#writer?.publish(view.index, this.#number, this.#newest.event(view));
  }

  /** Whether the stream is the writer's now. */
  #take(socket: StreamSocket): boolean {
    if (socket.handOver === undefined || this.#isEnding) return false;
    const { view, caller, sent } = socket;
    this.#writer ??= this.#start();
    const { adopt } = this.#writer;
    let id = 0;
    try {
      const isTaken = socket.handOver((descriptor, framing) => {
        id = adopt(descriptor, { view: view.index, sent, framing });
      });
      if (!isTaken) return false;
    } catch {
      // No descriptor is left: the engine goes on with it.
      return false;
    }
    this.#add(id, view, caller);
    if (sent < this.#number) this.#write(view);
    return true;
  }

  #start(): StreamWriter {
    const { stallLimitSeconds } = this;
    const options = Number.isFinite(stallLimitSeconds) ? { stallLimitMs: stallLimitSeconds * 1000 } : {};
    return this.#options.streams.start(options, {
      onKept: (id, bytes) => this.#keep(id, bytes),
      onClosed: (ids) => ids.forEach((id) => this.#remove(slotOf(id))),
    });
  }

  #add(id: number, view: View, caller: Caller): void {
    const slot = slotOf(id);
    if (slot >= this.#ids.length) this.#grow(slot + 1);
    this.#callers[slot] = caller;
    this.#ids[slot] = id;
    this.#views[slot] = view.index;
    this.#counts[view.index] = (this.#counts[view.index] ?? 0) + 1;
    this.#size++;
    if (!caller.isKeyed) this.#tally.add(caller.address);
    if (caller.kept !== undefined) this.#keep(id, 0);
    this.#options.source.subscribe(view);
  }

  #grow(slots: number): void {
    const length = Math.max(slots, this.#ids.length * 2);
    const [ids, views] = [this.#ids, this.#views];
    this.#ids = new Uint32Array(length);
    this.#views = new Uint8Array(length);
    this.#ids.set(ids);
    this.#views.set(views);
  }

  #keep(id: number, bytes: number): void {
    const slot = slotOf(id);
    const caller = this.#callers[slot];
    if (caller === undefined) return;
    const { address, kept } = caller;
    const holder = this.#holders.get(slot) ?? {
      address,
      isStream: true,
      cut: () => this.#writer?.cut([id]),
    };
    this.#ledger.set(holder, bytes, kept);
    if (bytes === 0 && kept === undefined) this.#holders.delete(slot);
    else this.#holders.set(slot, holder);
  }

  #remove(slot: number): void {
    const caller = this.#callers[slot];
    if (caller === undefined) return;
    const holder = this.#holders.get(slot);
    if (holder !== undefined) this.#ledger.release(holder);
    this.#holders.delete(slot);
    this.#callers[slot] = undefined;
    const view = viewAt(this.#views[slot] ?? 0);
    this.#counts[view.index] = (this.#counts[view.index] ?? 0) - 1;
    this.#size--;
    if (!caller.isKeyed) this.#tally.remove(caller.address);
    this.#options.source.unsubscribe(view);
    if (this.#size > 0) return;
    // After a crowd nothing of it is left in memory.
    this.#callers.length = 0;
    this.#ids = new Uint32Array(MIN_SLOTS);
    this.#views = new Uint8Array(MIN_SLOTS);
  }
}
