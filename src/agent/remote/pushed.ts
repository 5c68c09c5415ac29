/** The topics that a machine sends on its own while they are followed: media, power, events of watch rules. */

import type { TopicSink } from '../../machine/machine.ts';
import type { Leased } from '../protocol/agent-topics.ts';
import { readJsonObject } from '../protocol/json.ts';

/** A follower of a topic that a machine sends on its own. */
export type PushedSink = Pick<TopicSink, 'onPayload' | 'onLost'>;

/** The message `want` of a hub, without its name. */
export interface InterestMessage {
  readonly sections: readonly string[];
  readonly detail?: readonly string[];
  readonly topics?: readonly PushedTopic[];
}

/** As in the message. */
export type PushedTopic = 'media' | 'power' | 'events';

const KINDS: Readonly<Record<PushedTopic, Leased>> = { media: 'media', power: 'power', events: 'event' };
/** A longer payload is not the service's. */
const MAX_BYTES = 64 * 1024;

const isPushed = (name: string): name is PushedTopic => Object.hasOwn(KINDS, name);

export class PushedTopics {
  readonly #onInterest: () => void;
  readonly #sinks = new Map<PushedTopic, Set<PushedSink>>();

  /** `onInterest`: called when something else is wanted. */
  constructor(onInterest: () => void) {
    this.#onInterest = onInterest;
  }

  get isWanted(): boolean {
    return this.#sinks.size > 0;
  }

  /** The topics that are followed. */
  get names(): readonly PushedTopic[] {
    return [...this.#sinks.keys()].sort();
  }

  /** `interest`: in samples. */
  addTo(interest: InterestMessage | undefined): InterestMessage | undefined {
    return this.isWanted ? { sections: [], ...interest, topics: this.names } : interest;
  }

  /** Returns a function that ends it; undefined: a machine does not send this topic on its own. */
  follow(name: string, sink: PushedSink): (() => void) | undefined {
    if (!isPushed(name)) return undefined;
    const sinks = this.#sinks.get(name) ?? new Set();
    sinks.add(sink);
    if (sinks.size === 1) {
      this.#sinks.set(name, sinks);
      this.#onInterest();
    }
    return () => {
      if (!sinks.delete(sink) || sinks.size > 0) return;
      this.#sinks.delete(name);
      this.#onInterest();
    };
  }

  /** A message on the topic of that name. */
  take(kind: Leased, payload: Buffer): void {
    const name = this.names.find((each) => KINDS[each] === kind);
    const json = name === undefined ? undefined : readObject(payload);
    if (name === undefined || json === undefined) return;
    for (const sink of [...(this.#sinks.get(name) ?? [])]) sink.onPayload(json);
  }

  /** The machine is gone, or has started again. */
  lost(): void {
    for (const sinks of this.#sinks.values()) for (const { onLost } of [...sinks]) onLost();
    this.renew();
  }

  /** It is there, or no longer: what is wanted of it is another thing. */
  renew(): void {
    if (this.isWanted) this.#onInterest();
  }
}

export const kindOf = (name: PushedTopic): Leased => KINDS[name];

/** The text as JSON.stringify writes it, as that of an answer; undefined: it is not an object that may be passed on. */
function readObject(payload: Buffer): string | undefined {
  const value = payload.length > MAX_BYTES ? undefined : readJsonObject(payload);
  return value && JSON.stringify(value);
}
