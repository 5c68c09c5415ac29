/** Stores values by the number of a slot, as many as fit; older ones are forgotten. A slot may have several numbers. */
export class Ring {
  /** Maximum number of slots. */
  readonly capacity: number;
  /** Numbers per slot. */
  readonly #width: number;
  readonly #values: Float32Array;
  /** The slot after the newest; slots at and after it, and those before `#end - capacity`, are empty. */
  #end = Number.NEGATIVE_INFINITY;

  constructor(capacity: number, width: number) {
    this.capacity = capacity;
    this.#width = width;
    this.#values = new Float32Array(capacity * width).fill(Number.NaN);
  }

  get bytes(): number {
    return this.#values.byteLength;
  }

  /** Returns the newest slot that was ever put, unless it was dropped; -Infinity without one. */
  get last(): number {
    return this.#end - 1;
  }

  /** Returns the number `at` of `slot`; NaN without one. */
  get(slot: number, at: number): number {
    if (slot >= this.#end || slot < this.#end - this.capacity) return Number.NaN;
    return this.#values[this.#place(slot) + at] ?? Number.NaN;
  }

  /** Puts `values` into `slot`. A slot that is already forgotten is left out. */
  put(slot: number, ...values: readonly number[]): void {
    if (this.#reserve(slot)) this.#values.set(values, this.#place(slot));
  }

  /** Puts `value` into every number of the slots from `first` to `last`, as `put`. */
  putAll(first: number, last: number, value: number): void {
    if (this.#reserve(last)) this.#fill(Math.max(first, this.#end - this.capacity), last + 1, value);
  }

  /** Drops `slot` and those after it. */
  dropFrom(slot: number): void {
    if (slot >= this.#end) return;
    // Otherwise the ring would find there the slots of one capacity before.
    this.#fill(Math.max(slot, this.#end - this.capacity), this.#end, Number.NaN);
    this.#end = slot;
  }

  /** Copies the newest slots of `other`. */
  copy(other: Ring): void {
    if (other.#end === Number.NEGATIVE_INFINITY) return;
    for (let slot = other.#end - Math.min(this.capacity, other.capacity); slot < other.#end; slot++)
      this.put(slot, ...other.#values.subarray(other.#place(slot), other.#place(slot) + this.#width));
  }

  #place(slot: number): number {
    const rest = slot % this.capacity;
    return (rest < 0 ? rest + this.capacity : rest) * this.#width;
  }

  /** Empties the slots between the newest and `slot`, the newest from then on. Returns false if it is already forgotten. */
  #reserve(slot: number): boolean {
    if (slot < this.#end - this.capacity) return false;
    if (slot >= this.#end) {
      this.#fill(Math.max(this.#end, slot - this.capacity + 1), slot, Number.NaN);
      this.#end = slot + 1;
    }
    return true;
  }

  /**
   * Puts `value` into the slots from `begin` to before `end`, at most the whole ring. Not slot by slot: loops that V8
   * optimizes take 4 MiB of memory in a service without clients.
   */
  #fill(begin: number, end: number, value: number): void {
    const place = this.#place(begin);
    const count = Math.max(0, end - begin) * this.#width;
    this.#values.fill(value, place, place + count);
    this.#values.fill(value, 0, Math.max(0, place + count - this.#values.length));
  }
}
