/** Conditional requests: whether the client has what it asks for already. */
import type { HeaderLists } from './uws/exchange.ts';

/** The entries of a header that is a list. */
export const entriesOf = (headers: HeaderLists, name: string): readonly string[] =>
  (headers.get(name) ?? []).flatMap((value) => value.split(',')).map((entry) => entry.trim());

/** Whether `If-None-Match` names `etag`: compared weakly, as RFC 9110, 13.1.2 has it. */
export function isKnown(etag: string, headers: HeaderLists): boolean {
  const strong = (tag: string) => tag.replace(/^W\//, '');
  return entriesOf(headers, 'if-none-match').some((entry) => entry === '*' || strong(entry) === strong(etag));
}
