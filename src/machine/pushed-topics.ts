/** The topics that a machine elsewhere sends on its own while they are followed: media, power, events. */
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
/** A longer payload is not the service's. */
const MAX_BYTES = 64 * 1024;

export class PushedTopics {
  readonly #onChange: () => void;
  readonly #sinks = new Map<PushedTopic, Set<PushedSink>>();

  /** `onChange`: called when something else is wanted. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The topics that are followed. */
  get names(): readonly PushedTopic[] {
    return [...this.#sinks.keys()].sort();
  }

  /** Whether viewers follow one; the hub itself follows the events of every machine. */
  get isWatched(): boolean {
    return this.names.some((name) => name !== 'events');
  }

  /** Returns a function that ends it; undefined: a machine does not send this topic on its own. */
  follow(name: string, sink: PushedSink): (() => void) | undefined {
    if (!isPushed(name)) return undefined;
    const sinks = this.#sinks.get(name) ?? new Set();
    sinks.add(sink);
    if (sinks.size === 1) {
      this.#sinks.set(name, sinks);
      this.#onChange();
    }
    return () => {
      if (!sinks.delete(sink) || sinks.size > 0) return;
      this.#sinks.delete(name);
      this.#onChange();
    };
  }

  /** Takes the data of a message of this type. */
  take(type: string, data: JsonObject, bytes: number): void {
    const name = EVENTS[type];
    const sinks = name && bytes <= MAX_BYTES ? this.#sinks.get(name) : undefined;
    if (sinks === undefined) return;
    const json = JSON.stringify(data);
    for (const { onPayload } of [...sinks]) onPayload(json);
  }

  /** The machine is gone, or has started again. */
  lost(): void {
    for (const sinks of this.#sinks.values()) for (const { onLost } of [...sinks]) onLost();
  }
}
