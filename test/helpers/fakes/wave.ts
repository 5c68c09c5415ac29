/** A value that always changes, for fake machines. */

/** From 0 to 1: a sum of waves whose lengths have no common multiple. */
export function wave(seconds: number, phase: number): number {
  const slow = Math.sin(seconds / 37 + phase) + Math.sin(seconds / 11.3 + 2.1 * phase);
  const quick = Math.sin(seconds / 3.7 + 5.3 * phase) + Math.sin(seconds / 1.9 + 7.7 * phase);
  return Math.min(1, Math.max(0, 0.44 + 0.17 * slow + 0.08 * quick));
}
