/** Selects the call of the addon that fail_nth.c, preloaded into this process, makes fail. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Size of `struct control` in test/native/fail_nth.c: five numbers of eight bytes and a text. */
export const CONTROL_BYTES = 256;
const NUMBERS_BYTES = 40;

export type FailureKind = 'call' | 'allocation';

export class FailControl {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openSync(path, 'r+');
  }

  /** Counts calls from 1 from now on; the `nth` one fails with `errno`. */
  arm(kind: FailureKind, nth: number, errno: number): void {
    this.disarm();
    this.#write(8, [0, errno]);
    this.#write(32, [kind === 'call' ? 1 : 2]);
    this.#write(0, [nth]);
  }

  disarm(): void {
    this.#write(0, [0]);
  }

  /** Sets the time by which the addon's clocks are ahead of the machine's. */
  setClockAhead(seconds: number): void {
    this.#write(24, [seconds * 1e9]);
  }

  /** Number of calls since it was armed. */
  get count(): number {
    return Number(this.#read(8, 8).readBigInt64LE());
  }

  /** Name of the last call that failed. */
  get what(): string {
    return (
      this.#read(NUMBERS_BYTES, CONTROL_BYTES - NUMBERS_BYTES)
        .toString('utf8')
        .split('\0')[0] ?? ''
    );
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(at: number, values: readonly number[]): void {
    const bytes = Buffer.alloc(8 * values.length);
    for (const [index, value] of values.entries()) bytes.writeBigInt64LE(BigInt(value), 8 * index);
    writeSync(this.#fd, bytes, 0, bytes.length, at);
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(this.#fd, bytes, 0, length, at);
    return bytes;
  }
}
