/** What a program wants to be subscribed to: kept over every loss of the connection, and asked for again after it. */

export interface Wanted {
  readonly topics: readonly string[];
  readonly detail: boolean;
}

export interface Change {
  readonly kind: 'replace' | 'add' | 'remove';
  /** Without them `remove` means all. */
  readonly topics: readonly string[] | undefined;
  /** Topics that are added cannot take it back: all stats of a socket are with detail, or without. */
  readonly detail: boolean | undefined;
}

const NOTHING: Wanted = { topics: [], detail: false };
const SECTIONS = ['cpu', 'memory', 'gpu', 'disks', 'network'];

/** By the names that no other name stands for: `stats` is its five parts, and a bare part one of them. */
function spelt(topics: readonly string[] = []): readonly string[] {
  return topics.flatMap((topic) => {
    if (topic === 'stats') return SECTIONS.map((section) => `stats.${section}`);
    return SECTIONS.includes(topic) ? `stats.${topic}` : topic;
  });
}

function changed(wanted: Wanted, { kind, topics, detail }: Change): Wanted {
  switch (kind) {
    case 'replace':
      return { topics: [...new Set(spelt(topics))], detail: detail ?? false };
    case 'add':
      return {
        topics: [...new Set([...wanted.topics, ...spelt(topics)])],
        detail: detail === true || wanted.detail,
      };
    case 'remove': {
      if (topics === undefined) return NOTHING;
      const gone = spelt(topics);
      return { ...wanted, topics: wanted.topics.filter((topic) => !gone.includes(topic)) };
    }
  }
}

/** What was answered, and the changes that are asked for and not answered yet, in their order. */
export class Subscriptions {
  #answered = NOTHING;
  readonly #asked = new Set<Change>();

  /** What is wanted once every change is answered. */
  get wanted(): Wanted {
    return [...this.#asked].reduce(changed, this.#answered);
  }

  ask(change: Change): void {
    this.#asked.add(change);
  }

  /** The service has answered `change`. */
  accept(change: Change): void {
    if (this.#asked.delete(change)) this.#answered = changed(this.#answered, change);
  }

  /** The service has refused `change`, or nobody wants it any more. */
  drop(change: Change): void {
    this.#asked.delete(change);
  }
}
