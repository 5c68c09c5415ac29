/**
 * The samples of one feed of a machine, published to sockets in shards, a few per turn of the event loop: each shard is a
 * topic of one view, and one call publishes to it. Sockets without room skip the sample.
 */
import type { Defer } from '../../clock.ts';
import { BoundedCache } from '../../fairness/bounded-cache.ts';
import type { MachineSample, SampleSink } from '../../machine/machine.ts';
import type { View } from '../../stats/view.ts';
import { frameOf } from './messages.ts';
import { inSlices } from './slices.ts';

/**
 * Sockets served in one turn of the event loop, and the size of a shard: each costs about 10 µs, so a turn takes less than
 * 2 ms, plus the messages that its sockets send in it.
 */
const SOCKETS_PER_TURN = 128;

/** Messages kept while a sample is published; as MAX_CUTS_BYTES of the hub. */
const MAX_MESSAGES_BYTES = 16 * 2 ** 20;

/** A subscription that is sent samples. */
export interface SampleMember {
  readonly view: View;
  /** Its messages have the id of the machine, because its socket shows several. */
  readonly isNamed: boolean;
  readonly isFull: boolean;
  /** Called when there is a sample that has its view. */
  begin(): void;
  /** Called when it has left its shard because its socket is full. */
  missSample(): void;
}

export interface Shard {
  readonly topic: string;
  readonly view: View;
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
  readonly publisher: Publisher;
  readonly defer: Defer;
  /**
   * Whether a full socket leaves its shard, and begins again with the newest sample when it has room. On a socket that shows
   * several machines, whose samples arrive together, it would otherwise miss those of the same machines each time. Untracked
   * sockets skip a sample: asking 10,000 whether they are full takes milliseconds.
   */
  readonly tracksMembers: boolean;
  /** Returns a name that no other shard has. */
  readonly createTopic: () => string;
  /** Called after each sample, before it is published. */
  readonly onSample?: () => void;
}

export class SampleBroadcast implements SampleSink {
  readonly #machine: string;
  readonly #deps: SampleBroadcastDeps;
  readonly #shards = new Set<Shard>();
  readonly #waiting = new Set<SampleMember>();
  /** The newest sample and its number; samples are numbered from 1. */
  #newest: MachineSample | undefined;
  #number = 0;
  /** The shards that are still to be served. */
  #due: Shard[] = [];
  #isRunning = false;
  #sent = 0;
  /** The messages of the sample that is being published, by view and form. */
  readonly #messages = new BoundedCache<number, Buffer>(MAX_MESSAGES_BYTES);
  #messagesOf: MachineSample | undefined;

  /** `machine`: the id that named messages have. */
  constructor(machine: string, deps: SampleBroadcastDeps) {
    this.#machine = machine;
    this.#deps = deps;
  }

  /** Messages since the start, one per socket. */
  get sent(): number {
    return this.#sent;
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
    const { view, isNamed } = member;
    let found: Shard | undefined;
    for (const shard of this.#shards) {
      const isSame = shard.view === view && shard.isNamed === isNamed;
      // A shard that is still to be served would send the newest sample again.
      if (isSame && shard.size < SOCKETS_PER_TURN && shard.sent === this.#number) {
        found = shard;
        break;
      }
    }
    if (found === undefined) {
      const { createTopic, tracksMembers } = this.#deps;
      const members = tracksMembers ? new Set<SampleMember>() : undefined;
      found = { topic: createTopic(), view, isNamed, size: 0, sent: this.#number, members };
      this.#shards.add(found);
    }
    found.size++;
    found.members?.add(member);
    return found;
  }

  leave(shard: Shard, member: SampleMember): void {
    shard.size--;
    shard.members?.delete(member);
    if (shard.size === 0) this.#shards.delete(shard);
  }

  /** Sends `sample` to every socket, in slices. A round that is under way continues with it. */
  publish(sample: MachineSample): void {
    this.#newest = sample;
    this.#number++;
    this.#deps.onSample?.();
    this.#beginWaiting(sample);
    if (this.#isRunning) return;
    this.#due = [...this.#shards];
    this.#serve();
  }

  /** The machine is gone. */
  forget(): void {
    this.#newest = undefined;
    this.#due = [];
    this.#forgetMessages();
  }

  #beginWaiting(sample: MachineSample): void {
    if (this.#waiting.size === 0) return;
    const ready = [...this.#waiting].filter(({ view }) => sample.has(view));
    for (const member of ready) this.#waiting.delete(member);
    inSlices(ready, this.#deps.defer, (member) => member.begin());
  }

  #serve(): void {
    const sample = this.#newest;
    let served = 0;
    for (let shard = this.#due.pop(); shard !== undefined; shard = this.#due.pop()) {
      if (sample === undefined || shard.size === 0 || shard.sent === this.#number) continue;
      shard.sent = this.#number;
      served += this.#publishTo(shard, sample);
      if (served >= SOCKETS_PER_TURN) break;
    }
    // The shards that got an older sample in this round are served again.
    if (this.#due.length === 0 && this.#newest !== undefined)
      this.#due = [...this.#shards].filter(({ sent }) => sent !== this.#number);
    this.#isRunning = this.#due.length > 0;
    if (this.#isRunning) this.#deps.defer(() => this.#serve());
    else this.#forgetMessages();
  }

  /** Returns to how many sockets it was sent. */
  #publishTo(shard: Shard, sample: MachineSample): number {
    if (!sample.has(shard.view)) return 0;
    for (const member of [...(shard.members ?? [])]) if (member.isFull) member.missSample();
    if (shard.size === 0) return 0;
    this.#deps.publisher.publish(shard.topic, this.#messageOf(shard, sample));
    this.#sent += shard.size;
    return shard.size;
  }

  #messageOf({ view, isNamed }: Shard, sample: MachineSample): Buffer {
    if (sample !== this.#messagesOf) this.#messages.clear();
    this.#messagesOf = sample;
    const host = isNamed ? this.#machine : undefined;
    const key = view.index * 2 + (isNamed ? 1 : 0);
    let message = this.#messages.get(key);
    if (message === undefined) {
      message = Buffer.from(frameOf('system_stats', sample.payload(view), { host, id: undefined }));
      this.#messages.set(key, message);
    }
    return message;
  }

  #forgetMessages(): void {
    this.#messages.clear();
    this.#messagesOf = undefined;
  }
}
