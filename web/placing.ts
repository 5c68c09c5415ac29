/** Where cards stand: their order, and their columns, without stretching any of them. Pure. */

/** Width of a column with its gap, in units of the text size: columns have 26 to 34 where there are four or more. */
const COLUMN_REM = 30.375;
const EDGES_REM = 2;
const MAX_COLUMNS = 7;
/** Tops that differ by less are the same to the eye. */
const SAME_PX = 24;

export interface Box {
  /** Columns that it takes. */
  readonly span: number;
  readonly height: number;
}

export const columnsIn = (widthRem: number): number =>
  Math.max(1, Math.min(MAX_COLUMNS, Math.round((widthRem - EDGES_REM) / COLUMN_REM)));

/** Returns the first column of each box, from 0: where its top is highest, so that the order of the document is that of reading. */
export function placesOf(boxes: readonly Box[], columns: number): readonly number[] {
  const ends = Array.from({ length: columns }, () => 0);
  return boxes.map(({ span, height }) => {
    const width = Math.min(span, columns);
    const tops = ends.slice(width - 1).map((_, at) => Math.max(...ends.slice(at, at + width)));
    const least = Math.min(...tops);
    const place = tops.findIndex((top) => top - least < SAME_PX);
    ends.fill((tops[place] ?? 0) + height, place, place + width);
    return place;
  });
}

export interface Arrangement {
  /** Keys of cards, the first one first; empty: the page's own order. */
  readonly order: readonly string[];
  readonly folded: readonly string[];
}

const NONE: Arrangement = { order: [], folded: [] };

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

/** Returns the kept arrangement, whatever `kept` is. */
export function readArrangement(kept: string | null): Arrangement {
  try {
    const value: unknown = JSON.parse(kept ?? '{}');
    if (typeof value !== 'object' || value === null) return NONE;
    const { order, folded } = value as Readonly<Record<string, unknown>>; // Checked below.
    return { order: texts(order), folded: texts(folded) };
  } catch {
    return NONE;
  }
}

/** Returns `keys` in `order`; those that it lacks stand at the end. */
export function inOrder(keys: readonly string[], order: readonly string[]): readonly string[] {
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return [...keys].sort((a, b) => rank(a) - rank(b));
}

/** Returns `keys` with one of them moved to the place of its neighbour. */
export function moved(keys: readonly string[], key: string, by: 1 | -1): readonly string[] {
  const to = keys.indexOf(key) + by;
  const others = keys.filter((each) => each !== key);
  return to < 0 ? keys : [...others.slice(0, to), key, ...others.slice(to)];
}
