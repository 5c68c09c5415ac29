/**
 * A queue in fair order: one item of each client in turn, however many a client has. When it is full the client that
 * has most items loses its newest one, so that no client is kept out by the items of another. Adding and taking do not
 * look at all that waits, because strangers decide how much that is.
 */
import { networkOf } from './networks.ts';

/** The clients that wait for an item: addresses, or `NAME|ADDRESS` for a client of the hub NAME. More may join while it waits. */
export class Clients {
  readonly first: string;
  readonly #names: Set<string>;
  #onJoin: ((client: string) => void) | undefined;

  constructor(first: string) {
    this.first = first;
    this.#names = new Set([first]);
  }

  get size(): number {
    return this.#names.size;
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#names.values();
  }

  join(client: string): void {
    if (this.#names.has(client)) return;
    this.#names.add(client);
    this.#onJoin?.(client);
  }

  /** Called by the queue alone. */
  onJoin(listener: ((client: string) => void) | undefined): void {
    this.#onJoin = listener;
  }
}

interface Waiting<Item> {
  readonly item: Item;
  readonly clients: Clients;
}

/** The items of clients that take turns among themselves: the addresses of a /64, or the clients of a hub. */
interface Group<Item> {
  /** By client, in the order of their next turns. */
  readonly lines: Map<string, Waiting<Item>[]>;
  count: number;
}

function groupOf(client: string): string {
  const barAt = client.indexOf('|');
  return barAt === -1 ? networkOf(client) : client.slice(0, barAt + 1);
}

export class FairQueue<Item> {
  readonly #max: number;
  readonly #all = new Map<Item, Waiting<Item>>();
  /** In the order of their next turns. */
  readonly #groups = new Map<string, Group<Item>>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#all.size;
  }

  /** The items in the order in which they came. */
  [Symbol.iterator](): IterableIterator<Item> {
    return this.#all.keys();
  }

  /** Items that wait for `client`. */
  countOf(client: string): number {
    return this.#groups.get(groupOf(client))?.lines.get(client)?.length ?? 0;
  }

  /** Adds an item, which must not wait already. Returns the one that has lost its place, perhaps this one. */
  add(item: Item, clients: Clients): Item | undefined {
    const waiting = { item, clients };
    this.#all.set(item, waiting);
    for (const client of clients) this.#line(client, waiting);
    clients.onJoin((client) => this.#line(client, waiting));
    if (this.#all.size <= this.#max) return undefined;
    const victim = this.#victim(clients.first);
    if (victim !== undefined) this.#leave(victim);
    return victim?.item;
  }

  /** Removes and returns the item whose turn it is, of those that `isReady` lets through. */
  take(isReady: (item: Item) => boolean = () => true): Item | undefined {
    for (const [name, group] of this.#groups)
      for (const [client, line] of group.lines) {
        const next = line.find(({ item }) => isReady(item));
        if (next === undefined) continue;
        this.#leave(next);
        moveToEnd(group.lines, client);
        moveToEnd(this.#groups, name);
        return next.item;
      }
    return undefined;
  }

  /** True if it waited. */
  remove(item: Item): boolean {
    const waiting = this.#all.get(item);
    if (waiting !== undefined) this.#leave(waiting);
    return waiting !== undefined;
  }

  #line(client: string, waiting: Waiting<Item>): void {
    const name = groupOf(client);
    const group = this.#groups.get(name) ?? { lines: new Map<string, Waiting<Item>[]>(), count: 0 };
    this.#groups.set(name, group);
    const line = group.lines.get(client) ?? [];
    group.lines.set(client, line);
    line.push(waiting);
    group.count++;
  }

  #leave(waiting: Waiting<Item>): void {
    waiting.clients.onJoin(undefined);
    this.#all.delete(waiting.item);
    for (const client of waiting.clients) {
      const name = groupOf(client);
      const group = this.#groups.get(name);
      const line = group?.lines.get(client);
      if (group === undefined || line === undefined) continue;
      line.splice(line.indexOf(waiting), 1);
      group.count--;
      if (line.length === 0) group.lines.delete(client);
      if (group.count === 0) this.#groups.delete(name);
    }
  }

  /** The newest item of the client with most in the group with most; one that several wait for is the last to go. */
  #victim(newcomer: string): Waiting<Item> | undefined {
    const group = heaviest(this.#groups, ({ count }) => count, groupOf(newcomer));
    const line = group && heaviest(group.lines, ({ length }) => length, newcomer);
    return line?.findLast(({ clients }) => clients.size === 1) ?? line?.at(-1);
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/** The entry with the highest weight; of equals that of `preferred`, otherwise the last. */
function heaviest<Value>(
  map: ReadonlyMap<string, Value>,
  weightOf: (value: Value) => number,
  preferred: string,
): Value | undefined {
  let most = Number.NEGATIVE_INFINITY;
  let found: string | undefined;
  for (const [name, value] of map) {
    const weight = weightOf(value);
    if (weight < most || (weight === most && found === preferred)) continue;
    most = weight;
    found = name;
  }
  return found === undefined ? undefined : map.get(found);
}
