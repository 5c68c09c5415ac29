/** Parses strict JSON (RFC 8259, as JSON.parse does) with the line of every value; errors quote nothing of the text. */
import {
  createLineFinder,
  type Line,
  MAX_DEPTH,
  type MapEntry,
  type Parsed,
  type Scalar,
  type Tree,
} from './tree.ts';

type LineOf = (offset: number) => Line;

class JsonSyntaxError extends Error {
  readonly offset: number;
  readonly path: readonly string[];

  constructor(message: string, offset: number, path: readonly string[]) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}

const SPACE = /[ \t\n\r]*/uy;
// Control characters must be escaped in JSON. No u flag: JSON.parse decides about lone surrogates.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be matched
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/uy;
const WORD = /(?:true|false|null)/uy;

/** `lineOf`: gives the line of an offset, where the text is that of a file. */
export function parseJson(text: string, lineOf: LineOf = createLineFinder(text)): Parsed {
  if (match(SPACE, text, 0).length === text.length) return { tree: undefined, problems: [] };
  try {
    return { tree: new Reader(text, lineOf).readDocument(), problems: [] };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { message, offset, path } = error;
    return { tree: undefined, problems: [{ line: lineOf(offset), path, message: `not JSON: ${message}` }] };
  }
}

function match(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? '';
}

class Reader {
  readonly #text: string;
  readonly #lineOf: LineOf;
  readonly #path: string[] = [];
  #offset = 0;
  #depth = 0;

  constructor(text: string, lineOf: LineOf) {
    this.#text = text;
    this.#lineOf = lineOf;
  }

  readDocument(): Tree {
    const tree = this.#readValue();
    this.#skipSpace();
    if (this.#offset < this.#text.length)
      this.#fail('expected the end of the file after the closing bracket');
    return tree;
  }

  #readValue(): Tree {
    this.#skipSpace();
    const first = this.#text[this.#offset];
    const line = this.#lineOf(this.#offset);
    if (first === '{') return this.#nested(() => ({ kind: 'map', line, entries: this.#readEntries() }));
    if (first === '[') return this.#nested(() => ({ kind: 'list', line, items: this.#readItems() }));
    return { kind: 'scalar', line, value: this.#readScalar() };
  }

  #nested(read: () => Tree): Tree {
    if (++this.#depth > MAX_DEPTH) this.#fail(`nested deeper than ${MAX_DEPTH} levels`);
    const tree = read();
    this.#depth--;
    return tree;
  }

  #readEntries(): MapEntry[] {
    const entries: MapEntry[] = [];
    this.#offset++;
    if (this.#accepts('}')) return entries;
    do {
      this.#skipSpace();
      const line = this.#lineOf(this.#offset);
      if (this.#text[this.#offset] !== '"') this.#fail('expected a key in double quotes');
      const key = this.#readString();
      this.#path.push(key);
      if (!this.#accepts(':')) this.#fail("expected ':' after the key");
      entries.push({ key, line, value: this.#readValue() });
      if (this.#closes('}')) return entries;
      this.#path.pop();
    } while (this.#accepts(','));
    return this.#fail("expected ',' or '}'");
  }

  #readItems(): Tree[] {
    const items: Tree[] = [];
    this.#offset++;
    if (this.#accepts(']')) return items;
    do {
      items.push(this.#readValue());
      if (this.#accepts(']')) return items;
    } while (this.#accepts(','));
    return this.#fail("expected ',' or ']'");
  }

  #readScalar(): Scalar {
    const first = this.#text[this.#offset];
    if (first === '"') return this.#readString();
    const token = match(NUMBER, this.#text, this.#offset) || match(WORD, this.#text, this.#offset);
    if (token === '')
      this.#fail(first === undefined ? 'the text ends too early; close its brackets' : 'expected a value');
    this.#offset += token.length;
    // A number, true, false or null by the patterns above.
    return JSON.parse(token) as Scalar;
  }

  #readString(): string {
    const token = match(STRING, this.#text, this.#offset);
    if (token === '')
      this.#fail(
        'a string is not closed, or contains a bad escape or a control character; write \\\\ for a backslash',
      );
    this.#offset += token.length;
    return String(JSON.parse(token));
  }

  #closes(bracket: string): boolean {
    const isClosed = this.#accepts(bracket);
    if (isClosed) this.#path.pop();
    return isClosed;
  }

  #accepts(wanted: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#offset] !== wanted) return false;
    this.#offset++;
    return true;
  }

  #skipSpace(): void {
    this.#offset += match(SPACE, this.#text, this.#offset).length;
  }

  #fail(message: string): never {
    const isComment = /^(?:\/[/*]|#)/u.test(this.#text.slice(this.#offset, this.#offset + 2));
    const isAfterComma =
      '}]'.includes(this.#text[this.#offset] ?? ' ') &&
      this.#text.slice(0, this.#offset).trimEnd().endsWith(',');
    const hint = isComment
      ? '; JSON has no comments, YAML has'
      : isAfterComma
        ? '; remove the comma before it'
        : '';
    throw new JsonSyntaxError(`${message}${hint}`, this.#offset, [...this.#path]);
  }
}
