/** Finds the members of a JSON object in its bytes, and checks all of it: a sample is cut and joined without being parsed. */

/** A member with its key's text (as written, escapes included) and its place, from the key's quote to its value's end. */
export interface Member {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const MAX_DEPTH = 32;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const ESCAPES = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));
const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

const isDigit = (byte: number) => byte >= 48 && byte <= 57;
const isHex = (byte: number) => isDigit(byte) || ((byte | 32) >= 97 && (byte | 32) <= 102);
/** What a number is made of: digits, + - . e E. */
const isOfNumber = (byte: number) =>
  isDigit(byte) || byte === 43 || byte === 45 || byte === 46 || (byte | 32) === 101;

class Scanner {
  readonly #bytes: Buffer;
  readonly #end: number;
  at: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.at = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.at === this.#end;
  }

  #skipBlanks(): void {
    for (
      let byte = this.#peek();
      byte === 32 || byte === 9 || byte === 10 || byte === 13;
      byte = this.#peek()
    )
      this.at++;
  }

  /** -1 at the end. */
  #peek(): number {
    return this.at < this.#end ? (this.#bytes[this.at] ?? -1) : -1;
  }

  #take(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.at++;
    return true;
  }

  /** A list or an object from its bracket on; `onMember` gets the members of an object. */
  items(close: number, depth: number, onMember?: (member: Member) => void): boolean {
    const isObject = close === 125;
    this.at++;
    this.#skipBlanks();
    if (this.#take(close)) return true;
    for (;;) {
      this.#skipBlanks();
      const start = this.at;
      if (isObject) {
        if (!this.#string()) return false;
        const keyEnd = this.at - 1;
        this.#skipBlanks();
        if (!this.#take(COLON) || !this.value(depth)) return false;
        onMember?.({ key: this.#bytes.toString('latin1', start + 1, keyEnd), start, end: this.at });
      } else if (!this.value(depth)) return false;
      this.#skipBlanks();
      if (this.#take(COMMA)) continue;
      return this.#take(close);
    }
  }

  value(depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    this.#skipBlanks();
    const byte = this.#peek();
    if (byte === QUOTE) return this.#string();
    if (byte === 123) return this.items(125, depth + 1);
    if (byte === 91) return this.items(93, depth + 1);
    if (byte === 45 || isDigit(byte)) return this.#number();
    const word = WORDS.find((each) => each[0] === byte);
    if (word === undefined || this.at + word.length > this.#end) return false;
    if (word.compare(this.#bytes, this.at, this.at + word.length) !== 0) return false;
    this.at += word.length;
    return true;
  }

  #number(): boolean {
    const start = this.at;
    while (isOfNumber(this.#peek())) this.at++;
    return NUMBER.test(this.#bytes.toString('latin1', start, this.at));
  }

  #string(): boolean {
    if (!this.#take(QUOTE)) return false;
    for (;;) {
      const byte = this.#peek();
      if (byte < 32) return false;
      this.at++;
      if (byte === QUOTE) return true;
      if (byte === BACKSLASH && !this.#escape()) return false;
    }
  }

  #escape(): boolean {
    const byte = this.#peek();
    this.at++;
    if (byte !== 117) return ESCAPES.has(byte);
    for (let i = 0; i < 4; i++, this.at++) if (!isHex(this.#peek())) return false;
    return true;
  }
}

/** The members of the object that is exactly the bytes from `start` to `end`; undefined if they are not valid JSON. */
export function membersOf(bytes: Buffer, start: number, end: number): readonly Member[] | undefined {
  if (bytes[start] !== 123 || start >= end) return undefined;
  const scanner = new Scanner(bytes, start, end);
  const members: Member[] = [];
  const isSound = scanner.items(125, 0, (member) => members.push(member));
  return isSound && scanner.isAtEnd ? members : undefined;
}
