/** The parser of event streams: every field and line end of the standard, at every split of the bytes. */
import t from 'tap';
import { EventParser, type ParsedEvent } from '#src/client/event-parser.js';

const message = (data: string): ParsedEvent => ({ type: 'message', data });

/** Streams and their events, by section 9.2.6 of the HTML standard. */
const CASES: readonly (readonly [name: string, text: string, events: readonly ParsedEvent[]])[] = [
  ['LF', 'data: one\n\ndata: two\n\n', [message('one'), message('two')]],
  ['CRLF', 'data: one\r\n\r\ndata: two\r\n\r\n', [message('one'), message('two')]],
  ['CR', 'data: one\r\rdata: two\r\r', [message('one'), message('two')]],
  ['all mixed', 'data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r', [message('a\nb\nc'), message('d')]],
  ['an LF after CRLF is a blank line', 'data: a\r\n\ndata: b\r\n\n', [message('a'), message('b')]],
  ['comments', ':\n\n: said\ndata: x\n:between\n\n:\n\n', [message('x')]],
  [
    'characters of one to four bytes',
    'data: aé€𝄞\n\ndata: 温度 °C\n\n',
    [message('aé€𝄞'), message('温度 °C')],
  ],
  ['one space is cut, not two', 'data:  x\n\ndata:y \n\n', [message(' x'), message('y ')]],
  ['data without a value', 'data\n\ndata\ndata\n\ndata:\n\n', [message(''), message('\n'), message('')]],
  ['colons in the value', 'data: {"a":":"}\n\n', [message('{"a":":"}')]],
  ['named events', 'event: tick\ndata: 1\n\ndata: 2\n\n', [{ type: 'tick', data: '1' }, message('2')]],
  ['a name without data says nothing', 'event: tick\n\ndata: 1\n\n', [message('1')]],
  ['fields that nobody knows', 'id: 7\nfoo: bar\nDATA: no\ndata: yes\nx\n\n', [message('yes')]],
  ['what has no end is no event', 'data: whole\n\ndata: half\n', [message('whole')]],
  ['a byte order mark', '\uFEFFdata: x\n\n', [message('x')]],
  ['only the first byte order mark', '\uFEFFdata: x\n\n\uFEFFdata: y\n\n', [message('x')]],
];

function parsed(pieces: readonly Uint8Array[]): readonly ParsedEvent[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

for (const [name, text, events] of CASES)
  t.test(`${name}: at every split in two and three, and byte by byte`, async (t) => {
    const bytes = Buffer.from(text);
    t.strictSame(parsed([bytes]), events, 'whole');
    t.strictSame(parsed([...bytes].map((byte) => Uint8Array.of(byte))), events, 'byte by byte');
    const wrong: string[] = [];
    const wanted = JSON.stringify(events);
    for (let i = 0; i <= bytes.length; i++)
      for (let j = i; j <= bytes.length; j++) {
        const got = parsed([bytes.subarray(0, i), bytes.subarray(i, j), bytes.subarray(j)]);
        if (JSON.stringify(got) !== wanted) wrong.push(`${i}, ${j}: ${JSON.stringify(got)}`);
      }
    t.strictSame(wrong, [], `${((bytes.length + 1) * (bytes.length + 2)) / 2} splits`);
  });

t.test('an event is returned as soon as its last byte is there', async (t) => {
  const parser = new EventParser();
  t.strictSame(parser.push(Buffer.from('data: x\r\n')), []);
  t.strictSame(parser.push(Buffer.from('\r')), [message('x')], 'the LF that may follow is not waited for');
  t.strictSame(parser.push(Buffer.from('\ndata: y\n')), []);
  t.strictSame(parser.push(Buffer.from('\n')), [message('y')]);
});

t.test('retry is read when it is a number', async (t) => {
  const parser = new EventParser();
  for (const [line, ms] of [
    ['retry: 2500', 2500],
    ['retry: soon', 2500],
    ['retry: -1', 2500],
    ['retry:', 2500],
    ['retry: 1e3', 2500],
    ['retry:10', 10],
  ] as const) {
    parser.push(Buffer.from(`${line}\n`));
    t.equal(parser.retryMs, ms, line);
  }
});

t.test('invalid UTF-8 becomes the replacement character and nothing breaks', async (t) => {
  t.strictSame(parsed([Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xc3]), Buffer.from('\n\ndata: x\n\n')]), [
    message('\uFFFD'),
    message('x'),
  ]);
});

const MEGABYTE = 1024 * 1024;

t.test('neither a line nor an event without an end fills the memory', async (t) => {
  const filler = 'x'.repeat(1000);
  for (const [name, piece] of [
    ['a line', 'a'.repeat(MEGABYTE)],
    ['a line in small pieces', 'a'.repeat(100)],
    ['an event of long lines', `data: ${'x'.repeat(MEGABYTE)}\n`],
    ['an event of short lines', `data: ${filler}\n`.repeat(1000)],
    ['an event of empty lines', 'data\n'.repeat(200_000)],
    ['an event with comments', `data: ${filler}\n:${filler}\n`.repeat(500)],
    ['a comment', `:${'x'.repeat(MEGABYTE)}`],
  ] as const) {
    const parser = new EventParser();
    const bytes = Buffer.from(piece);
    let sent = 0;
    let most = 0;
    const pushAll = () => {
      for (; sent < 64 * MEGABYTE; sent += bytes.length) {
        parser.push(bytes);
        most = Math.max(most, parser.pending);
      }
    };
    t.throws(pushAll, { code: 'too_large', message: 'an event of the service is longer than 16 MiB' }, name);
    t.ok(
      sent <= 16 * MEGABYTE && most <= 16 * MEGABYTE,
      `${name}: ${sent} bytes were taken, ${most} pending`,
    );
  }
});

t.test('a stream of any length is read, and what is pending is counted for each event anew', async (t) => {
  const parser = new EventParser();
  const bytes = Buffer.from(`data: ${'x'.repeat(MEGABYTE)}\n\n:\n\ndata: y`);
  for (let i = 0; i < 40; i++) {
    parser.push(bytes);
    t.ok(parser.pending < 2 * MEGABYTE, `${parser.pending}`);
    parser.push(Buffer.from('\n\n'));
    t.equal(parser.pending, 0);
  }
});

t.test('an event of 8 MiB is whole in pieces of 100 bytes, in linear time', async (t) => {
  const parseTime = (length: number) => {
    const bytes = Buffer.from(`data: ${'x'.repeat(length)}\n\n`);
    const parser = new EventParser();
    const startedAt = performance.now();
    const found: ParsedEvent[] = [];
    for (let at = 0; at < bytes.length; at += 100) found.push(...parser.push(bytes.subarray(at, at + 100)));
    t.equal(found[0]?.data.length, length);
    return performance.now() - startedAt;
  };
  parseTime(MEGABYTE);
  const floor = parseTime(MEGABYTE);
  const taken = parseTime(8 * MEGABYTE);
  t.ok(taken < 64 * floor, `eight times as much takes ${(taken / floor).toFixed(1)} times as long`);
});
