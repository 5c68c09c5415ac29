/** Converts D-Bus values to bytes and back (D-Bus specification, "Marshaling"; little-endian), for the fake peers. */

/** A value with its type. */
export interface Variant {
  readonly signature: string;
  readonly value: unknown;
}

export const variant = (signature: string, value: unknown): Variant => ({ signature, value });

const ALIGNMENTS: Readonly<Record<string, number>> = {
  y: 1,
  g: 1,
  v: 1,
  n: 2,
  q: 2,
  b: 4,
  i: 4,
  u: 4,
  s: 4,
  o: 4,
  a: 4,
  x: 8,
  t: 8,
  d: 8,
  '(': 8,
  '{': 8,
};
const alignmentOf = (type: string) => ALIGNMENTS[type[0] ?? ''] ?? 1;

/** The complete types that a signature is made of. */
export function typesIn(signature: string): readonly string[] {
  const types: string[] = [];
  for (let at = 0; at < signature.length; ) {
    let end = at;
    while (signature[end] === 'a') end++;
    let depth = 0;
    do {
      const sign = signature[end++] ?? '';
      if ('({'.includes(sign)) depth++;
      if (')}'.includes(sign)) depth--;
    } while (depth > 0 && end < signature.length);
    types.push(signature.slice(at, end));
    at = end;
  }
  return types;
}

export class Writer {
  #bytes = Buffer.alloc(1024);
  length = 0;

  align(to: number): void {
    this.#reserve(to);
    const padded = Math.ceil(this.length / to) * to;
    this.#bytes.fill(0, this.length, padded);
    this.length = padded;
  }

  write(type: string, value: unknown): void {
    this.align(alignmentOf(type));
    switch (type[0]) {
      case 'a':
        this.#array(type.slice(1), value as readonly unknown[]);
        return;
      case '(':
      case '{':
        for (const [i, inner] of typesIn(type.slice(1, -1)).entries())
          this.write(inner, (value as readonly unknown[])[i]);
        return;
      case 'v': {
        const { signature, value: inner } = value as Variant;
        this.write('g', signature);
        this.write(signature, inner);
        return;
      }
      case 'g':
        this.#text(String(value), 1);
        return;
      case 's':
      case 'o':
        this.#text(String(value), 4);
        return;
      default:
        this.#number(type, value as number | bigint | boolean);
    }
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(2 * (this.length + more));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }

  #text(text: string, lengthBytes: 1 | 4): void {
    const bytes = Buffer.from(text);
    this.#reserve(bytes.length + 5);
    if (lengthBytes === 1) this.#bytes.writeUInt8(bytes.length, this.length);
    else this.#bytes.writeUInt32LE(bytes.length, this.length);
    this.length += lengthBytes;
    bytes.copy(this.#bytes, this.length);
    this.length += bytes.length;
    this.#bytes[this.length++] = 0;
  }

  #array(type: string, values: readonly unknown[]): void {
    this.#reserve(4);
    const lengthAt = this.length;
    this.length += 4;
    this.align(alignmentOf(type));
    const start = this.length;
    for (const value of values) this.write(type, value);
    this.#bytes.writeUInt32LE(this.length - start, lengthAt);
  }

  #number(type: string, value: number | bigint | boolean): void {
    this.#reserve(8);
    const at = this.length;
    const writers: Readonly<Record<string, () => number>> = {
      y: () => this.#bytes.writeUInt8(Number(value), at),
      b: () => this.#bytes.writeUInt32LE(Number(value), at),
      n: () => this.#bytes.writeInt16LE(Number(value), at),
      q: () => this.#bytes.writeUInt16LE(Number(value), at),
      i: () => this.#bytes.writeInt32LE(Number(value), at),
      u: () => this.#bytes.writeUInt32LE(Number(value), at),
      x: () => this.#bytes.writeBigInt64LE(BigInt(value), at),
      t: () => this.#bytes.writeBigUInt64LE(BigInt(value), at),
      d: () => this.#bytes.writeDoubleLE(Number(value), at),
    };
    const write = writers[type];
    if (write === undefined) throw new Error(`no type ${type}`);
    this.length = write();
  }
}

export class Reader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  align(to: number): void {
    this.at = Math.ceil(this.at / to) * to;
  }

  read(type: string): unknown {
    this.align(alignmentOf(type));
    switch (type[0]) {
      case 'a':
        return this.#array(type.slice(1));
      case '(':
      case '{':
        return typesIn(type.slice(1, -1)).map((inner) => this.read(inner));
      case 'v': {
        const signature = String(this.read('g'));
        return variant(signature, this.read(signature));
      }
      case 'g':
        return this.#text(this.#bytes.readUInt8(this.#step(1)));
      case 's':
      case 'o':
        return this.#text(this.#bytes.readUInt32LE(this.#step(4)));
      default:
        return this.#number(type);
    }
  }

  #step(bytes: number): number {
    const at = this.at;
    this.at += bytes;
    return at;
  }

  #text(length: number): string {
    const at = this.#step(length + 1);
    return this.#bytes.toString('utf8', at, at + length);
  }

  #array(type: string): readonly unknown[] {
    const length = this.#bytes.readUInt32LE(this.#step(4));
    this.align(alignmentOf(type));
    const end = this.at + length;
    const values: unknown[] = [];
    while (this.at < end) values.push(this.read(type));
    return values;
  }

  #number(type: string): unknown {
    const readers: Readonly<Record<string, () => unknown>> = {
      y: () => this.#bytes.readUInt8(this.#step(1)),
      b: () => this.#bytes.readUInt32LE(this.#step(4)) !== 0,
      n: () => this.#bytes.readInt16LE(this.#step(2)),
      q: () => this.#bytes.readUInt16LE(this.#step(2)),
      i: () => this.#bytes.readInt32LE(this.#step(4)),
      u: () => this.#bytes.readUInt32LE(this.#step(4)),
      x: () => this.#bytes.readBigInt64LE(this.#step(8)),
      t: () => this.#bytes.readBigUInt64LE(this.#step(8)),
      d: () => this.#bytes.readDoubleLE(this.#step(8)),
    };
    const read = readers[type];
    if (read === undefined) throw new Error(`no type ${type}`);
    return read();
  }
}
