/**
 * The streams that the native writer sends, of all fan-outs of a role: one writer, one thread. Of each stream some bytes in
 * arrays are left here.
 */
import type { Caller } from '../access/caller.ts';
import type { Holder, Quota } from '../fairness/quota.ts';
import { type Framing, type StreamHost, type StreamWriter, slotOf } from '../host/streams.ts';

/** A stream that takes nothing of its rest for this long when all end is cut; the service is gone within a second. */
const END_LIMIT_MS = 400;
const FIRST_SLOTS = 64;

/** The fan-out of a stream. */
export interface StreamOwner {
  /** A stream of `caller` has closed. */
  onClosed(caller: Caller): void;
}

/** The fan-out and the subscriber of a stream. */
export interface Member {
  readonly owner: StreamOwner;
  readonly caller: Caller;
}

/** A stream that the writer is given: as the parameters of StreamWriter.adopt. */
export interface Adoption {
  readonly channel: number;
  readonly sent: number;
  readonly framing: Framing;
  readonly head: Buffer;
  readonly event: Buffer;
  readonly member: Member;
}

export class StreamPool {
  readonly #streams: StreamHost;
  readonly #quota: Quota;
  readonly #stallLimitMs: number;
  /** Made with the first stream. */
  #writer: StreamWriter | undefined;
  /** By slot. Members of one fan-out with equal callers are one object. */
  readonly #members: (Member | undefined)[] = [];
  #ids = new Uint32Array(FIRST_SLOTS);
  #size = 0;
  /** By slot: the few for which bytes are kept. */
  readonly #holders = new Map<number, Holder>();
  /** The first channel that was never given out, and those that were given back. */
  #nextChannel = 0;
  readonly #freeChannels: number[] = [];
  #isEnding = false;
  #hasEnded = false;

  /** `stallLimitMs`: a full stream that takes nothing for this long is cut. */
  constructor(streams: StreamHost, quota: Quota, stallLimitMs: number) {
    this.#streams = streams;
    this.#quota = quota;
    this.#stallLimitMs = stallLimitMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Ended, and some streams have not been sent their end. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** No stream is taken any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Events that were sent since the start, and those that a full stream was never sent. */
  get events(): { readonly sent: number; readonly skipped: number } {
    const { sentEvents = 0, skippedEvents = 0 } = this.#writer?.counters() ?? {};
    return { sent: sentEvents, skipped: skippedEvents };
  }

  openChannel(): number {
    return this.#freeChannels.pop() ?? this.#nextChannel++;
  }

  /** Gives `channel` back, whose streams have closed. */
  closeChannel(channel: number): void {
    this.#writer?.forget(channel);
    this.#freeChannels.push(channel);
  }

  /** Throws as StreamWriter.adopt. */
  adopt(descriptor: number, { channel, sent, framing, head, event, member }: Adoption): void {
    this.#writer ??= this.#start();
    const id = this.#writer.adopt(descriptor, channel, sent, framing === 'plain', head, event);
    const slot = slotOf(id);
    if (slot >= this.#ids.length) this.#grow(slot + 1);
    this.#members[slot] = member;
    this.#ids[slot] = id;
    this.#size++;
    if (member.caller.buffered !== undefined) this.#keep(id, 0);
  }

  publish(channel: number, number: number, event: Buffer, whole: Buffer | undefined): void {
    this.#writer?.publish(channel, number, event, whole);
  }

  mayMiss(): boolean {
    return this.#writer?.mayMiss() ?? false;
  }

  forget(channel: number): void {
    this.#writer?.forget(channel);
  }

  finish(channel: number): void {
    this.#writer?.finish(channel);
  }

  /** Cuts the streams whose caller `passes` no longer lets through. */
  revalidate(passes: (caller: Caller) => boolean): void {
    const verdicts = new Map<Caller, boolean>();
    const cut: number[] = [];
    this.#members.forEach((member, slot) => {
      if (member === undefined) return;
      const { caller } = member;
      const verdict = verdicts.get(caller) ?? passes(caller);
      verdicts.set(caller, verdict);
      if (!verdict) cut.push(this.#ids[slot] ?? 0);
    });
    this.#writer?.cut(Uint32Array.from(cut));
  }

  /** Ends all streams. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#size === 0 || this.#writer === undefined) return;
    this.#isEnding = true;
    void this.#writer.end(END_LIMIT_MS).then(() => {
      this.#isEnding = false;
    });
  }

  #start(): StreamWriter {
    return this.#streams.start({ stallLimitMs: this.#stallLimitMs }, (buffered, closed) => {
      for (let at = 0; at < buffered.length; at += 2) this.#keep(buffered[at] ?? 0, buffered[at + 1] ?? 0);
      for (const id of closed) this.#remove(slotOf(id));
    });
  }

  #grow(slots: number): void {
    const ids = this.#ids;
    this.#ids = new Uint32Array(Math.max(slots, ids.length * 2));
    this.#ids.set(ids);
  }

  #keep(id: number, bytes: number): void {
    const slot = slotOf(id);
    const caller = this.#members[slot]?.caller;
    if (caller === undefined) return;
    const { address, buffered } = caller;
    const holder = this.#holders.get(slot) ?? {
      address,
      isStream: true,
      cut: () => this.#writer?.cut(Uint32Array.of(id)),
    };
    this.#quota.set(holder, bytes, buffered);
    if (bytes === 0 && buffered === undefined) this.#holders.delete(slot);
    else this.#holders.set(slot, holder);
  }

  #remove(slot: number): void {
    const member = this.#members[slot];
    if (member === undefined) return;
    const holder = this.#holders.get(slot);
    if (holder !== undefined) this.#quota.release(holder);
    this.#holders.delete(slot);
    this.#members[slot] = undefined;
    this.#size--;
    if (this.#size === 0) {
      // After a crowd nothing of it is left in memory.
      this.#members.length = 0;
      this.#ids = new Uint32Array(FIRST_SLOTS);
    }
    member.owner.onClosed(member.caller);
  }
}
