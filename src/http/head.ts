/** The heads of requests and answers, the same with every engine. */

/** Headers by lower-case name, each with its values in order of arrival. */
export type HeaderLists = ReadonlyMap<string, readonly string[]>;

export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** The raw bytes before `?`, never decoded. */
  readonly path: string;
  /** The raw bytes after `?`; empty without any. */
  readonly query: string;
  readonly headers: HeaderLists;
  /** The peer's address; undefined when its socket is already reset. */
  readonly remoteAddress: string | undefined;
  /** It came over TLS. */
  readonly isSecure: boolean;
}

export interface Answer {
  readonly status: string;
  readonly headers: readonly Header[];
  /** undefined: no body and no Content-Length (204); '' sends Content-Length: 0. */
  readonly body: string | Buffer | undefined;
  /** Closes the connection after the answer. */
  readonly isLast?: boolean;
}

export type Header = readonly [name: string, value: string];

// No engine checks all of it: a line break in a value would begin another header, or another answer. node:http throws on
// others. A header that cannot be written is left out.
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * On every answer, refusals and streams included. A foreign page cannot read an answer without CORS, but where it may
 * embed some answers and not others it learns which one it got: 200 for a running process, 404 for another, 401 where
 * a key is needed.
 */
const DEFENSIVE_HEADERS: readonly Header[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
];

/** Passes each header of an answer to `write`: the defensive ones, then those of `headers` that are safe to write. */
export function writeHeaders(headers: readonly Header[], write: (name: string, value: string) => void): void {
  for (const [name, value] of DEFENSIVE_HEADERS) write(name, value);
  for (const [name, value] of headers) if (TOKEN.test(name) && VALUE.test(value)) write(name, value);
}

/** The headers of an answer, one name and one value after the other. */
export function flatHeaders(headers: readonly Header[]): string[] {
  const flat: string[] = [];
  writeHeaders(headers, (name, value) => void flat.push(name, value));
  return flat;
}

/** The head of an answer as bytes, for what is written past the engine. */
export function headBytes(status: string, headers: readonly Header[]): Buffer {
  const flat = flatHeaders([...headers, ['Date', new Date().toUTCString()]]);
  let text = `HTTP/1.1 ${status}\r\n`;
  for (let at = 0; at + 1 < flat.length; at += 2) text += `${flat[at]}: ${flat[at + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}

const CLOSE_OPTION = /(?:^|,)\s*close\s*(?:,|$)/i;

/** Whether the client wants the connection to end with the answer. */
export const saysClose = ({ headers }: RequestHead): boolean =>
  CLOSE_OPTION.test(headers.get('connection')?.join() ?? '');

/** Whether the raw `path` is that of a route: byte for byte, where `*` stands for one part that is not empty. */
export function matchesPath(route: string, path: string): boolean {
  const star = route.indexOf('*');
  if (star < 0) return route === path;
  const end = route.slice(star + 1);
  const part = path.slice(star, Math.max(star, path.length - end.length));
  return part !== '' && !part.includes('/') && path === `${route.slice(0, star)}${part}${end}`;
}
