/** Charts of characters: two points per character and four steps per row in braille, coarser in ASCII. Pure. */

/** null: unknown. */
export type Point = number | null;

/** The dots of the left and of the right column of a braille character, from the bottom. */
const LEFT = [0, 0x40, 0x44, 0x46, 0x47] as const;
const RIGHT = [0, 0x80, 0xa0, 0xb0, 0xb8] as const;
const BRAILLE = 0x2800;
const ASCII = ' .:|#';
const STEPS = 4;

/** Draws the newest of `points` (the last) at the right. `max`: fills all `rows`; the first row is the topmost. */
export function drawChart(
  points: readonly Point[],
  { columns, rows, max }: { readonly columns: number; readonly rows: number; readonly max: number },
  isAscii: boolean,
): readonly string[] {
  // A value above zero shows at least one dot, and so does zero: a gap means that the value is unknown.
  const levels = Array.from({ length: columns * 2 }, (_, at) => {
    const point = points[points.length - columns * 2 + at] ?? null;
    return point === null ? 0 : Math.max(1, Math.min(rows * STEPS, Math.round((point / max) * rows * STEPS)));
  });
  return Array.from({ length: rows }, (_, row) => {
    const below = (rows - 1 - row) * STEPS;
    const filled = (at: number) => Math.max(0, Math.min(STEPS, (levels[at] ?? 0) - below));
    return Array.from({ length: columns }, (_, at) => {
      const [left, right] = [filled(at * 2), filled(at * 2 + 1)];
      if (isAscii) return ASCII[Math.max(left, right)];
      const dots = (LEFT[left] ?? 0) | (RIGHT[right] ?? 0);
      return dots === 0 ? ' ' : String.fromCharCode(BRAILLE + dots);
    }).join('');
  });
}

const BLOCKS = '▁▂▃▄▅▆▇█';

/** Draws one character per value of 0 to 100. */
export const drawBars = (values: readonly Point[], isAscii: boolean): string =>
  values
    .map((value) => {
      if (typeof value !== 'number') return '?';
      const share = Math.max(0, Math.min(1, value / 100));
      return isAscii ? String(Math.floor(share * 9.99)) : BLOCKS[Math.min(7, Math.floor(share * 8))];
    })
    .join('');
