/** The topics of agents, as a hub uses them (docs/hub-protocol.md). */

/** Where a message came from, and what it is. */
export interface Heard {
  /** The id of the agent. */
  readonly id: string;
  readonly kind: 'status' | 'feedback' | Leased;
}

/** The kinds of messages that an agent sends only while a hub wants them. */
export type Leased = 'sample' | 'media' | 'power' | 'event';

const LEASED: ReadonlySet<string> = new Set<Leased>(['sample', 'media', 'power', 'event']);
export const isLeased = (end: string): end is Leased => LEASED.has(end);

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** In one packet. */
const MAX_TOPICS = 500;

/** `topics`, as many at a time as one packet has. */
export function* packetsOf(topics: readonly string[]): Iterable<readonly string[]> {
  for (let at = 0; at < topics.length; at += MAX_TOPICS) yield topics.slice(at, at + MAX_TOPICS);
}

export class AgentTopics {
  readonly #base: string;
  readonly #feedback: string;

  /** `topic`: what all begin with; `hub`: the name of this hub. */
  constructor(topic: string, hub: string) {
    this.#base = `${topic}/`;
    this.#feedback = `feedback/${hub}`;
  }

  /** The filter for the states of all agents. */
  get states(): string {
    return `${this.#base}+/hub/status`;
  }

  /** The filter for all answers to this hub. */
  get answers(): string {
    return `${this.#base}+/hub/${this.#feedback}`;
  }

  leased(id: string, kind: Leased): string {
    return `${this.#base}${id}/hub/${kind}`;
  }

  want(id: string): string {
    return `${this.#base}${id}/hub/want`;
  }

  /** `name`: `power.sleep`, or `get` for a question. */
  command(id: string, name: string): string {
    return `${this.#base}${id}/hub/cmd/${name.replace('.', '/')}`;
  }

  /** undefined: no agent sends on it, or not to this hub. */
  read(topic: string): Heard | undefined {
    const idEnd = topic.indexOf('/', this.#base.length);
    const id = topic.slice(this.#base.length, Math.max(0, idEnd));
    if (!topic.startsWith(this.#base) || !topic.startsWith('/hub/', idEnd) || !ID.test(id)) return undefined;
    const end = topic.slice(idEnd + '/hub/'.length);
    if (end === 'status' || isLeased(end)) return { id, kind: end };
    return end === this.#feedback ? { id, kind: 'feedback' } : undefined;
  }
}
