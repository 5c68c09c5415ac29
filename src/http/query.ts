/** Converts a query to the values that JSON would have. */
import type { Params } from '../params.ts';

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

const NUMBER = /^-?\d+(\.\d+)?$/;

/** The keys whose values are not strings. */
export interface QueryTypes {
  readonly numbers: readonly string[];
  readonly booleans: readonly string[];
}

/** A value of the wrong form stays a string, and a repeated key becomes a list: the check refuses both. */
export function paramsOf(query: URLSearchParams, { numbers, booleans }: QueryTypes): Params {
  const params: Record<string, unknown> = {};
  for (const key of new Set(query.keys())) {
    const [value = '', ...more] = query.getAll(key);
    if (more.length > 0) params[key] = [value, ...more];
    else if (numbers.includes(key) && NUMBER.test(value)) params[key] = Number(value);
    else if (booleans.includes(key)) params[key] = BOOLEANS.get(value) ?? value;
    else params[key] = value;
  }
  return params;
}
