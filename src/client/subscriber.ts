/** Keeps the subscriptions of a socket: requests each change, and all of them again after a loss. */
import { onAborted } from './environment.ts';
import { ClientError } from './errors.ts';
import type { AnswerEvents, Message } from './messages.ts';
import type { Section } from './payload.ts';
import { answered, check, type Requests, type Settlement } from './pending.ts';

/** Machines per message: each may have 64 characters, a message 16 KiB. */
const MAX_HOSTS = 100;

export type Subscribed = AnswerEvents['subscribed'];

/** A machine of a hub; undefined: the service itself. */
type Host = string | undefined;

interface Wanted {
  readonly topics: readonly string[];
  readonly detail: boolean;
}

export interface Change {
  readonly kind: 'replace' | 'add' | 'remove';
  /** undefined: `remove` removes all. */
  readonly topics?: readonly string[] | undefined;
  /** All stats of a host are with detail or without, so adding topics cannot turn it off. */
  readonly detail?: boolean | undefined;
}

/** A change that is not confirmed for all its hosts, and its caller. */
interface Waiting {
  readonly change: Change;
  readonly hosts: Set<Host>;
  readonly unknown: string[];
  readonly resolve: (answer: Subscribed) => void;
  readonly reject: (reason: unknown) => void;
}

/** The subscriptions that were confirmed for a host, and the requested changes that were not, in order. */
interface Subscription {
  confirmed: Wanted;
  readonly asked: Set<Waiting>;
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

function changed(wanted: Wanted, { kind, topics, detail = false }: Change): Wanted {
  const named = canonical(topics);
  switch (kind) {
    case 'replace':
      return { topics: [...new Set(named)], detail };
    case 'add':
      return { topics: [...new Set([...wanted.topics, ...named])], detail: detail || wanted.detail };
    case 'remove':
      if (topics === undefined) return NOTHING;
      return { ...wanted, topics: wanted.topics.filter((topic) => !named.includes(topic)) };
  }
}

const wantedOf = ({ confirmed, asked }: Subscription): Wanted =>
  [...asked].reduce((wanted, { change }) => changed(wanted, change), confirmed);

function partsOf(hosts: readonly Host[]): readonly (readonly Host[])[] {
  const parts: (readonly Host[])[] = [];
  for (let i = 0; i < hosts.length; i += MAX_HOSTS) parts.push(hosts.slice(i, i + MAX_HOSTS));
  return parts;
}

/** Takes one answer per machine; `unknown` of the result are those that the hub does not have. */
function answersOf(hosts: readonly string[]): (message: Message) => Settlement<Subscribed> {
  const missing = new Set<unknown>(hosts);
  const unknown: string[] = [];
  return (message) => {
    const { type, host, data } = message;
    // The shape of the hub's errors.
    const isUnknown = type === 'error' && (data as { readonly code?: unknown }).code === 'NOT_FOUND';
    if (isUnknown && typeof host === 'string') unknown.push(host);
    else check(message);
    missing.delete(host);
    return missing.size === 0 ? { done: { topics: [], unknown } } : undefined;
  };
}

export class Subscriber {
  readonly #requests: Requests;
  readonly #onRefused: (error: ClientError) => void;
  readonly #byHost = new Map<Host, Subscription>();
  /** Changes that wait for the next connection. */
  readonly #held = new Set<Waiting>();

  /** `onRefused`: called when the service refuses, after a loss, what it had accepted before. */
  constructor(requests: Requests, onRefused: (error: ClientError) => void) {
    this.#requests = requests;
    this.#onRefused = onRefused;
  }

  /** Those with a subscription. */
  get hosts(): readonly Host[] {
    return [...this.#byHost.keys()];
  }

  /**
   * Resolves when all `hosts` were answered for, possibly over a later connection: with the answer of the service, or
   * with the unknown ones of several machines. Rejects when it is refused.
   */
  change(hosts: readonly Host[], change: Change, signal?: AbortSignal): Promise<Subscribed> {
    if (this.#requests.end !== undefined) return Promise.reject(this.#requests.end);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (hosts.length === 0) return Promise.resolve({ topics: [] });
    return new Promise((resolve, reject) => {
      const stopListening = onAborted(signal, () => {
        // A change that was sent may have taken effect, so only an unsent one is dropped.
        if (this.#held.delete(waiting)) this.#drop(waiting);
        waiting.reject(signal?.reason);
      });
      const waiting: Waiting = {
        change,
        hosts: new Set(hosts),
        unknown: [],
        resolve(answer) {
          stopListening();
          resolve(answer);
        },
        reject(reason) {
          stopListening();
          reject(reason);
        },
      };
      for (const host of hosts) {
        const subscription = this.#byHost.get(host) ?? { confirmed: NOTHING, asked: new Set() };
        subscription.asked.add(waiting);
        this.#byHost.set(host, subscription);
      }
      if (!this.#requests.isOpen) this.#held.add(waiting);
      else for (const part of partsOf(hosts)) void this.#askChange(part, waiting);
    });
  }

  /** A new connection is open, with no subscriptions yet. */
  open(): void {
    const held = [...this.#held];
    this.#held.clear();
    this.#renew(this.hosts, held);
  }

  close(error: ClientError): void {
    for (const waiting of this.#held) waiting.reject(error);
    this.#held.clear();
  }

  /** Requests all that is wanted of `hosts`, which includes the changes `held`, in as few messages as possible. */
  #renew(hosts: readonly Host[], held: readonly Waiting[]): void {
    const groups = new Map<string, Host[]>();
    for (const host of hosts) {
      const subscription = this.#byHost.get(host);
      const wanted = subscription === undefined ? NOTHING : wantedOf(subscription);
      if (wanted.topics.length === 0) this.#accept(host, held, { topics: [] });
      else {
        const key = JSON.stringify(wanted);
        groups.set(key, [...(groups.get(key) ?? []), host]);
      }
    }
    for (const [key, all] of groups) {
      const { topics, detail } = JSON.parse(key) as Wanted; // From above.
      for (const part of partsOf(all)) void this.#askAgain(part, held, { topics, mode: 'replace', detail });
    }
  }

  async #askAgain(hosts: readonly Host[], held: readonly Waiting[], data: object): Promise<void> {
    const error = await this.#ask(hosts, held, 'subscribe', data);
    if (error === undefined || !this.#requests.isOpen) return;
    // Without the new changes, the earlier subscriptions may still be allowed.
    if (held.some((waiting) => hosts.some((host) => waiting.hosts.has(host)))) this.#renew(hosts, []);
    else this.#onRefused(error);
  }

  async #askChange(hosts: readonly Host[], waiting: Waiting): Promise<void> {
    const { kind, topics } = waiting.change;
    const first = this.#byHost.get(hosts[0]);
    const { detail } = first === undefined ? NOTHING : wantedOf(first);
    if (kind === 'remove') await this.#ask(hosts, [waiting], 'unsubscribe', { topics });
    else await this.#ask(hosts, [waiting], 'subscribe', { topics, mode: kind, detail });
  }

  /** Returns the error that the service answered with, if it did. Never rejects. */
  async #ask(
    hosts: readonly Host[],
    all: readonly Waiting[],
    op: string,
    data: object,
  ): Promise<ClientError | undefined> {
    const named = hosts.filter((host) => host !== undefined);
    const isHub = named.length > 0;
    const about = all.filter((waiting) => hosts.some((host) => waiting.hosts.has(host)));
    try {
      const answer = await this.#requests.start({
        op,
        address: isHub ? { hosts: named } : undefined,
        data,
        kind: 'subscription',
        take: isHub ? answersOf(named) : answered<Subscribed>('subscribed'),
      });
      for (const host of hosts) this.#accept(host, about, answer);
    } catch (error) {
      if (error instanceof ClientError && error.code === 'connection_lost') {
        for (const waiting of about) this.#held.add(waiting);
        return undefined;
      }
      for (const waiting of about) {
        this.#drop(waiting);
        waiting.reject(error);
      }
      if (error instanceof ClientError) return error;
    }
    return undefined;
  }

  #accept(host: Host, all: readonly Waiting[], answer: Subscribed): void {
    const subscription = this.#byHost.get(host);
    const isUnknown = host !== undefined && answer.unknown?.includes(host) === true;
    for (const waiting of all) {
      if (!waiting.hosts.delete(host)) continue;
      if (isUnknown) waiting.unknown.push(host);
      if (subscription?.asked.delete(waiting) === true)
        subscription.confirmed = changed(subscription.confirmed, waiting.change);
      if (waiting.hosts.size > 0) continue;
      waiting.resolve(host === undefined ? answer : { topics: [], unknown: waiting.unknown });
    }
    if (subscription === undefined) return;
    if (isUnknown) subscription.confirmed = NOTHING;
    const { confirmed, asked } = subscription;
    if (asked.size + confirmed.topics.length === 0) this.#byHost.delete(host);
  }

  #drop(waiting: Waiting): void {
    for (const { asked } of this.#byHost.values()) asked.delete(waiting);
  }
}
