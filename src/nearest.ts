/** Finds the name that was probably meant, by edit distance (a swap of neighbours counts as one edit) or by its words. */

/** Letters to add, drop, change or swap to turn `a` into `b`; `limit + 1` for any distance above `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      current.push(cost);
      least = Math.min(least, cost);
    }
    // A swap starts two rows back and costs one, so no later row can be below a row above the limit.
    if (least > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return Math.min(at(previous, b.length), limit + 1);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** The candidate with the smallest distance of at most `limit(candidate)`; of equals, the first. */
export function findNearest(
  word: string,
  candidates: Iterable<string>,
  limit: (candidate: string) => number,
): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const maxDistance = limit(candidate);
    const distance = editDistance(word, candidate, maxDistance);
    if (distance <= maxDistance && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

// With two edits allowed, a word of up to four letters would be near to almost any other; with one, a word of two.
function maxEdits(candidate: string): number {
  if (candidate.length <= 2) return 0;
  return candidate.length <= 4 ? 1 : 2;
}

/** The nearest candidate within two letters, whatever the case. */
export function findMeantAmong(word: string, candidates: readonly string[]): string | undefined {
  return findNearest(word, candidates, maxEdits) ?? findNearest(word.toLowerCase(), candidates, maxEdits);
}

const LIKE_EDITS = 3;
const MIN_LIKE_LETTERS = 8;
/** `interval` is like `stream_interval_seconds`; with more further words two names have little in common. */
const FURTHER_WORDS = 2;

const wordsOf = (name: string) =>
  name
    .replaceAll('.', '_')
    .split('_')
    .filter((word) => word !== '');

/**
 * A candidate that is less like `word` than a typo would be: three letters of a long name differ, it continues after `word`,
 * or it has all words of `word` and few others.
 */
export function findLike(word: string, candidates: readonly string[]): string | undefined {
  const near = findNearest(word, candidates, ({ length }) => (length < MIN_LIKE_LETTERS ? 0 : LIKE_EDITS));
  if (near !== undefined || word.length < 3) return near;
  const words = wordsOf(word);
  const hasAll = (candidate: string) => {
    const others = wordsOf(candidate);
    return others.length <= words.length + FURTHER_WORDS && words.every((each) => others.includes(each));
  };
  const longer = candidates.filter((candidate) => candidate.startsWith(word) || hasAll(candidate));
  return longer.toSorted((a, b) => a.length - b.length)[0];
}

const ALL_KEYS = 'docs/configuration.md lists all keys';

/** Ends a message about an unknown name; `otherwise`: the remedy if no name is like it. */
export const didYouMean = (name: string | undefined, otherwise = ALL_KEYS) =>
  `; ${name === undefined ? otherwise : `did you mean ${name}?`}`;
