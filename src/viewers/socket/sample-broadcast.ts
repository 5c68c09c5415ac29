/**
 * The samples of one view of a machine, published to sockets in shards, a few per turn of the event loop: each shard is a
 * topic, and one call publishes to it. Sockets without room skip the sample.
 */
import type { Defer } from '../../clock.ts';
import type { Machine } from '../../machine/machine.ts';
import type { View } from '../../stats/view.ts';
import type { MachineSample, MachineSink, MachineSubscription } from '../../streams/sample.ts';
import { inSlices } from '../../streams/slices.ts';
import { frameOf } from './messages.ts';

/**
 * Sockets served in one turn of the event loop, and the size of a shard: each costs about 10 µs, so a turn takes less than
 * 2 ms, plus the messages that its sockets send in it.
 */
const SOCKETS_PER_TURN = 128;

/** Ticks come on absolute deadlines, a few milliseconds late on a busy machine. */
const TICK_JITTER_MS = 100;

/** A subscription that is sent samples. */
export interface SampleMember {
  /** Its messages have the id of the machine, because its socket shows several. */
  readonly isNamed: boolean;
  readonly isFull: boolean;
  /** Called when there is a sample. */
  begin(): void;
  /** Called when it has left its shard because its socket is full. */
  missSample(): void;
}

export interface Shard {
  readonly broadcast: SampleBroadcast;
  readonly topic: string;
  size: number;
  /** Number of the newest sample that its sockets have had, or may skip, having just joined. */
  sent: number;
  readonly isNamed: boolean;
  /** undefined: they are not tracked. */
  readonly members: Set<SampleMember> | undefined;
}

/** Sends to all sockets that joined a topic. */
export interface Publisher {
  publish(topic: string, bytes: Buffer): void;
}

/** Shared by all broadcasts of a role. */
export interface SampleBroadcastDeps {
  readonly now: () => number;
  readonly publisher: Publisher;
  readonly queue: ShardQueue;
  readonly defer: Defer;
  /**
   * Whether a full socket leaves its shard, and begins again with the newest sample when it has room. On a socket that shows
   * several machines, whose samples arrive together, it would otherwise miss those of the same machines each time. Untracked
   * sockets skip a sample: asking 10,000 whether they are full takes milliseconds.
   */
  readonly tracksMembers: boolean;
  /** Returns a name that no other shard has. */
  readonly createTopic: () => string;
  /** Samples that were sent since the start, one per socket. */
  readonly counters: { sent: number };
  /** Called after each sample, before it is published. */
  readonly onSample?: () => void;
}

/** The shards of all broadcasts that are to be sent a sample: a few are served per turn of the event loop. */
export class ShardQueue {
  readonly #defer: Defer;
  /** In the order in which they are served. */
  readonly #due = new Set<Shard>();

  constructor(defer: Defer) {
    this.#defer = defer;
  }

  /** Serves `shards` after those that are due already, which keep their places. */
  add(shards: Iterable<Shard>): void {
    const isRunning = this.#due.size > 0;
    for (const shard of shards) this.#due.add(shard);
    if (!isRunning) this.#serve();
  }

  #serve(): void {
    let served = 0;
    for (const shard of this.#due) {
      if (served >= SOCKETS_PER_TURN) {
        this.#defer(() => this.#serve());
        return;
      }
      this.#due.delete(shard);
      served += shard.broadcast.serve(shard);
    }
  }
}

export class SampleBroadcast implements MachineSink {
  readonly machine: Machine;
  readonly view: View;
  readonly intervalMs: number;
  readonly #deps: SampleBroadcastDeps;
  readonly #subscription: MachineSubscription;
  readonly #shards = new Set<Shard>();
  readonly #waiting = new Set<SampleMember>();
  /** The newest sample and its number; samples are numbered from 1. */
  #newest: MachineSample | undefined;
  #number = 0;
  #publishedAtMs = Number.NEGATIVE_INFINITY;
  /** Shards that have not had it. */
  #unserved = 0;
  /** The messages of the newest sample while it is published: with the id of the machine, and without. */
  readonly #messages = new Map<boolean, Buffer>();
  /** Subscriptions of sockets; it ends with the last one. */
  users = 0;

  /** `intervalMs`: at most one sample in this time; 0: all. */
  constructor(machine: Machine, view: View, intervalMs: number, deps: SampleBroadcastDeps) {
    this.machine = machine;
    this.view = view;
    this.intervalMs = intervalMs;
    this.#deps = deps;
    this.#subscription = machine.subscribe(view, this);
  }

  /** As MachineSubscription. */
  newest(): ReturnType<MachineSubscription['newest']> {
    return this.#subscription.newest();
  }

  end(): void {
    this.#subscription.end();
  }

  /** Waits for the first sample. */
  wait(member: SampleMember): void {
    this.#waiting.add(member);
  }

  stopWaiting(member: SampleMember): void {
    this.#waiting.delete(member);
  }

  /** Returns the shard of a socket that has had the newest sample. */
  join(member: SampleMember): Shard {
    const { isNamed } = member;
    let found: Shard | undefined;
    for (const shard of this.#shards) {
      // A shard that is still to be served would send the newest sample again.
      if (shard.isNamed === isNamed && shard.size < SOCKETS_PER_TURN && shard.sent === this.#number) {
        found = shard;
        break;
      }
    }
    if (found === undefined) {
      const { createTopic, tracksMembers } = this.#deps;
      const members = tracksMembers ? new Set<SampleMember>() : undefined;
      found = { broadcast: this, topic: createTopic(), isNamed, size: 0, sent: this.#number, members };
      this.#shards.add(found);
    }
    found.size++;
    found.members?.add(member);
    return found;
  }

  leave(shard: Shard, member: SampleMember): void {
    shard.size--;
    shard.members?.delete(member);
    if (shard.size > 0) return;
    this.#shards.delete(shard);
    this.#mark(shard);
  }

  /** Sends `sample` to every socket, in turns. Those that wait for an earlier one get it instead. */
  publish(sample: MachineSample): void {
    const now = this.#deps.now();
    if (now - this.#publishedAtMs < this.intervalMs - TICK_JITTER_MS && this.#waiting.size === 0) return;
    this.#publishedAtMs = now;
    this.#newest = sample;
    this.#messages.clear();
    this.#number++;
    this.#unserved = this.#shards.size;
    this.#deps.onSample?.();
    this.#beginWaiting();
    this.#deps.queue.add(this.#shards);
  }

  /** The machine is gone. */
  forget(): void {
    this.#newest = undefined;
    this.#messages.clear();
  }

  /** Its sockets learn that from the condition of the machine. */
  close(): void {}

  #beginWaiting(): void {
    if (this.#waiting.size === 0) return;
    const ready = [...this.#waiting];
    this.#waiting.clear();
    inSlices(ready, this.#deps.defer, (member) => member.begin());
  }

  /** Sends the newest sample to a shard that has not had it; returns to how many sockets. */
  serve(shard: Shard): number {
    const sample = this.#newest;
    if (sample === undefined || shard.size === 0 || shard.sent === this.#number) return 0;
    for (const member of [...(shard.members ?? [])]) if (member.isFull) member.missSample();
    if (shard.size > 0) {
      const { publisher, counters } = this.#deps;
      publisher.publish(shard.topic, this.#messageOf(shard, sample));
      counters.sent += shard.size;
    }
    this.#mark(shard);
    return shard.size;
  }

  /** It has had the newest sample, or has no sockets left. */
  #mark(shard: Shard): void {
    if (shard.sent === this.#number) return;
    shard.sent = this.#number;
    if (--this.#unserved === 0) this.#messages.clear();
  }

  #messageOf({ isNamed }: Shard, sample: MachineSample): Buffer {
    let message = this.#messages.get(isNamed);
    if (message === undefined) {
      const host = isNamed ? this.machine.id : undefined;
      message = Buffer.from(frameOf('system_stats', sample.payload(this.view), { host, id: undefined }));
      this.#messages.set(isNamed, message);
    }
    return message;
  }
}
