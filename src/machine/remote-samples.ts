/** The samples of one machine elsewhere: what its subscribers want together, and the newest one. */
import { ServiceError } from '../errors.ts';
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../host/host.ts';
import type { JsonObject } from '../json.ts';
import type { View } from '../stats/view.ts';
import type { MachineSink, MachineSubscription } from '../streams/sample.ts';
import type { RemoteDeps } from './remote-deps.ts';
import { RemoteSample } from './remote-sample.ts';
import { findMalformed } from './sample-shape.ts';

/** The machine that the samples are of. */
export interface Sampled {
  readonly isUp: boolean;
  /** Something else is to be asked for. */
  want(): void;
  /** The error for viewers while it is not up. */
  refusal(): ServiceError;
}

/** What a machine is asked for. */
interface Wanted {
  readonly sections: number;
  readonly withDetail: boolean;
}

interface Subscriber {
  readonly view: View;
  readonly sink: MachineSink | undefined;
}

interface Waiter {
  readonly view: View;
  readonly resolve: (sample: RemoteSample) => void;
  readonly reject: (error: Error) => void;
}

export class RemoteSamples {
  readonly #hub: Pick<RemoteDeps, 'clock' | 'times'>;
  readonly #machine: Sampled;
  readonly #subscribers = new Set<Subscriber>();
  /** undefined: none. Thousands of machines are watched. */
  #waiters: Set<Waiter> | undefined;
  /** What the machine is asked for; undefined: nothing. */
  #asked: Wanted | undefined;
  /** Asks for less. */
  #timer: unknown;
  #newest: RemoteSample | undefined;
  /** When the newest one was taken, also when the machine has gone; undefined while none is wanted. Milliseconds of the hub's clock. */
  takenAtMs: number | undefined;

  constructor(hub: Pick<RemoteDeps, 'clock' | 'times'>, machine: Sampled) {
    this.#hub = hub;
    this.#machine = machine;
  }

  get isWanted(): boolean {
    return this.#subscribers.size > 0;
  }

  /** The newest one, while the machine is there. */
  get newest(): RemoteSample | undefined {
    return this.#newest;
  }

  get withDetail(): boolean {
    return this.#asked?.withDetail === true;
  }

  /** The topics to subscribe to. */
  get topics(): readonly string[] {
    if (this.#asked === undefined) return [];
    const { sections } = this.#asked;
    if (sections === ALL_SECTIONS) return ['stats'];
    // Time and uptime come with any.
    const bits = sections === 0 ? SECTION_BITS.memory : sections;
    return SECTIONS.filter((name) => (bits & SECTION_BITS[name]) !== 0).map((name) => `stats.${name}`);
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    const subscriber = { view, sink };
    this.#subscribers.add(subscriber);
    this.#update();
    return {
      newest: () => this.newestWith(view),
      end: () => {
        if (this.#subscribers.delete(subscriber)) this.#update();
      },
    };
  }

  /** As Machine.first, with the newest sample that has `view`, otherwise the next one. */
  async first<T>(view: View, begin: (sample: RemoteSample) => T): Promise<T> {
    const subscription = this.subscribe(view);
    try {
      const first = this.newestWith(view) ?? (await this.#next(view));
      // One read may have brought more samples: without the newest one it would never be sent.
      return begin(this.newestWith(view) ?? first);
    } finally {
      subscription.end();
    }
  }

  newestWith(view: View): RemoteSample | undefined {
    return this.#newest?.has(view) === true ? this.#newest : undefined;
  }

  /** Takes a payload that has just arrived. Returns why it is not passed on, without a byte of it. */
  take(payload: JsonObject): string | undefined {
    // One that was under way when nothing was wanted any more.
    if (this.#asked === undefined) return undefined;
    // Before anything is passed on: what one machine sends must not cut or confuse viewers of many.
    const malformed = findMalformed(payload);
    if (malformed !== undefined) return `its samples are malformed: ${malformed}`;
    const { sections, withDetail } = this.#sectionsIn(payload, this.#asked);
    const sample = new RemoteSample(payload, sections, withDetail, this.#hub.clock.now());
    this.#newest = sample;
    this.takenAtMs = sample.takenAtMs;
    for (const { view, resolve } of this.#waiters ?? []) if (sample.has(view)) resolve(sample);
    for (const { view, sink } of this.#subscribers) if (sample.has(view)) sink?.publish(sample);
    return undefined;
  }

  /** The machine is gone, or given up; subscribers stay. A sample may have 1 MiB: nothing is kept of it. */
  lost(refusal: ServiceError): void {
    this.#newest = undefined;
    for (const { sink } of this.#subscribers) sink?.forget();
    for (const { reject } of [...(this.#waiters ?? [])]) reject(refusal);
  }

  /** Ends the streams of its subscribers. */
  close(): void {
    this.#hub.clock.clearTimer(this.#timer);
    this.lost(new ServiceError('shutting_down', 'It is going away.'));
    for (const { sink } of [...this.#subscribers]) sink?.close();
  }

  /** A sample that was under way when something else was asked for may have fewer sections, or no detail. */
  #sectionsIn(payload: JsonObject, { sections, withDetail }: Wanted): Wanted {
    const present = SECTIONS.filter((name) => payload[name] !== undefined).reduce(
      (bits, name) => bits | SECTION_BITS[name],
      0,
    );
    return {
      sections: sections & present,
      withDetail: withDetail && payload['interval_seconds'] !== undefined,
    };
  }

  /** Rejects with ServiceError. */
  async #next(view: View): Promise<RemoteSample> {
    if (!this.#machine.isUp) throw this.#machine.refusal();
    const { clock, times } = this.#hub;
    let waiter: Waiter | undefined;
    let timer: unknown;
    try {
      return await new Promise<RemoteSample>((resolve, reject) => {
        waiter = { view, resolve, reject };
        this.#waiters ??= new Set();
        this.#waiters.add(waiter);
        const late = new ServiceError('host_unreachable', 'The machine sent no sample within the timeout.');
        timer = clock.setTimer(() => reject(late), times.firstSampleMs);
      });
    } finally {
      clock.clearTimer(timer);
      if (waiter !== undefined) this.#waiters?.delete(waiter);
      if (this.#waiters?.size === 0) this.#waiters = undefined;
    }
  }

  /** More is asked for immediately; less after a while, and nothing at once where no viewer is left. */
  #update(): void {
    const views = [...this.#subscribers].map(({ view }) => view);
    const wanted = this.isWanted
      ? {
          sections: views.reduce((sections, view) => sections | view.sections, 0),
          withDetail: views.some(({ withDetail }) => withDetail),
        }
      : undefined;
    const asked = this.#asked;
    const { clock, times } = this.#hub;
    clock.clearTimer(this.#timer);
    this.#timer = undefined;
    if (wanted === undefined || asked === undefined) {
      if (wanted === undefined) {
        this.#newest = undefined;
        this.takenAtMs = undefined;
      }
      this.#ask(wanted);
      return;
    }
    const isMore = (wanted.sections & ~asked.sections) !== 0 || (wanted.withDetail && !asked.withDetail);
    const isSame = wanted.sections === asked.sections && wanted.withDetail === asked.withDetail;
    if (isMore)
      this.#ask({
        sections: wanted.sections | asked.sections,
        withDetail: wanted.withDetail || asked.withDetail,
      });
    if (!isSame)
      this.#timer = clock.setTimer(() => {
        this.#timer = undefined;
        this.#ask(wanted);
      }, times.shrinkMs);
  }

  #ask(wanted: Wanted | undefined): void {
    const { sections, withDetail } = this.#asked ?? {};
    const isSame = wanted?.sections === sections && wanted?.withDetail === withDetail;
    this.#asked = wanted;
    if (!isSame) this.#machine.want();
  }
}
