/** Finds the word that was probably meant, by edit distance; a swap of neighbours counts as one edit. */

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
