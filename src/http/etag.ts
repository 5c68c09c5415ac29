/** Conditional requests: whether the client already has the current version. */
import type { Answer, HeaderLists } from './head.ts';
import { type Headers, statusLine } from './reply.ts';
import type { Request } from './routes.ts';

/** The entries of a header whose value is a list. */
export const entriesOf = (headers: HeaderLists, name: string): readonly string[] =>
  (headers.get(name) ?? []).flatMap((value) => value.split(',')).map((entry) => entry.trim());

/** Whether `If-None-Match` names `etag`, in the weak comparison of RFC 9110, 13.1.2. */
export function isKnown(etag: string, headers: HeaderLists): boolean {
  const strong = (tag: string) => tag.replace(/^W\//, '');
  return entriesOf(headers, 'if-none-match').some((entry) => entry === '*' || strong(entry) === strong(etag));
}

/** JSON that may be kept if it is asked about before each use; 304 where the client has it already. */
export function taggedJson(bytes: Buffer | string, etag: string, { exchange, headers }: Request): Answer {
  const common: Headers = [['ETag', etag], ['Cache-Control', 'no-cache'], ...headers];
  if (isKnown(etag, exchange.head.headers))
    return { status: statusLine(304), headers: common, body: undefined };
  const type = ['Content-Type', 'application/json; charset=utf-8'] as const;
  return { status: statusLine(200), headers: [type, ...common], body: bytes };
}
