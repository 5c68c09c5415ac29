/** Conditional requests: whether the client already has the current version. */
import type { HeaderLists } from './head.ts';

/** The entries of a header whose value is a list. */
export const entriesOf = (headers: HeaderLists, name: string): readonly string[] =>
  (headers.get(name) ?? []).flatMap((value) => value.split(',')).map((entry) => entry.trim());

/** Whether `If-None-Match` names `etag`, in the weak comparison of RFC 9110, 13.1.2. */
export function isKnown(etag: string, headers: HeaderLists): boolean {
  const strong = (tag: string) => tag.replace(/^W\//, '');
  return entriesOf(headers, 'if-none-match').some((entry) => entry === '*' || strong(entry) === strong(etag));
}
