/** Makes numbers fit for the wire: finite, not negative, rounded. */

/** Returns `part` of `whole` in percent with one decimal, 0–100; null when the whole is not positive. */
export function percentOf(part: number, whole: number): number | null {
  if (!(whole > 0)) return null;
  return oneDecimal(Math.min(100, Math.max(0, (part / whole) * 100)));
}

export const oneDecimal = (value: number): number => Math.round(value * 10) / 10;

/** Returns how much a counter grew; 0 if it stepped back. */
export const growth = (before: number, after: number): number => (after > before ? after - before : 0);

/** Returns a counter's growth per second, a whole number; null if it stepped back (a reset) or no time passed. */
export function rateOf(before: number, after: number, seconds: number): number | null {
  if (!(seconds > 0) || after < before) return null;
  return Math.round((after - before) / seconds);
}
