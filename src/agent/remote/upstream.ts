/**
 * The samples of one host, plain or detailed: what its subscribers want together, and the newest sample. Two upstreams at
 * most, because neither form can be made from the other.
 */
import { ServiceError } from '../../errors.ts';
import { SECTION_BITS } from '../../host/host.ts';
import type { View } from '../../stats/view.ts';
import type { MachineSink, MachineSubscription } from '../../streams/sample.ts';
import type { RemoteDeps } from './deps.ts';
import { BadSample } from './failure.ts';
import type { HostSample } from './sample.ts';

/** The host of an upstream. */
export interface UpstreamOwner {
  readonly isUp: boolean;
  /** An upstream is wanted that was not, or the reverse. */
  changed(): void;
  /** Other sections are to be asked for. */
  onInterest(): void;
  /** The error for viewers of a host that is not up. */
  refusal(): ServiceError;
}

interface Subscriber {
  readonly view: View;
  readonly sink: MachineSink | undefined;
}

interface Waiter {
  readonly view: View;
  readonly resolve: (sample: HostSample) => void;
  readonly reject: (error: Error) => void;
}

export class Upstream {
  readonly #deps: RemoteDeps;
  readonly #owner: UpstreamOwner;
  readonly withDetail: boolean;
  readonly #subscribers = new Set<Subscriber>();
  /** The sections of their views. */
  #union = 0;
  /** The sections that the host is asked for; undefined: it is asked for nothing. */
  #asked: number | undefined;
  /** Asks for fewer sections. */
  #timer: unknown;
  /** undefined: there was none. */
  #waiters: Set<Waiter> | undefined;
  /** The newest sample since the host is asked. */
  #newest: HostSample | undefined;
  /** When the newest sample was taken, also when the host has gone; of the hub's clock, in milliseconds. */
  takenAtMs: number | undefined;

  constructor(deps: RemoteDeps, owner: UpstreamOwner, withDetail: boolean) {
    this.#deps = deps;
    this.#owner = owner;
    this.withDetail = withDetail;
  }

  get isWanted(): boolean {
    return this.#subscribers.size > 0;
  }

  /** The sections that the host is to be asked for; undefined: nothing. */
  get asked(): number | undefined {
    // A message of no section wants nothing at all; the time comes with any.
    return this.#asked === 0 && !this.withDetail ? SECTION_BITS.memory : this.#asked;
  }

  /** The newest sample, while the host is there. */
  get current(): HostSample | undefined {
    return this.#newest;
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    const subscriber = { view, sink };
    this.#subscribers.add(subscriber);
    this.#update();
    if (this.#subscribers.size === 1) this.#owner.changed();
    return {
      newest: () => this.#newestWith(view),
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
    try {
      const first = this.#newestWith(view) ?? (await this.#next(view));
      // One read may have brought more samples: without the newest one it would never be sent.
      return begin(this.#newestWith(view) ?? first);
    } finally {
      subscription.end();
    }
  }

  /** Asks the host for what is wanted. */
  ask(): void {
    if (!this.isWanted || this.#asked === this.#union) return;
    this.#asked = this.#union;
    this.#deps.counters.connections++;
    this.#owner.onInterest();
  }

  /** The host is gone, or was given up; subscribers stay. */
  lost(): void {
    if (this.#asked === undefined) return;
    this.#deps.counters.failures++;
    this.#forget();
    for (const { reject } of this.#waiters ?? []) reject(this.#owner.refusal());
  }

  /** Asks for nothing any more, and ends the streams of its subscribers. */
  close(): void {
    if (this.#asked !== undefined) this.#forget();
    for (const waiter of this.#waiters ?? [])
      waiter.reject(new ServiceError('shutting_down', 'It is going away.'));
    for (const { sink } of [...this.#subscribers]) sink?.close();
  }

  /** Throws BadSample. */
  take(sample: HostSample): void {
    // Before anything is passed on: what one machine sends must not cut or confuse viewers of many.
    const flaw = sample.check();
    if (flaw !== undefined) throw new BadSample(flaw);
    const { counters } = this.#deps;
    counters.samples++;
    counters.sampleBytes += sample.byteLength;
    this.#newest = sample;
    this.takenAtMs = sample.takenAtMs;
    for (const { view, resolve } of this.#waiters ?? []) if (sample.has(view)) resolve(sample);
    for (const { view, sink } of this.#subscribers) if (sample.has(view)) sink?.publish(sample);
  }

  #newestWith(view: View): HostSample | undefined {
    return this.#newest?.has(view) === true ? this.#newest : undefined;
  }

  /** Rejects with ServiceError. */
  async #next(view: View): Promise<HostSample> {
    if (!this.#owner.isUp) throw this.#owner.refusal();
    const { clock, times } = this.#deps;
    let waiter: Waiter | undefined;
    let timer: unknown;
    try {
      return await new Promise<HostSample>((resolve, reject) => {
        waiter = { view, resolve, reject };
        this.#waiters ??= new Set();
        this.#waiters.add(waiter);
        const late = new ServiceError('host_unreachable', 'The machine sent no sample within the timeout.');
        timer = clock.setTimer(() => reject(late), times.firstSampleMs);
      });
    } finally {
      clock.clearTimer(timer);
      if (waiter !== undefined) this.#waiters?.delete(waiter);
    }
  }

  #update(): void {
    this.#union = [...this.#subscribers].reduce((sections, { view }) => sections | view.sections, 0);
    if (!this.isWanted || this.#asked === undefined || this.#asked === this.#union) return;
    if ((this.#union & ~this.#asked) !== 0) this.ask();
    else
      this.#timer ??= this.#deps.clock.setTimer(() => {
        this.#timer = undefined;
        if (this.#asked !== undefined) this.ask();
      }, this.#deps.times.shrinkMs);
  }

  /** A host that is gone keeps none of the hub's memory: a sample may have 1 MiB. */
  #forget(): void {
    this.#asked = undefined;
    this.#newest = undefined;
    this.#deps.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    for (const { sink } of this.#subscribers) sink?.forget();
    this.#owner.onInterest();
  }
}
