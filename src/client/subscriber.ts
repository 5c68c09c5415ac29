/** Keeps the subscriptions of a socket: requests each change, and all of them again after a loss. */
import { membersOf } from '../json.ts';
import { onAborted } from './environment.ts';
import { type ClientError, unreachable } from './errors.ts';
import type { AnswerEvents } from './messages.ts';
import type { Section } from './payload.ts';
import { answered, check, type Requests, type Take } from './pending.ts';

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
/** Sections by name; the compiler sees to it that none is missing. */
const SECTION_ROWS: Readonly<Record<Section, 1>> = { cpu: 1, memory: 1, gpu: 1, disks: 1, network: 1 };
const SECTIONS = Object.keys(SECTION_ROWS);

/** By canonical names: `stats` stands for its five sections, and a bare section for its topic. */
function canonical(topics: readonly string[] = []): readonly string[] {
  return topics
    .flatMap((topic) => (topic === 'stats' ? SECTIONS : topic))
    .map((topic) => (SECTIONS.includes(topic) ? `stats.${topic}` : topic));
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

function partsOf(hosts: readonly Host[]): readonly (readonly Host[])[] {
  const parts: (readonly Host[])[] = [];
  for (let i = 0; i < hosts.length; i += MAX_HOSTS) parts.push(hosts.slice(i, i + MAX_HOSTS));
  return parts;
}

/** Takes one answer per machine; `unknown` of the result are those that the hub does not have. */
function answersOf(hosts: readonly string[]): Take<Subscribed> {
  const missing = new Set<unknown>(hosts);
  const unknown: string[] = [];
  return (message) => {
    const { type, host, data } = message;
    const isUnknown = type === 'error' && membersOf(data)['code'] === 'NOT_FOUND';
    if (isUnknown && typeof host === 'string') unknown.push(host);
    else check(message);
    missing.delete(host);
    return missing.size === 0 ? { topics: [], unknown } : undefined;
  };
}

export class Subscriber {
  readonly #requests: Requests;
  readonly #onRefused: (error: ClientError) => void;
  readonly #byHost = new Map<Host, Subscription>();

  /** `onRefused`: called when the service refuses, after a loss, what it had accepted before. */
  constructor(requests: Requests, onRefused: (error: ClientError) => void) {
    this.#requests = requests;
    this.#onRefused = onRefused;
  }

  /** Hosts with subscriptions. */
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
    let stopListening: () => void;
    const answer = new Promise<Subscribed>((resolve, reject) => {
      const waiting: Waiting = { change, hosts: new Set(hosts), unknown: [], resolve, reject };
      stopListening = onAborted(signal, () => {
        // A change that was sent may have taken effect, so only an unsent one is dropped.
        if (!this.#requests.isOpen) this.#drop(waiting);
        reject(signal?.reason);
      });
      for (const host of hosts) {
        const subscription = this.#byHost.get(host) ?? { confirmed: NOTHING, asked: new Set() };
        subscription.asked.add(waiting);
        this.#byHost.set(host, subscription);
      }
      if (!this.#requests.isOpen) return;
      const { kind, topics } = change;
      const { detail } = this.#wanted(hosts[0]);
      for (const part of partsOf([...waiting.hosts]))
        if (kind === 'remove') void this.#ask(part, [waiting], 'unsubscribe', { topics });
        else void this.#ask(part, [waiting], 'subscribe', { topics, mode: kind, detail });
    });
    return answer.finally(() => stopListening());
  }

  /** A new connection is open, with no subscriptions yet. */
  open(): void {
    this.#renew(this.hosts, this.#allAsked());
  }

  close(error: ClientError): void {
    for (const waiting of this.#allAsked()) waiting.reject(error);
  }

  #allAsked(): readonly Waiting[] {
    return [...new Set([...this.#byHost.values()].flatMap(({ asked }) => [...asked]))];
  }

  #wanted(host: Host): Wanted {
    const { confirmed, asked = [] } = this.#byHost.get(host) ?? { confirmed: NOTHING };
    return [...asked].reduce((wanted, { change }) => changed(wanted, change), confirmed);
  }

  /** Requests all that is wanted of `hosts`, which includes `changes`, in as few messages as possible. */
  #renew(hosts: readonly Host[], changes: readonly Waiting[]): void {
    const groups = new Map<string, Host[]>();
    for (const host of hosts) {
      const { topics, detail } = this.#wanted(host);
      const data = JSON.stringify({ topics, mode: 'replace', detail });
      if (topics.length === 0) this.#accept(host, changes, { topics });
      else groups.set(data, [...(groups.get(data) ?? []), host]);
    }
    for (const [data, all] of groups)
      for (const part of partsOf(all)) void this.#ask(part, changes, 'subscribe', JSON.parse(data), true);
  }

  /** Never rejects. */
  async #ask(
    hosts: readonly Host[],
    changes: readonly Waiting[],
    op: string,
    data: object,
    isRenewal = false,
  ): Promise<void> {
    const about = changes.filter((waiting) => hosts.some((host) => waiting.hosts.has(host)));
    const named = hosts.filter((host) => host !== undefined);
    const take = named.length > 0 ? answersOf(named) : answered<Subscribed>('subscribed');
    const address = named.length > 0 ? { hosts: named } : undefined;
    try {
      const answer = await this.#requests.start({ op, address, data, kind: 'subscription', take });
      for (const host of hosts) this.#accept(host, about, answer);
    } catch (error) {
      const refusal = unreachable(error);
      // After a loss, all is renewed over the next connection.
      if (refusal.code === 'connection_lost') return;
      for (const waiting of about) {
        this.#drop(waiting);
        waiting.reject(refusal);
      }
      if (!isRenewal || !this.#requests.isOpen) return;
      // Without the new changes, the earlier subscriptions may still be allowed.
      if (about.length > 0) this.#renew(hosts, []);
      else this.#onRefused(refusal);
    }
  }

  #accept(host: Host, changes: readonly Waiting[], answer: Subscribed): void {
    const subscription = this.#byHost.get(host);
    if (subscription === undefined) return;
    const isUnknown = host !== undefined && answer.unknown?.includes(host) === true;
    for (const waiting of changes) {
      if (!waiting.hosts.delete(host)) continue;
      if (isUnknown) waiting.unknown.push(host);
      if (subscription.asked.delete(waiting))
        subscription.confirmed = changed(subscription.confirmed, waiting.change);
      if (waiting.hosts.size > 0) continue;
      waiting.resolve(host === undefined ? answer : { topics: [], unknown: waiting.unknown });
    }
    if (isUnknown) subscription.confirmed = NOTHING;
    if (subscription.asked.size + subscription.confirmed.topics.length === 0) this.#byHost.delete(host);
  }

  #drop(waiting: Waiting): void {
    for (const { asked } of this.#byHost.values()) asked.delete(waiting);
  }
}
