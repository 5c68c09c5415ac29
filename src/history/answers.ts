/** An answer about the history as JSON in parts; one of 100,000 numbers has about 0.7 MB. */
import { createHash } from 'node:crypto';

export class HistoryAnswer {
  readonly #parts: readonly string[];
  #json: string | undefined;
  #bytes: Buffer | undefined;
  #etag: string | undefined;

  constructor(parts: readonly string[]) {
    this.#parts = parts;
  }

  /** Characters of its JSON. */
  get length(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  get json(): string {
    this.#json ??= this.#parts.join('');
    return this.#json;
  }

  get bytes(): Buffer {
    // Part by part: 0.6 MB take 0.3 ms instead of 2.2 ms.
    this.#bytes ??= Buffer.concat(this.#parts.map((part) => Buffer.from(part)));
    return this.#bytes;
  }

  /** A strong ETag. */
  get etag(): string {
    this.#etag ??= `"${createHash('sha256').update(this.bytes).digest('hex').slice(0, 16)}"`;
    return this.#etag;
  }
}
