/** Values that can be made again: all are forgotten when they would be longer together than is allowed. */
export class BoundedCache<Key, Value extends { readonly length: number }> {
  readonly #maxLength: number;
  readonly #values = new Map<Key, Value>();
  #length = 0;

  /** `maxLength`: bytes of buffers, UTF-16 units of strings. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  /** `key` has no value yet. */
  set(key: Key, value: Value): void {
    if (this.#length + value.length > this.#maxLength) this.clear();
    this.#values.set(key, value);
    this.#length += value.length;
  }

  clear(): void {
    this.#values.clear();
    this.#length = 0;
  }
}
