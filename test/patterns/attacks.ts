/**
 * Makes hostile subjects from a pattern's own text: the text before each of its repetitions, then a long run of
 * characters that may be repeated there, then an ending that makes it fail. Parses only as much of the syntax as needed.
 */
import type { Hostile } from './judge.ts';

/** Part of a pattern that matches one character, nothing (anchors, references), or one of several sequences. */
interface Item {
  readonly source: string;
  /** undefined: a single character. */
  readonly options: Options | undefined;
  readonly min: number;
  readonly isRepeated: boolean;
}

/** The alternatives of a group. */
type Options = readonly (readonly Item[])[];

/** Beside ASCII: line ends of Unicode, letters, blanks, combining marks, and a character of two units. */
const BEYOND_ASCII = [
  '\u0085',
  '\u00a0',
  '\u00e9',
  '\u0301',
  '\u2028',
  '\u3042',
  '\ufe0f',
  '\ufeff',
  '\u{1f600}',
];
const ALPHABET = [
  ...['a', '1', ' ', '-', '_', '.', ':', '/'],
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...BEYOND_ASCII,
];
const ENDINGS = ['', '\u2028', '\u2028x', '\n', '\nx', '\x01', '\x7f', ' ', '\t', ' x', '!'];
/** Maximum kinds of characters for which pairs are made. */
const MAX_PAIRED = 5;

const QUANTIFIER = /^(?:([*+?])|\{(\d+)(?:,(\d*))?\})\??/;
const GROUP = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/;
const ESCAPE = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<\w+>|.)/s;
const CLASS = /^\[(?:\\.|[^\]\\])*\]/s;
/** Anchors, borders of words, references to groups. */
const EMPTY = /^(?:[$^]|\\[bB1-9]|\\k<)/;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#text.slice(this.#at)) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  /** The alternatives up to the end, or to the bracket that closes the group. */
  options(): Options {
    const options: Item[][] = [[]];
    for (;;) {
      const next = this.#text[this.#at];
      if (next === undefined || next === ')') return options;
      if (next === '|') {
        this.#at++;
        options.push([]);
      } else options.at(-1)?.push(this.#item());
    }
  }

  #item(): Item {
    const begin = this.#at;
    const group = this.#take(GROUP)?.[0];
    const options = group === undefined ? undefined : this.options();
    // The subject of a lookaround is not part of the text yet, or must not be.
    const isAhead = group === '(?=' || group === '(?!' || group === '(?<!';
    if (options === undefined) this.#take(CLASS) ?? this.#take(ESCAPE) ?? this.#take(/^./su);
    else this.#at++;
    const source = this.#text.slice(begin, this.#at);
    const [found, sign, least, most] = this.#take(QUANTIFIER) ?? [];
    const isEmpty = EMPTY.test(source) || isAhead;
    const max =
      sign === undefined
        ? Number(most === '' ? Number.POSITIVE_INFINITY : (most ?? least))
        : sign === '?'
          ? 1
          : Number.POSITIVE_INFINITY;
    return {
      source,
      options: isEmpty ? [[]] : options,
      min: isEmpty || sign === '*' || sign === '?' ? 0 : Number(least ?? 1),
      isRepeated: found !== undefined && max > 1,
    };
  }
}

const leavesOf = (items: readonly Item[]): readonly Item[] =>
  items.flatMap((item) => (item.options === undefined ? [item] : item.options.flatMap(leavesOf)));

class Attacker {
  readonly #options: Options;
  readonly #matches: ReadonlyMap<string, RegExp>;
  /** One character of each kind that the pattern distinguishes. */
  readonly #kinds: readonly string[];

  constructor(options: Options, flags: string) {
    this.#options = options;
    const own = flags.replaceAll(/[gy]/g, '');
    this.#matches = new Map(
      options.flatMap(leavesOf).map(({ source }) => [source, new RegExp(`^(?:${source})$`, own)]),
    );
    const kinds = new Map<string, string>();
    for (const character of ALPHABET) {
      const kind = [...this.#matches.values()].map((match) => (match.test(character) ? '1' : '0')).join('');
      if (!kinds.has(kind)) kinds.set(kind, character);
    }
    this.#kinds = [...kinds.values()];
  }

  /** A text that the item matches: the shortest, or with each part that may be left out once. */
  #sample({ source, options, min }: Item, isFull: boolean): string {
    if (min === 0 && !isFull) return '';
    const once =
      options === undefined
        ? (ALPHABET.find((character) => this.#matches.get(source)?.test(character)) ?? '')
        : this.#join(options[0] ?? [], isFull);
    return once.repeat(Math.max(1, min));
  }

  #join(items: readonly Item[], isFull: boolean): string {
    return items.map((item) => this.#sample(item, isFull)).join('');
  }

  /** Yields the text before each repetition, and a text of the repeated part. */
  *#places(items: readonly Item[], before: string, isFull: boolean): Iterable<readonly [string, string]> {
    let prefix = before;
    for (const item of items) {
      if (item.isRepeated) yield [prefix, this.#sample({ ...item, min: 1 }, isFull)];
      for (const option of item.options ?? []) {
        yield* this.#places(option, prefix, isFull);
        if (item.isRepeated) yield [prefix, this.#join(option, isFull)];
      }
      prefix += this.#sample(item, isFull);
    }
  }

  *attacks(): Iterable<Hostile> {
    const places = [false, true].flatMap((isFull) =>
      this.#options.flatMap((items) => [...this.#places(items, '', isFull)]),
    );
    // A pattern that may begin anywhere is also kept from beginning where the run does.
    const isAnchored = this.#options.every(([first]) => first?.source === '^');
    const first = isAnchored ? [''] : ['', ...this.#kinds];
    const prefixes = new Set([...first, ...places.map(([prefix]) => prefix)]);
    const pairs =
      this.#kinds.length > MAX_PAIRED ? [] : this.#kinds.flatMap((a) => this.#kinds.map((b) => a + b));
    const repeated = new Set([
      ...this.#kinds,
      ...pairs,
      ...places.map(([, text]) => text),
      ...(isAnchored ? [] : prefixes),
    ]);
    repeated.delete('');
    const endings = new Set([
      ...ENDINGS,
      ...this.#kinds.flatMap((kind) => [kind, `${kind}\n`, `${kind}\x01`]),
    ]);
    for (const prefix of prefixes)
      for (const part of repeated)
        for (const ending of endings)
          yield (length) => prefix + part.repeat(Math.ceil(length / part.length)) + ending;
  }
}

/** The attacks on a pattern. */
export function attacksOn({ source, flags }: RegExp): Iterable<Hostile> {
  return new Attacker(new Reader(source).options(), flags).attacks();
}
