/** The options of `hostwire pair`. */
import { parseExpiry } from '../access/expiry.ts';
import { DEFAULT_KEY } from '../access/key.ts';
import { quote } from '../clean.ts';
import { isScope, SCOPES } from '../scopes.ts';

const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
/** Ten years: longer than anybody remembers a key. */
const MAX_MS = 3660 * 86_400_000;

const LIFETIME = /^(\d{1,4})([hdw])$/;

/** `90d`, `12h`, `4w`: the moment in milliseconds of Unix time; undefined: it is neither of these. */
function endOfLifetime(text: string, nowMs: number): number | undefined {
  const [, digits, unit = ''] = LIFETIME.exec(text) ?? [];
  const lengthMs = Number(digits) * (UNITS_MS[unit] ?? 0);
  return lengthMs > 0 && lengthMs <= MAX_MS ? nowMs + lengthMs : undefined;
}

export interface PairWords {
  readonly name: string | undefined;
  /** As given: names with commas between them. */
  readonly scopes: string | undefined;
  readonly expires: string | undefined;
  /** Where the device reaches this service. */
  readonly url: string | undefined;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Returns why the words make no sense; undefined where they do. */
export function describePairProblem(
  { name, scopes, expires, url }: PairWords,
  nowMs = Date.now(),
): string | undefined {
  if (name !== undefined && (!NAME.test(name) || name === DEFAULT_KEY))
    return `--name expects 1 to 64 letters, digits, - and _, and not ${DEFAULT_KEY}, found ${quote(name)}`;
  const unknown = scopes?.split(',').find((scope) => !isScope(scope));
  if (unknown !== undefined) return `--scopes expects ${SCOPES.join(', ')}, found ${quote(unknown)}`;
  if (expires !== undefined && expiryOf(expires, nowMs) === undefined)
    return `--expires expects a duration (12h, 90d, 8w), or a date or time in the future, found ${quote(expires)}`;
  return url !== undefined && !isAddress(url)
    ? `--url expects http:// or https://, found ${quote(url)}`
    : undefined;
}

const isAddress = (text: string) => {
  if (!URL.canParse(text)) return false;
  const { protocol, hash, search } = new URL(text);
  return /^https?:$/.test(protocol) && hash === '' && search === '';
};

/** `--expires` as the configuration has it; undefined: it is not a time, or over. */
export function expiryOf(text: string, nowMs: number): string | undefined {
  const end = endOfLifetime(text, nowMs);
  if (end !== undefined) return new Date(end).toISOString().replace(/\.\d+Z$/, 'Z');
  return (parseExpiry(text) ?? 0) > nowMs ? text : undefined;
}
