/** Keeps the subscriptions of a hub's socket: per machine, sent again after each loss in as few messages as possible. */
import { ClientError } from './errors.ts';
import type { Message } from './messages.ts';
import { check, type Sender, type Settlement } from './pending.ts';

/** Machines per message: each may have 64 characters, a message 16 KiB. */
const MAX_HOSTS = 100;

export interface HostTopics {
  readonly topics: readonly string[];
  readonly detail: boolean;
}

/** Which machines of a subscription the hub does not know. */
export interface HubSubscribed {
  readonly unknown: readonly string[];
}

/** Takes one answer per machine. */
function answersOf(hosts: readonly string[]): (message: Message) => Settlement<readonly string[]> {
  const missing = new Set<unknown>(hosts);
  const unknown: string[] = [];
  return (message) => {
    const { type, host, data } = message;
    // The shape of the hub's errors.
    const isUnknown = type === 'error' && (data as { readonly code?: unknown }).code === 'NOT_FOUND';
    if (isUnknown && typeof host === 'string') unknown.push(host);
    else check(message);
    missing.delete(host);
    return missing.size === 0 ? { done: unknown } : undefined;
  };
}

export class HubSubscriber {
  readonly #requests: Sender;
  readonly #onRefused: (error: ClientError) => void;
  readonly #wanted = new Map<string, HostTopics>();
  /** Subscriptions that await an answer: `open` does not request them again after a loss. */
  readonly #asked = new Map<string, number>();

  /** `onRefused`: called when the hub refuses, after a loss, what it had accepted before. */
  constructor(requests: Sender, onRefused: (error: ClientError) => void) {
    this.#requests = requests;
    this.#onRefused = onRefused;
  }

  /** Replaces what is subscribed to of these machines; of others it stays. */
  async subscribe(hosts: readonly string[], wanted: HostTopics): Promise<HubSubscribed> {
    for (const host of hosts) this.#wanted.set(host, wanted);
    return { unknown: await this.#ask(hosts) };
  }

  /** Default: all. */
  unsubscribe(hosts: readonly string[] = [...this.#wanted.keys()]): void {
    const known = hosts.filter((host) => this.#wanted.delete(host));
    if (!this.#requests.isOpen) return;
    for (const some of partsOf(known)) void this.#send('unsubscribe', some, {}).catch(() => undefined);
  }

  /** A new connection is open, with no subscriptions yet. */
  open(): void {
    const hosts = [...this.#wanted.keys()].filter((host) => !this.#asked.has(host));
    this.#ask(hosts).catch((error: unknown) => {
      if (error instanceof ClientError && this.#requests.end === undefined) this.#onRefused(error);
    });
  }

  /** Subscribes to what is wanted of these machines now; resolves with those that are unknown. */
  async #ask(hosts: readonly string[]): Promise<readonly string[]> {
    const groups = new Map<string, string[]>();
    for (const host of hosts) {
      const wanted = this.#wanted.get(host);
      if (wanted === undefined) continue;
      const key = JSON.stringify(wanted);
      groups.set(key, [...(groups.get(key) ?? []), host]);
      this.#asked.set(host, (this.#asked.get(host) ?? 0) + 1);
    }
    const answers = [...groups].flatMap(([key, all]) =>
      partsOf(all).map(async (some) => await this.#askPart(some, JSON.parse(key) as HostTopics)),
    );
    return (await Promise.all(answers)).flat();
  }

  async #askPart(hosts: readonly string[], wanted: HostTopics): Promise<readonly string[]> {
    try {
      const unknown = await this.#send('subscribe', hosts, { ...wanted, mode: 'replace' });
      for (const host of unknown) this.#wanted.delete(host);
      return unknown;
    } catch (error) {
      const isLost = error instanceof ClientError && error.code === 'connection_lost';
      // Over the next connection, as it is wanted by then.
      if (isLost) return await this.#ask(hosts);
      for (const host of hosts) this.#wanted.delete(host);
      throw error;
    } finally {
      for (const host of hosts) this.#forget(host);
    }
  }

  #forget(host: string): void {
    const count = (this.#asked.get(host) ?? 0) - 1;
    if (count > 0) this.#asked.set(host, count);
    else this.#asked.delete(host);
  }

  #send(op: string, hosts: readonly string[], data: object): Promise<readonly string[]> {
    return this.#requests.start({
      op,
      address: { hosts },
      data,
      kind: 'subscription',
      take: answersOf(hosts),
      limitMs: undefined,
      signal: undefined,
    });
  }
}

function partsOf(hosts: readonly string[]): readonly (readonly string[])[] {
  const parts: (readonly string[])[] = [];
  for (let i = 0; i < hosts.length; i += MAX_HOSTS) parts.push(hosts.slice(i, i + MAX_HOSTS));
  return parts;
}
