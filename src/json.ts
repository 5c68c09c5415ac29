/** JSON of peers, read without exceptions, and a test for objects. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns whether JSON calls the value an object: not a list, not null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns `value` where it is an object, otherwise an empty one. */
export const membersOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Returns the value of `text`; undefined where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the object in `text`, a string or a Buffer; undefined where it is not the JSON of one. */
export function parseObject(text: { toString(): string }): JsonObject | undefined {
  const value = parseJson(text.toString());
  return isObject(value) ? value : undefined;
}
