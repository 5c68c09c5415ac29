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

/** In one pass: a target of 16 KiB has room for 4,000 keys, and `getAll` looks at all of them each time. */
function valuesByKey(query: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [key, value] of query) {
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

/** A value of the wrong form stays a string, and a repeated key becomes a list: the check refuses both. */
export function paramsOf(query: URLSearchParams, { numbers, booleans }: QueryTypes): Params {
  const params: Record<string, unknown> = {};
  for (const [key, [value = '', ...more]] of valuesByKey(query)) {
    if (more.length > 0) params[key] = [value, ...more];
    else if (numbers.includes(key) && NUMBER.test(value)) params[key] = Number(value);
    else if (booleans.includes(key)) params[key] = BOOLEANS.get(value) ?? value;
    else params[key] = value;
  }
  return params;
}
