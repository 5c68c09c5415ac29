/** The last use of each key: when, and from which address. One record per configured key, made before its first use. */

/** The last use of a key. */
export interface KeyUse {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** The client's canonical address. */
  readonly address: string;
}

/** A use as of a moment: while something is open, that moment is the last use. */
export interface KeyUseNow extends KeyUse {
  /** Streams and sockets that it has opened. */
  readonly open: number;
}

interface UseRecord {
  /** 0: not used. */
  atMs: number;
  address: string;
  /** The use before that one. */
  beforeAtMs: number;
  beforeAddress: string;
  open: number;
  /** Its key is not configured: it is kept for what is still open. */
  isForgotten: boolean;
}

export class KeyUses {
  readonly #unixMs: () => number;
  readonly #records = new Map<string, UseRecord>();
  #hasNews = false;
  #sinceMs: number;

  /** `unixMs`: for tests. */
  constructor(unixMs: () => number = Date.now) {
    this.#unixMs = unixMs;
    this.#sinceMs = unixMs();
  }

  /** Uses before this moment, in Unix milliseconds, are not known. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Makes the records of these keys, and forgets all others. */
  reconfigure(names: readonly string[]): void {
    const configured = new Set(names);
    for (const [name, record] of this.#records) if (!configured.has(name)) this.#forget(name, record);
    for (const name of configured) {
      const record = this.#records.get(name);
      if (record === undefined) this.#records.set(name, unused());
      else record.isForgotten = false;
    }
  }

  /** Notes an accepted use. Runs for each request and each message of a WebSocket, so it allocates nothing. */
  note(name: string | undefined, address: string, atMs = this.#unixMs()): void {
    const record = name === undefined ? undefined : this.#records.get(name);
    if (record === undefined || record.isForgotten) return;
    record.beforeAtMs = record.atMs;
    record.beforeAddress = record.address;
    record.atMs = atMs;
    record.address = address;
    this.#hasNews = true;
  }

  /** Counts a stream or a socket; its request was noted. */
  opened(name: string | undefined): void {
    const record = name === undefined ? undefined : this.#records.get(name);
    if (record !== undefined) record.open++;
  }

  /** Notes that the key was in use until now. */
  closed(name: string | undefined, address: string): void {
    const record = name === undefined ? undefined : this.#records.get(name);
    if (name === undefined || record === undefined || record.open === 0) return;
    record.open--;
    this.note(name, address);
    if (record.isForgotten) this.#forget(name, record);
  }

  /** Returns the last use; undefined: none is known. */
  of(name: string): KeyUseNow | undefined {
    const record = this.#records.get(name);
    return record && this.#now(record, record.atMs, record.address);
  }

  /** Returns the use before the last one, for the answer to a request that is itself a use. */
  beforeLast(name: string): KeyUseNow | undefined {
    const record = this.#records.get(name);
    return record && this.#now(record, record.beforeAtMs, record.beforeAddress);
  }

  /** Returns all uses, where there are new ones since the last call or something is open; undefined: nothing has changed. */
  takeNews(): ReadonlyMap<string, KeyUse> | undefined {
    const records = [...this.#records].filter(([, { isForgotten }]) => !isForgotten);
    if (!this.#hasNews && records.every(([, { open }]) => open === 0)) return undefined;
    this.#hasNews = false;
    const uses = new Map<string, KeyUse>();
    for (const [name, record] of records) {
      const use = this.#now(record, record.atMs, record.address);
      if (use !== undefined) uses.set(name, { atMs: use.atMs, address: use.address });
    }
    return uses;
  }

  /** The uses that `takeNews` returned were not stored. */
  returnNews(): void {
    this.#hasNews = true;
  }

  /** Adds the uses of an earlier run, which noted them from `sinceMs` on. Those of keys that are gone are news. */
  restore(uses: ReadonlyMap<string, KeyUse>, sinceMs: number): void {
    this.#sinceMs = Math.min(this.#sinceMs, sinceMs);
    for (const [name, { atMs, address }] of uses) {
      const record = this.#records.get(name);
      if (record === undefined || record.isForgotten) this.#hasNews = true;
      else if (record.atMs === 0) {
        record.atMs = atMs;
        record.address = address;
      } else if (record.beforeAtMs === 0) {
        record.beforeAtMs = atMs;
        record.beforeAddress = address;
      }
    }
  }

  #now({ open }: UseRecord, atMs: number, address: string): KeyUseNow | undefined {
    if (atMs === 0) return undefined;
    return { atMs: open > 0 ? this.#unixMs() : atMs, address, open };
  }

  /** The streams of a removed key are cut later: if a key of its name returns before that, the count stays right. */
  #forget(name: string, record: UseRecord): void {
    if (record.open === 0) this.#records.delete(name);
    else Object.assign(record, { ...unused(), open: record.open, isForgotten: true });
    this.#hasNews = true;
  }
}

const unused = (): UseRecord => ({
  atMs: 0,
  address: '',
  beforeAtMs: 0,
  beforeAddress: '',
  open: 0,
  isForgotten: false,
});
