/** The wanted subscriptions of a program, kept across lost connections. */
import type { Section } from './payload.ts';

export interface Wanted {
  readonly topics: readonly string[];
  readonly detail: boolean;
}

export interface Change {
  readonly kind: 'replace' | 'add' | 'remove';
  /** undefined: `remove` removes all. */
  readonly topics: readonly string[] | undefined;
  /** All stats of a socket are with detail or without, so adding topics cannot turn it off. */
  readonly detail: boolean | undefined;
}

const NOTHING: Wanted = { topics: [], detail: false };
/** Canonical topics by their short names; the compiler sees to it that no section is missing. */
const TOPIC_BY_SECTION: Readonly<Record<Section, string>> = {
  cpu: 'stats.cpu',
  memory: 'stats.memory',
  gpu: 'stats.gpu',
  disks: 'stats.disks',
  network: 'stats.network',
};
const CANONICAL_TOPICS: ReadonlyMap<string, string> = new Map(Object.entries(TOPIC_BY_SECTION));

/** By canonical names: `stats` stands for its five sections, and a bare section for its topic. */
function canonical(topics: readonly string[] = []): readonly string[] {
  return topics.flatMap((topic) =>
    topic === 'stats' ? [...CANONICAL_TOPICS.values()] : (CANONICAL_TOPICS.get(topic) ?? topic),
  );
}

function changed(wanted: Wanted, { kind, topics, detail }: Change): Wanted {
  switch (kind) {
    case 'replace':
      return { topics: [...new Set(canonical(topics))], detail: detail ?? false };
    case 'add':
      return {
        topics: [...new Set([...wanted.topics, ...canonical(topics)])],
        detail: detail === true || wanted.detail,
      };
    case 'remove': {
      if (topics === undefined) return NOTHING;
      const gone = canonical(topics);
      return { ...wanted, topics: wanted.topics.filter((topic) => !gone.includes(topic)) };
    }
  }
}

/** The subscriptions that the service has confirmed, and the requested changes that it has not, in order. */
export class Subscriptions {
  #answered = NOTHING;
  readonly #asked = new Set<Change>();

  /** The subscriptions once every requested change is confirmed. */
  get wanted(): Wanted {
    return [...this.#asked].reduce(changed, this.#answered);
  }

  ask(change: Change): void {
    this.#asked.add(change);
  }

  /** The service has confirmed `change`. */
  accept(change: Change): void {
    if (this.#asked.delete(change)) this.#answered = changed(this.#answered, change);
  }

  /** The service has refused `change`, or its caller has aborted it. */
  drop(change: Change): void {
    this.#asked.delete(change);
  }
}
