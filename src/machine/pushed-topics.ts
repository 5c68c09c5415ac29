/** The topics that a machine elsewhere sends on its own while they are followed: media, power, events. */
import { QUOTAS } from '../fairness/limits.ts';
import type { JsonObject } from '../json.ts';
import type { TopicSink } from './machine.ts';

/** A follower of such a topic. */
export type PushedSink = Pick<TopicSink, 'onPayload' | 'onLost'>;

type PushedTopic = 'media' | 'power' | 'events';

const EVENTS: Readonly<Record<string, PushedTopic>> = {
  media_update: 'media',
  power_update: 'power',
  event: 'events',
};
const isPushed = (name: string): name is PushedTopic => Object.values<string>(EVENTS).includes(name);

interface Followed {
  readonly name: PushedTopic;
  readonly sink: PushedSink;
}

export class PushedTopics {
  readonly #machine: { readonly want: () => void };
  /** A list: of thousands of machines each has one, or a few. */
  #followed: readonly Followed[] = [];

  /** `machine`: `want` is called when something else is wanted. */
  constructor(machine: { readonly want: () => void }) {
    this.#machine = machine;
  }

  /** The topics that are followed. */
  get names(): readonly PushedTopic[] {
    return [...new Set(this.#followed.map(({ name }) => name))].sort();
  }

  /** Whether viewers follow one; the hub itself follows the events of every machine. */
  get isWatched(): boolean {
    return this.#followed.some(({ name }) => name !== 'events');
  }

  /** Returns a function that ends it; undefined: a machine does not send this topic on its own. */
  follow(name: string, sink: PushedSink): (() => void) | undefined {
    if (!isPushed(name)) return undefined;
    const followed = { name, sink };
    // Not `[...]`, which leaves room for 16 more.
    this.#replace(this.#followed.concat(followed));
    return () => this.#replace(this.#followed.filter((each) => each !== followed));
  }

  #replace(followed: readonly Followed[]): void {
    const before = this.names.join();
    this.#followed = followed;
    if (this.names.join() !== before) this.#machine.want();
  }

  /** Takes the data of a message of this type. */
  take(type: string, data: JsonObject, bytes: number): void {
    const wanted =
      bytes <= QUOTAS.pushedTopic.maxBytes ? this.#followed.filter(({ name }) => name === EVENTS[type]) : [];
    if (wanted.length === 0) return;
    const json = JSON.stringify(data);
    for (const { sink } of wanted) sink.onPayload(json);
  }

  /** The machine is gone, or has started again. */
  lost(): void {
    for (const { sink } of this.#followed) sink.onLost();
  }
}
