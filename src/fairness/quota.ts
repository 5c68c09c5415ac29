/**
 * Limits the bytes that peers make the service keep: by client address, by /64 network of IPv6 and in all. It knows no
 * socket and no engine: each holder of bytes for a peer reports how many, and can be cut.
 */
import { type Defer, deferToNextTurn } from '../clock.ts';
import { networkOf } from './networks.ts';

/** One connection with bytes kept for it. */
export interface Holder {
  /** The client's address. */
  readonly address: string;
  /** Among the connections of one address, streams are cut last. */
  readonly isStream: boolean;
  /** Cuts the connection, if it is still open. Its bytes are released before. */
  cut(): void;
}

/** Bytes that several holders keep together: counted once per address, and once in all. */
export interface Shared {
  /** Equal for all who share the bytes. */
  readonly key: object;
  readonly bytes: number;
}

export interface QuotaOptions {
  /** The limit in all, in bytes; read at every change, because a reload may change it. Without one there is no limit. */
  readonly maxBytes?: () => number;
  /** Called after `connections` of `address` were cut. */
  readonly onCut?: (address: string, connections: number) => void;
  /** For tests. */
  readonly defer?: Defer;
}

interface Entry {
  readonly bytes: number;
  readonly shared: Shared | undefined;
}

/** One IPv4 address or one /64 network may take this share of the limit, so that several must join to reach it. */
const NETWORK_SHARE = 1 / 4;
/** After a limit was exceeded, this share of it is left: otherwise each further byte would cut one connection. */
const LEFT_SHARE = 0.9;

/** The bytes of some entries, what they share counted once. */
class Sums {
  bytes = 0;
  /** Holders by shared key. */
  readonly #sharing = new Map<object, number>();

  change({ bytes, shared }: Entry, sign: 1 | -1): void {
    this.bytes += sign * bytes;
    if (shared === undefined) return;
    const before = this.#sharing.get(shared.key) ?? 0;
    const after = before + sign;
    if (before === 0 || after === 0) this.bytes += sign * shared.bytes;
    if (after > 0) this.#sharing.set(shared.key, after);
    else this.#sharing.delete(shared.key);
  }
}

/** The bytes kept for one address. */
interface Account {
  readonly entries: Map<Holder, Entry>;
  readonly sums: Sums;
}

/** The bytes kept for the addresses of one network. */
interface NetworkAccount {
  readonly accounts: Map<string, Account>;
  readonly sums: Sums;
}

const sizeOf = ({ bytes, shared }: Entry) => bytes + (shared?.bytes ?? 0);

/** The order in which the holders of one address are cut. */
function cutOrder([a, entryA]: [Holder, Entry], [b, entryB]: [Holder, Entry]): number {
  return Number(a.isStream) - Number(b.isStream) || sizeOf(entryB) - sizeOf(entryA);
}

/** The entry with most bytes. */
function largest<Value extends { readonly sums: Sums }>(map: ReadonlyMap<string, Value>) {
  return [...map].reduce((a, b) => (b[1].sums.bytes > a[1].sums.bytes ? b : a));
}

export class Quota {
  readonly #options: QuotaOptions;
  readonly #networks = new Map<string, NetworkAccount>();
  readonly #all = new Sums();

  constructor(options: QuotaOptions = {}) {
    this.#options = options;
  }

  /** Bytes kept in all. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /** Bytes kept for `address`. */
  bytesOf(address: string): number {
    return this.#networks.get(networkOf(address))?.accounts.get(address)?.sums.bytes ?? 0;
  }

  /**
   * Sets what is kept for `holder`: `bytes` of its own, and those it shares. Where a limit is exceeded, connections are
   * cut in the next turn, perhaps this one: of the network that keeps most, and in it of the address that keeps most, so
   * that the neighbours of a greedy host lose nothing.
   */
  set(holder: Holder, bytes: number, shared?: Shared): void {
    this.release(holder);
    if (bytes === 0 && shared === undefined) return;
    const { address } = holder;
    const name = networkOf(address);
    const network = this.#networks.get(name) ?? { accounts: new Map(), sums: new Sums() };
    this.#networks.set(name, network);
    const account = network.accounts.get(address) ?? { entries: new Map(), sums: new Sums() };
    network.accounts.set(address, account);
    const entry = { bytes, shared };
    account.entries.set(holder, entry);
    for (const { sums } of [account, network, { sums: this.#all }]) sums.change(entry, 1);
    this.#relieve(network);
  }

  /** Nothing is kept for `holder` any more. */
  release(holder: Holder): void {
    const { address } = holder;
    const name = networkOf(address);
    const network = this.#networks.get(name);
    const account = network?.accounts.get(address);
    const entry = account?.entries.get(holder);
    if (network === undefined || account === undefined || entry === undefined) return;
    account.entries.delete(holder);
    for (const { sums } of [account, network, { sums: this.#all }]) sums.change(entry, -1);
    if (account.entries.size === 0) network.accounts.delete(address);
    if (network.accounts.size === 0) this.#networks.delete(name);
  }

  #relieve(changed: NetworkAccount): void {
    const max = this.#options.maxBytes?.() ?? Number.POSITIVE_INFINITY;
    const share = max * NETWORK_SHARE;
    if (changed.sums.bytes > share)
      this.#cut(
        () => changed,
        () => changed.sums.bytes - share * LEFT_SHARE,
      );
    if (this.#all.bytes > max)
      this.#cut(
        () => largest(this.#networks)[1],
        () => this.#all.bytes - max * LEFT_SHARE,
      );
  }

  /** Cuts until there is no `excess`, one address after the other. */
  #cut(networkOfNext: () => NetworkAccount, excess: () => number): void {
    const { defer = deferToNextTurn, onCut } = this.#options;
    const cut = new Map<string, number>();
    while (excess() > 0) {
      const [address, { entries, sums }] = largest(networkOfNext().accounts);
      // A tenth of it, and then perhaps another address keeps more.
      const level = sums.bytes * LEFT_SHARE;
      for (const [holder] of [...entries].sort(cutOrder)) {
        if (sums.bytes <= level || excess() <= 0) break;
        // Cutting another one may have released it.
        if (!entries.has(holder)) continue;
        this.release(holder);
        // In a turn of its own: this one may be writing to the same connection.
        defer(() => holder.cut());
        cut.set(address, (cut.get(address) ?? 0) + 1);
      }
    }
    for (const [address, connections] of cut) onCut?.(address, connections);
  }
}
