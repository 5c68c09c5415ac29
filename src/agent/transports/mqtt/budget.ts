/** Bytes that some owners may take together. */
export class Budget<Owner> {
  readonly #maxBytes: number;
  readonly #taken = new Map<Owner, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get freeBytes(): number {
    return this.#maxBytes - this.#bytes;
  }

  has(owner: Owner): boolean {
    return this.#taken.has(owner);
  }

  /** Takes `bytes` in the place of what `owner` had; false: they are too many, and it has none now. */
  take(owner: Owner, bytes: number): boolean {
    this.release(owner);
    if (bytes > this.freeBytes) return false;
    this.#taken.set(owner, bytes);
    this.#bytes += bytes;
    return true;
  }

  release(owner: Owner): void {
    this.#bytes -= this.#taken.get(owner) ?? 0;
    this.#taken.delete(owner);
  }
}
