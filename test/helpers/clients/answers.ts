/** Checks of every answer: exactly the expected headers, and the bodies of the contract. */
import type { Test } from 'tap';
import { DIFFERENCES } from '../service/differences.ts';
import { jsonOf, type RawAnswer, valuesOf } from './http.ts';

export const JSON_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
};

/** The service adds these to every answer but an upgrade. */
const DEFENSIVE: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** The headers are exactly `expected` (lower-case names) and the defensive ones, each once, beside date, length and mark. */
export function checkHeaders(
  t: Test,
  answer: Pick<RawAnswer, 'headers'>,
  expected: Readonly<Record<string, string>>,
): void {
  const names = answer.headers.map(([name]) => name.toLowerCase());
  t.equal(new Set(names).size, names.length, 'each header once');
  const rest = answer.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !DIFFERENCES.ownHeaders.includes(name) && name !== 'content-length');
  const all = 'sec-websocket-accept' in expected ? expected : { ...DEFENSIVE, ...expected };
  t.strictSame(Object.fromEntries(rest), all, 'exactly the headers expected');
}

/** The error has the status, the code and a sentence, and nothing else. */
export function checkError(
  t: Test,
  answer: RawAnswer,
  status: number,
  code: string,
  extra: Readonly<Record<string, string>> = {},
): void {
  t.equal(answer.status, status);
  checkHeaders(t, answer, { ...JSON_HEADERS, ...extra });
  // The checks below narrow it.
  const body = jsonOf(answer) as { readonly error: unknown; readonly code: unknown };
  t.strictSame(Object.keys(body), ['error', 'code'], 'the documented keys only');
  t.equal(body.code, code);
  t.match(body.error, /^[A-Z][^\n]*\.$/, 'a sentence');
  t.notMatch(body.error, /\bat .*:\d+|node_modules|\.js\b/, 'no stack trace');
  t.strictSame(valuesOf(answer, 'content-length'), [`${answer.body.length}`]);
}
