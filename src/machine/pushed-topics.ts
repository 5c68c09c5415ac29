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
  readonly #onChange: () => void;
  /** A list: of thousands of machines each has one, or a few. */
  #followed: readonly Followed[] = [];

  /** `onChange`: called when something else is wanted. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
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
    this.#replace([...this.#followed, followed]);
    return () => this.#replace(this.#followed.filter((each) => each !== followed));
  }

  #replace(followed: readonly Followed[]): void {
    const before = this.names.join();
    this.#followed = followed;
    if (this.names.join() !== before) this.#onChange();
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
