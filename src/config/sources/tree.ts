/** The values that JSON and YAML are parsed into, with their lines. */

export type Scalar = string | number | boolean | null;

export interface MapEntry {
  readonly key: string;
  readonly line: Line;
  readonly value: Tree;
}

/** The line of a key or a value in its file, from 1; undefined for the value of an environment variable. */
export type Line = number | undefined;

export type Tree =
  | { readonly kind: 'scalar'; readonly line: Line; readonly value: Scalar }
  | { readonly kind: 'list'; readonly line: Line; readonly items: readonly Tree[] }
  | { readonly kind: 'map'; readonly line: Line; readonly entries: readonly MapEntry[] };

/** Something wrong with the text itself. */
export interface TextProblem {
  readonly line: Line;
  readonly path: readonly string[];
  readonly message: string;
}

export interface Parsed {
  /** undefined: the text has no value, or could not be parsed. */
  readonly tree: Tree | undefined;
  readonly problems: readonly TextProblem[];
}

/** The limit keeps the recursion from overflowing the stack; the deepest key of ours is at level 6. */
export const MAX_DEPTH = 32;

/** Offset → line from 1. CR, LF and CRLF end a line, as in YAML. */
export function createLineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/gu)) starts.push(match.index + match[0].length);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** The plain value; maps have no prototype. */
export function toValue(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.value;
  if (tree.kind === 'list') return tree.items.map(toValue);
  const map: Record<string, unknown> = Object.create(null);
  for (const { key, value } of tree.entries) map[key] = toValue(value);
  return map;
}
