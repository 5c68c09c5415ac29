/**
 * Reads JSON that a machine has sent, once, where it enters the hub: what is passed on must neither cut nor confuse those
 * who read it together with that of other machines.
 */
import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject, parseJson } from '../json.ts';

/** Maximum nesting of a document. The service sends 5 levels; readers with a stack fail at some thousand. */
const MAX_DEPTH = 32;

/** True unless it is nested too deep, or has a number beyond those of JavaScript: `1e999` is valid JSON. */
function isSound(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isSound(item, depth + 1));
  const members = value as JsonObject; // It is not a list.
  for (const key in members) if (!isSound(members[key], depth + 1)) return false;
  return true;
}

/** The object that is exactly `bytes`; undefined where they are not valid UTF-8, or not JSON that may be passed on. */
export function readJsonObject(bytes: Buffer): JsonObject | undefined {
  const value = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined;
  return isObject(value) && isSound(value, 0) ? value : undefined;
}
