/**
 * Every byte that peers make the service keep, by connection, by client address and in all, within one limit. It knows no
 * socket and no engine: whoever keeps bytes for a peer reports how many, and can be cut.
 */
import { type Defer, deferToNextTurn } from '../../clock.ts';
import { Tally } from './tally.ts';

/** One connection with bytes kept for it. */
export interface Holder {
  /** The client's address. */
  readonly address: string;
  /** Of one address, streams are cut last. */
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

export interface LedgerOptions {
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

/** One address may take this share of the limit, so that several must join to reach it. */
const ADDRESS_SHARE = 1 / 4;
/** After a limit was exceeded, this share of it is left: otherwise each further byte would cut one connection. */
const LEFT_SHARE = 0.9;

/** The bytes of some entries, what they share counted once. */
class Sums {
  bytes = 0;
  /** Holders by shared key. */
  readonly #holders = new Tally<object>();

  add({ bytes, shared }: Entry): void {
    this.bytes += bytes;
    if (shared !== undefined && this.#holders.add(shared.key) === 1) this.bytes += shared.bytes;
  }

  remove({ bytes, shared }: Entry): void {
    this.bytes -= bytes;
    if (shared !== undefined && this.#holders.remove(shared.key) === 0) this.bytes -= shared.bytes;
  }
}

class Account {
  readonly entries = new Map<Holder, Entry>();
  readonly sums = new Sums();
}

const sizeOf = ({ bytes, shared }: Entry) => bytes + (shared?.bytes ?? 0);

/** The order in which the holders of one address are cut. */
function cutOrder([a, entryA]: [Holder, Entry], [b, entryB]: [Holder, Entry]): number {
  return Number(a.isStream) - Number(b.isStream) || sizeOf(entryB) - sizeOf(entryA);
}

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #accounts = new Map<string, Account>();
  readonly #all = new Sums();

  constructor(options: LedgerOptions = {}) {
    this.#options = options;
  }

  /** Bytes kept in all. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /** Bytes kept for `address`. */
  bytesOf(address: string): number {
    return this.#accounts.get(address)?.sums.bytes ?? 0;
  }

  /**
   * Sets what is kept for `holder`: `bytes` of its own, and those it shares. Where a limit is exceeded, connections are
   * cut in the next turn, perhaps this one: of the address that keeps most, those that keep most first.
   */
  set(holder: Holder, bytes: number, shared?: Shared): void {
    if (bytes === 0 && shared === undefined) {
      this.release(holder);
      return;
    }
    const account = this.#accountOf(holder.address);
    const before = account.entries.get(holder);
    if (before !== undefined) this.#remove(account, before);
    const entry = { bytes, shared };
    account.entries.set(holder, entry);
    account.sums.add(entry);
    this.#all.add(entry);
    this.#relieve(account);
  }

  /** Nothing is kept for `holder` any more. */
  release(holder: Holder): void {
    const account = this.#accounts.get(holder.address);
    const entry = account?.entries.get(holder);
    if (account === undefined || entry === undefined) return;
    account.entries.delete(holder);
    this.#remove(account, entry);
    if (account.entries.size === 0) this.#accounts.delete(holder.address);
  }

  #accountOf(address: string): Account {
    const known = this.#accounts.get(address);
    if (known !== undefined) return known;
    const account = new Account();
    this.#accounts.set(address, account);
    return account;
  }

  #remove(account: Account, entry: Entry): void {
    account.sums.remove(entry);
    this.#all.remove(entry);
  }

  #relieve(changed: Account): void {
    const max = this.#options.maxBytes?.() ?? Number.POSITIVE_INFINITY;
    const share = max * ADDRESS_SHARE;
    if (changed.sums.bytes > share) this.#cut(changed, () => changed.sums.bytes <= share * LEFT_SHARE);
    if (this.#all.bytes <= max) return;
    const isRelieved = () => this.#all.bytes <= max * LEFT_SHARE;
    while (!isRelieved()) this.#cut(this.#largest(), isRelieved);
  }

  /** There is one: called only while bytes are kept. */
  #largest(): Account {
    return [...this.#accounts.values()].reduce((a, b) => (b.sums.bytes > a.sums.bytes ? b : a));
  }

  #cut(account: Account, isEnough: () => boolean): void {
    const inOrder = [...account.entries].sort(cutOrder).map(([holder]) => holder);
    const { defer = deferToNextTurn, onCut } = this.#options;
    let cut = 0;
    for (const holder of inOrder) {
      if (isEnough()) break;
      this.release(holder);
      // In a turn of its own: this one may be writing to the same connection.
      defer(() => holder.cut());
      cut++;
    }
    const [first] = inOrder;
    if (first !== undefined && cut > 0) onCut?.(first.address, cut);
  }
}
