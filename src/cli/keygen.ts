/** `hostwire keygen`: a new API key. */
import { randomBytes } from 'node:crypto';
import type { Output } from './output.ts';

/** 64 hex characters (256 random bits) and a newline. */
export function generateKey(): Output {
  return { text: `${randomBytes(32).toString('hex')}\n`, exitCode: 0 };
}
