/** The samples of this machine: those of the sampler, for all views. */
import type { SampleSource } from '../stats/source.ts';
import type { Encoded, View } from '../stats/view.ts';
import type { SampleFeed, SampleSink } from './machine.ts';

export class LocalSamples implements SampleFeed {
  readonly #source: SampleSource;
  sink: SampleSink | undefined;

  constructor(source: SampleSource) {
    this.#source = source;
  }

  subscribe(view: View): void {
    this.#source.subscribe(view);
  }

  unsubscribe(view: View): void {
    this.#source.unsubscribe(view);
  }

  first(view: View): Encoded | Promise<Encoded> {
    return this.#source.peek(view) ?? this.#source.latest(view);
  }

  /** Takes the sample of each tick. */
  publish(encoded: Encoded): void {
    this.sink?.publish(encoded);
  }
}
