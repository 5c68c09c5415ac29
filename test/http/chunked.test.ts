/** The framing of chunked bodies: what is taken, what is refused, however the bytes are split. */
import t from 'tap';
import { ChunkedReader } from '#src/http/chunked.js';

/** The body in `text`, which arrives in pieces of `size` bytes; the rest after its end. */
function read(
  text: string,
  size: number,
): { readonly body: string; readonly rest: string; readonly isDone: boolean } {
  let body = '';
  const reader = new ChunkedReader({
    onBody: (bytes, start, end) => {
      body += bytes.toString('latin1', start, end);
    },
  });
  const all = Buffer.from(text, 'latin1');
  for (let at = 0; at < all.length; at += size) {
    const piece = all.subarray(at, at + size);
    const end = reader.push(piece);
    if (reader.isDone) return { body, rest: all.toString('latin1', at + end), isDone: true };
    if (end !== piece.length) throw new Error('bytes were left');
  }
  return { body, rest: '', isDone: reader.isDone };
}

const SIZES = [1, 2, 3, 7, 1000];

t.test('bodies, extensions and trailers', async (t) => {
  const cases: readonly (readonly [text: string, body: string])[] = [
    ['0\r\n\r\n', ''],
    ['3\r\nabc\r\n0\r\n\r\n', 'abc'],
    ['A\r\n0123456789\r\n00\r\n\r\n', '0123456789'],
    ['1;name=value\r\nx\r\n1 ; a="b"\r\ny\r\n0;last\r\n\r\n', 'xy'],
    ['1\r\n\r\r\n2\r\n\r\n\r\n0\r\n\r\n', '\r\r\n'],
    ['1\r\nx\r\n0\r\nTrailer: one\r\nOther: two\r\n\r\n', 'x'],
  ];
  for (const [text, body] of cases)
    for (const size of SIZES)
      t.strictSame(read(`${text}next`, size), { body, rest: read(`${text}next`, size).rest, isDone: true });
  t.equal(read('1\r\nx\r\n0\r\n\r\nGET /', 1000).rest, 'GET /', 'what follows is not taken');
  t.equal(read('5\r\nab', 1).isDone, false);
});

t.test('malformed chunked bodies', async (t) => {
  const cases = [
    '\r\n',
    'x\r\n',
    '-1\r\n',
    '0x4\r\n',
    ' 4\r\n',
    '@\r\n',
    ':\r\n',
    ';a\r\n',
    '123456789\r\n',
    'fffffffff\r\n',
    '4\n',
    '4\rx',
    '1\r\nxy',
    '1\r\nx\rz',
    '1\r\nx\r\n\r\n',
    '0\r\n\n',
    '0\r\nA: b\n',
    '0\r\n\rx',
    `1;${'e'.repeat(4096)}\r\nx\r\n`,
    `${`1;${'e'.repeat(100)}\r\nx\r\n`.repeat(50)}`,
    `0\r\n${'T: u\r\n'.repeat(1000)}`,
  ];
  for (const text of cases)
    for (const size of SIZES)
      t.throws(() => read(text, size), { message: /^a (?:chunk|line) / }, JSON.stringify(text.slice(0, 40)));
});
