/** The topics of machines to which a hub is subscribed while it has an interest in their messages. */
import type { AgentTopics, Leased } from '../../protocol/agent-topics.ts';
import { kindOf } from '../../remote/pushed.ts';
import type { RemoteHost } from '../../remote/remote.ts';

/** Returns the kinds of messages that a machine sends for the present interest in it. */
function kindsOf({ interest }: RemoteHost): readonly Leased[] {
  if (interest === undefined) return [];
  const { sections, detail, topics = [] } = interest;
  const hasSamples = sections.length > 0 || detail !== undefined;
  return [...(hasSamples ? (['sample'] as const) : []), ...topics.map(kindOf)];
}

export class LeasedTopics {
  readonly #topics: AgentTopics;
  /** The kinds of messages that are subscribed to. */
  readonly #subscribed = new Map<RemoteHost, readonly Leased[]>();

  constructor(topics: AgentTopics) {
    this.#topics = topics;
  }

  /** The connection is lost, and its subscriptions with it. */
  clear(): void {
    this.#subscribed.clear();
  }

  /** Follows the present interest in these machines: returns the topics to subscribe to, and those to unsubscribe from. */
  move(changed: readonly RemoteHost[]): {
    readonly begun: readonly string[];
    readonly over: readonly string[];
  } {
    const begun: string[] = [];
    const over: string[] = [];
    for (const host of changed) {
      const before = this.#subscribed.get(host) ?? [];
      const now = kindsOf(host);
      const topicOf = (kind: Leased) => this.#topics.leased(host.id, kind);
      begun.push(...now.filter((kind) => !before.includes(kind)).map(topicOf));
      over.push(...before.filter((kind) => !now.includes(kind)).map(topicOf));
      if (now.length > 0) this.#subscribed.set(host, now);
      else this.#subscribed.delete(host);
    }
    return { begun, over };
  }
}
