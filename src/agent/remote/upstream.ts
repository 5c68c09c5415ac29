/**
 * The samples of one host, plain or detailed: what its subscribers want together, and the stream from the agent that has it.
 * Two upstreams at most, because neither form can be made from the other.
 */
import { ServiceError } from '../../errors.ts';
import type { View } from '../../stats/view.ts';
import type { SampleSink, SampleSubscription } from '../../streams/sample.ts';
import type { RemoteDeps } from './deps.ts';
import { BadSample, type Failure } from './failure.ts';
import type { HostSample } from './sample.ts';

/** Where an agent's samples go. */
export interface StreamSink {
  /** Throws BadSample where it is none. */
  readonly onSample: (sample: HostSample) => void;
  /** Called once, when the stream has ended without being closed. */
  readonly onEnd: (failure: Failure) => void;
}

/** A stream of samples from an agent. */
export interface AgentStream {
  /** Ends it without a report. */
  close(): void;
}

/** The host of an upstream. */
export interface UpstreamOwner {
  readonly isUp: boolean;
  /** Asks the agent for samples with these sections. It calls the sink later, never during the call. */
  openStream(sections: number, withDetail: boolean, sink: StreamSink): AgentStream;
  /** A valid sample came. */
  heard(): void;
  failed(failure: Failure): void;
  /** An upstream is wanted that was not, or the reverse. */
  changed(): void;
  /** The error for viewers of a host that is not up. */
  refusal(): ServiceError;
}

/** One stream from the agent. */
interface Link {
  readonly sections: number;
  readonly request: AgentStream;
}

interface Subscriber {
  readonly view: View;
  readonly sink: SampleSink | undefined;
}

interface Waiter {
  readonly view: View;
  readonly resolve: (sample: HostSample) => void;
  readonly reject: (error: Error) => void;
}

export class Upstream {
  readonly #deps: RemoteDeps;
  readonly #owner: UpstreamOwner;
  readonly #withDetail: boolean;
  readonly #subscribers = new Set<Subscriber>();
  /** The sections of their views. */
  #union = 0;
  #link: Link | undefined;
  /** Has other sections; it takes the place of `#link` with its first sample. */
  #next: Link | undefined;
  #timer: unknown;
  /** undefined: there was none. */
  #waiters: Set<Waiter> | undefined;
  /** The newest sample that `#link` brought. */
  #newest: HostSample | undefined;
  /** When the newest sample was taken, also when the host has gone; of the hub's clock, in milliseconds. */
  takenAtMs: number | undefined;

  constructor(deps: RemoteDeps, owner: UpstreamOwner, withDetail: boolean) {
    this.#deps = deps;
    this.#owner = owner;
    this.#withDetail = withDetail;
  }

  get isWanted(): boolean {
    return this.#subscribers.size > 0;
  }

  /** Its stream is open, or being opened. */
  get isLinked(): boolean {
    return this.#link !== undefined || this.#next !== undefined;
  }

  /** The newest sample, while the host is there. */
  get current(): HostSample | undefined {
    return this.#newest;
  }

  subscribe(view: View, sink?: SampleSink): SampleSubscription {
    const subscriber = { view, sink };
    this.#subscribers.add(subscriber);
    this.#update();
    if (this.#subscribers.size === 1) this.#owner.changed();
    return {
      newest: () => (this.#newest?.has(view) === true ? this.#newest : undefined),
      end: () => {
        if (!this.#subscribers.delete(subscriber)) return;
        this.#update();
        if (!this.isWanted) this.#owner.changed();
      },
    };
  }

  /** As Machine.first, with the newest sample that has `view`, otherwise the next one. */
  async first<T>(view: View, begin: (sample: HostSample) => T): Promise<T> {
    const subscription = this.subscribe(view);
    const newest = () => (this.#newest?.has(view) === true ? this.#newest : undefined);
    try {
      const first = newest() ?? (await this.#nextWith(view));
      // One read may have brought more samples: without the newest one it would never be sent.
      return begin(newest() ?? first);
    } finally {
      subscription.end();
    }
  }

  /** Opens the stream from the agent, or another one where it has other sections than are wanted. */
  connect(): void {
    if (!this.isWanted || this.#next?.sections === this.#union) return;
    this.#next?.request.close();
    this.#next = undefined;
    if (this.#link?.sections !== this.#union) this.#next = this.#open(this.#union);
  }

  /** Ends the stream from the agent; viewers stay. */
  disconnect(): void {
    this.#link?.request.close();
    this.#next?.request.close();
    this.#unlink();
    this.#next = undefined;
    this.#deps.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** Ends its stream, and those of its subscribers. */
  close(): void {
    this.disconnect();
    for (const waiter of this.#waiters ?? [])
      waiter.reject(new ServiceError('shutting_down', 'It is going away.'));
    for (const { sink } of [...this.#subscribers]) sink?.close();
  }

  /** Rejects with ServiceError. */
  async #nextWith(view: View): Promise<HostSample> {
    if (!this.#owner.isUp) throw this.#owner.refusal();
    const { clock, times } = this.#deps;
    let waiter: Waiter | undefined;
    let timer: unknown;
    try {
      return await new Promise<HostSample>((resolve, reject) => {
        waiter = { view, resolve, reject };
        this.#waiters ??= new Set();
        this.#waiters.add(waiter);
        const late = new ServiceError('host_unreachable', 'The machine sent no sample in time.');
        timer = clock.setTimer(() => reject(late), times.firstSampleMs);
      });
    } finally {
      clock.clearTimer(timer);
      if (waiter !== undefined) this.#waiters?.delete(waiter);
    }
  }

  #update(): void {
    let union = 0;
    for (const { view } of this.#subscribers) union |= view.sections;
    this.#union = union;
    const asked = (this.#next ?? this.#link)?.sections;
    if (!this.isWanted || asked === undefined || asked === union) return;
    if ((union & ~asked) !== 0) this.connect();
    else this.#connectIn(this.#deps.times.shrinkMs);
  }

  #connectIn(delayMs: number): void {
    this.#timer ??= this.#deps.clock.setTimer(() => {
      this.#timer = undefined;
      if (this.isLinked) this.connect();
    }, delayMs);
  }

  #open(sections: number): Link {
    this.#deps.counters.connections++;
    const request = this.#owner.openStream(sections, this.#withDetail, {
      onSample: (sample) => this.#take(link, sample),
      onEnd: (failure) => this.#failed(link, failure),
    });
    const link = { sections, request };
    return link;
  }

  /** A host that is gone keeps none of the hub's memory: a sample may have 1 MiB. */
  #unlink(): void {
    this.#link = undefined;
    this.#newest = undefined;
    for (const { sink } of this.#subscribers) sink?.forget();
  }

  #take(link: Link, sample: HostSample): void {
    const { counters } = this.#deps;
    const isFirst = link === this.#next;
    // It was closed while its last bytes were cut into events.
    if (!isFirst && link !== this.#link) return;
    // Before anything is passed on: what one machine sends must not cut or confuse viewers of many.
    const { flaw } = sample;
    if (flaw !== undefined) throw new BadSample(flaw);
    if (isFirst) {
      this.#link?.request.close();
      this.#link = link;
      this.#next = undefined;
    }
    counters.samples++;
    counters.sampleBytes += sample.byteLength;
    this.#newest = sample;
    this.takenAtMs = sample.takenAtMs;
    this.#owner.heard();
    for (const { view, resolve } of this.#waiters ?? []) if (sample.has(view)) resolve(sample);
    for (const { view, sink } of this.#subscribers) if (sample.has(view)) sink?.publish(sample);
  }

  #failed(link: Link, failure: Failure): void {
    this.#deps.counters.failures++;
    if (link === this.#next) this.#next = undefined;
    else this.#unlink();
    // While the other one is open, the host is there; for more sections it is asked again later.
    if (this.isLinked) {
      this.#connectIn(this.#deps.times.maxDelayMs);
      return;
    }
    this.#owner.failed(failure);
    if (this.#owner.isUp) return;
    for (const { reject } of this.#waiters ?? []) reject(this.#owner.refusal());
  }
}
