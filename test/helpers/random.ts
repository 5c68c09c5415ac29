/** Pseudo-random numbers that are equal in every run. */
import process from 'node:process';
import type { Test } from 'tap';

/** The part of its inputs that a random loop takes: all of them in `npm run prove`. */
export const SHARE = process.env['HOSTWIRE_FULL'] === '1' ? 1 : 1 / 20;

/** Returns how many of `count` inputs a loop takes, and prints that with its seed. */
export function repetitions(t: Pick<Test, 'comment'>, count: number, seed: number): number {
  const taken = Math.ceil(count * SHARE);
  t.comment(`seed ${seed}, ${taken} of ${count}`);
  return taken;
}

export interface Random {
  /** A whole number from 0 to limit − 1. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  /** A 32-bit word, uniformly distributed. */
  word(): number;
}

/** xorshift32 with a multiplication at the end; `seed` is not 0. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const word = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.imul(state, 0x9e3779b1) >>> 0;
  };
  const below = (limit: number) => Math.floor((word() / 2 ** 32) * limit);
  return {
    word,
    below,
    pick(values) {
      const value = values[below(values.length)];
      if (value === undefined) throw new RangeError('nothing to pick from');
      return value;
    },
  };
}
