/**
 * Every byte that peers make the service keep, by connection, by client address, by /64 network of IPv6 and in all, within
 * one limit. It knows no socket and no engine: each holder of bytes for a peer reports how many, and can be cut.
 */
import { type Defer, deferToNextTurn } from '../../clock.ts';
import { networkOf } from '../../fairness/address-counts.ts';
import { CountsByKey } from './counts-by-key.ts';

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

export interface BufferQuotaOptions {
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

/**
 * One IPv4 address or one /64 network may take this share of the limit, so that several must join to reach it. Within a
 * network the address that keeps most is cut, so that the neighbours of a greedy host lose nothing.
 */
const NETWORK_SHARE = 1 / 4;
/** After a limit was exceeded, this share of it is left: otherwise each further byte would cut one connection. */
const LEFT_SHARE = 0.9;

/** The bytes of some entries, what they share counted once. */
class Sums {
  bytes = 0;
  /** Holders by shared key. */
  readonly #holders = new CountsByKey<object>();

  add({ bytes, shared }: Entry): void {
    this.bytes += bytes;
    if (shared !== undefined && this.#holders.add(shared.key) === 1) this.bytes += shared.bytes;
  }

  remove({ bytes, shared }: Entry): void {
    this.bytes -= bytes;
    if (shared !== undefined && this.#holders.remove(shared.key) === 0) this.bytes -= shared.bytes;
  }
}

/** The bytes kept for one address. */
class Account {
  readonly address: string;
  readonly entries = new Map<Holder, Entry>();
  readonly sums = new Sums();

  constructor(address: string) {
    this.address = address;
  }
}

/** The bytes kept for the addresses of one network. */
class NetworkAccount {
  readonly accounts = new Map<string, Account>();
  readonly sums = new Sums();
}

const sizeOf = ({ bytes, shared }: Entry) => bytes + (shared?.bytes ?? 0);

/** The order in which the holders of one address are cut. */
function cutOrder([a, entryA]: [Holder, Entry], [b, entryB]: [Holder, Entry]): number {
  return Number(a.isStream) - Number(b.isStream) || sizeOf(entryB) - sizeOf(entryA);
}

/** The size to which the greatest of `sizes` must shrink for their sum to shrink by `excess`. */
function levelFor(sizes: readonly number[], excess: number): number {
  const descending = [...sizes].sort((a, b) => b - a);
  let sum = 0;
  for (const [index, size] of descending.entries()) {
    sum += size;
    const count = index + 1;
    if (sum - count * (descending[count] ?? 0) >= excess) return (sum - excess) / count;
  }
  return 0;
}

export class BufferQuota {
  readonly #options: BufferQuotaOptions;
  readonly #networks = new Map<string, NetworkAccount>();
  readonly #all = new Sums();

  constructor(options: BufferQuotaOptions = {}) {
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
   * cut in the next turn, perhaps this one: of the network that keeps most, and in it of the address that keeps most, those
   * that keep most first.
   */
  set(holder: Holder, bytes: number, shared?: Shared): void {
    if (bytes === 0 && shared === undefined) {
      this.release(holder);
      return;
    }
    const network = this.#networkOf(holder.address);
    const account = accountOf(network, holder.address);
    const before = account.entries.get(holder);
    if (before !== undefined) this.#remove(network, account, before);
    const entry = { bytes, shared };
    account.entries.set(holder, entry);
    for (const sums of [account.sums, network.sums, this.#all]) sums.add(entry);
    this.#relieve(network);
  }

  /** Nothing is kept for `holder` any more. */
  release(holder: Holder): void {
    const { address } = holder;
    const network = this.#networks.get(networkOf(address));
    const account = network?.accounts.get(address);
    const entry = account?.entries.get(holder);
    if (network === undefined || account === undefined || entry === undefined) return;
    account.entries.delete(holder);
    this.#remove(network, account, entry);
    this.#forgetEmpty(network, account);
  }

  #forgetEmpty(network: NetworkAccount, { address, entries }: Account): void {
    if (entries.size === 0) network.accounts.delete(address);
    if (network.accounts.size === 0) this.#networks.delete(networkOf(address));
  }

  #networkOf(address: string): NetworkAccount {
    const name = networkOf(address);
    const known = this.#networks.get(name);
    if (known !== undefined) return known;
    const network = new NetworkAccount();
    this.#networks.set(name, network);
    return network;
  }

  #remove(network: NetworkAccount, account: Account, entry: Entry): void {
    for (const sums of [account.sums, network.sums, this.#all]) sums.remove(entry);
  }

  #relieve(changed: NetworkAccount): void {
    const max = this.#options.maxBytes?.() ?? Number.POSITIVE_INFINITY;
    const share = max * NETWORK_SHARE;
    if (changed.sums.bytes > share) this.#cut(changed, () => changed.sums.bytes - share * LEFT_SHARE);
    if (this.#all.bytes <= max) return;
    const excess = () => this.#all.bytes - max * LEFT_SHARE;
    while (excess() > 0) this.#cut(this.#largest(), excess);
  }

  /** Called only while bytes are kept, so there is one. */
  #largest(): NetworkAccount {
    return [...this.#networks.values()].reduce((a, b) => (b.sums.bytes > a.sums.bytes ? b : a));
  }

  /** Cuts until there is no `excess`, or nothing is left of the network: all its addresses are cut to one size at most. */
  #cut(network: NetworkAccount, excess: () => number): void {
    const { defer = deferToNextTurn, onCut } = this.#options;
    const cut = new CountsByKey();
    while (excess() > 0 && network.accounts.size > 0) {
      const accounts = [...network.accounts.values()];
      const sizes = accounts.map(({ sums }) => sums.bytes);
      const level = levelFor(sizes, Math.ceil(excess()));
      for (const account of accounts)
        for (const [holder] of [...account.entries].sort(cutOrder)) {
          if (account.sums.bytes <= level || excess() <= 0) break;
          // Cutting another one may have released it.
          const entry = account.entries.get(holder);
          if (entry === undefined) continue;
          account.entries.delete(holder);
          this.#remove(network, account, entry);
          this.#forgetEmpty(network, account);
          // In a turn of its own: this one may be writing to the same connection.
          defer(() => holder.cut());
          cut.add(account.address);
        }
    }
    for (const [address, connections] of cut) onCut?.(address, connections);
  }
}

function accountOf({ accounts }: NetworkAccount, address: string): Account {
  const known = accounts.get(address);
  if (known !== undefined) return known;
  const account = new Account(address);
  accounts.set(address, account);
  return account;
}
