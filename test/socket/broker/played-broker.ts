/** A broker within a test: it keeps retained messages, and passes messages on to the links of hubs and machines. */
import type { Connection } from '#src/mqtt/connection.js';
import type { LinkOptions, SessionLink } from '#src/mqtt/link.js';

interface Client {
  readonly options: LinkOptions;
  readonly filters: string[];
}

const matches = (filter: string, topic: string) => {
  const [levels, given] = [filter.split('/'), topic.split('/')];
  return levels.length === given.length && levels.every((level, at) => level === '+' || level === given[at]);
};

export class PlayedBroker {
  readonly #clients = new Set<Client>();
  readonly #retained = new Map<string, string>();
  /** What was published by hubs and machines. */
  readonly published: { readonly topic: string; readonly text: string }[] = [];
  readonly subscriptions: string[] = [];
  /** The machine has slept since its connection was made. */
  hasSlept = false;

  /** `begin` makes the connection. */
  open(options: LinkOptions): SessionLink & { begin(): void; end(): void } {
    const client = { options, filters: [] as string[] };
    const connection = {
      quietMs: 0,
      subscribe: async (topics: readonly string[]) => {
        this.subscriptions.push(...topics);
        client.filters.push(...topics);
        for (const filter of topics)
          for (const [topic, text] of this.#retained)
            if (matches(filter, topic)) this.#pass(client, topic, text, true);
        return [];
      },
    } as unknown as Connection; // As much of it as the ends use.
    let isOpen = false;
    return {
      get connection() {
        return isOpen ? connection : undefined;
      },
      send: async (topic, payload) => {
        if (!isOpen) throw new Error('not connected');
        this.published.push({ topic, text: payload.toString() });
        await Promise.resolve();
        this.publish(topic, payload.toString());
      },
      check: () => undefined,
      endStale: () => this.hasSlept,
      reportRefusal: () => undefined,
      setAsleep: () => undefined,
      close: async () => undefined,
      begin: () => {
        isOpen = true;
        this.#clients.add(client);
        client.filters.length = 0;
        options.beforeOnline?.(connection);
        const { availability, states } = options;
        if (availability !== undefined && states !== undefined)
          this.publish(availability, states.online, true);
        options.onOnline(connection);
      },
      end: () => {
        isOpen = false;
        this.#clients.delete(client);
        options.onOffline();
      },
    };
  }

  publish(topic: string, text: string, isRetained = false): void {
    if (isRetained) this.#retained.set(topic, text);
    for (const client of this.#clients)
      if (client.filters.some((filter) => matches(filter, topic))) this.#pass(client, topic, text, false);
  }

  #pass({ options }: Client, topic: string, text: string, isRetained: boolean): void {
    options.onMessage({ topic, payload: Buffer.from(text), isRetained, isRepeated: false, qos: 0 });
  }
}
