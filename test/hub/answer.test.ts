/** The parser of agents' answers: every split of sound ones, and hostile ones. */
import t from 'tap';
import { type AnswerHead, AnswerParser } from '#src/hub/pull/answer.js';
import { createRandom } from '../helpers/random.ts';
import { Judge } from '../patterns/judge.ts';

interface Seen {
  status: number;
  headers: Record<string, string>;
  body: string;
  ends: number;
  error: string | undefined;
}

/** Feeds `parts` in one buffer that is overwritten, as connections do; then the end of the connection. */
function parse(parts: readonly Buffer[], hasBody = true, isClosed = false): Seen {
  const seen: Seen = { status: 0, headers: {}, body: '', ends: 0, error: undefined };
  const parser = new AnswerParser(
    {
      onHead({ status, headers }: AnswerHead) {
        seen.status = status;
        seen.headers = Object.fromEntries(headers);
      },
      onBody(bytes, start, end) {
        if (end <= start) throw new Error('an empty part');
        seen.body += bytes.toString('latin1', start, end);
      },
      onEnd() {
        seen.ends++;
      },
    },
    hasBody,
  );
  const shared = Buffer.alloc(Math.max(1, ...parts.map(({ length }) => length)));
  try {
    for (const part of parts) {
      part.copy(shared);
      parser.push(shared.subarray(0, part.length));
      shared.fill('#');
    }
    if (isClosed) parser.close();
  } catch (error) {
    seen.error = error instanceof Error ? error.message : String(error);
  }
  return seen;
}

const bytes = (text: string) => Buffer.from(text, 'latin1');
const EVENT = 'data: {"timestamp":1}\n\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk(EVENT)}${chunk(':\n\n')}${chunk(EVENT)}0\r\n\r\n`;
const SIZED = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 12\r\nX-Empty:\r\n\r\n{"error":""}';
const CLOSED = `${HEAD}\r\n${EVENT}`;

t.test('[I.hub.agents] a sound answer is the same at every split', async (t) => {
  const cases = [
    { text: CHUNKED, body: `${EVENT}:\n\n${EVENT}`, status: 200, isClosed: false },
    { text: SIZED, body: '{"error":""}', status: 503, isClosed: false },
    { text: CLOSED, body: EVENT, status: 200, isClosed: true },
  ];
  for (const { text, body, status, isClosed } of cases) {
    const whole = bytes(text);
    const wanted = { status, body, ends: 1, error: undefined };
    for (let at = 0; at <= whole.length; at++) {
      const seen = parse(
        [whole.subarray(0, at), whole.subarray(at)].filter(({ length }) => length > 0),
        true,
        isClosed,
      );
      const { headers: _, ...rest } = seen;
      if (JSON.stringify(rest) !== JSON.stringify(wanted)) t.strictSame(rest, wanted, `split at ${at}`);
    }
    const { headers: _, ...single } = parse(
      [...whole].map((byte) => Buffer.from([byte])),
      true,
      isClosed,
    );
    t.strictSame(single, wanted, 'byte by byte');
  }
  t.strictSame(parse([bytes(SIZED)]).headers, { 'content-length': '12', 'x-empty': '' });
});

t.test('a HEAD and answers without a body end with their heads', async (t) => {
  t.equal(parse([bytes(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`)], false).ends, 1);
  t.equal(parse([bytes('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n')], false).ends, 1);
  t.equal(parse([bytes('HTTP/1.1 204 No Content\r\n\r\n')]).ends, 1);
  t.equal(parse([bytes('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')]).ends, 1);
});

t.test('[I.hub.hostile] wrong bytes are refused, and nothing of them is passed on', async (t) => {
  const chunked = (rest: string) => `${HEAD}Transfer-Encoding: chunked\r\n\r\n${rest}`;
  const cases: readonly (readonly [string, string])[] = [
    ['HTTP/1.0 200 OK\r\n\r\n', 'status line'],
    ['HTTP/1.1 100 Continue\r\n\r\n', 'status line'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'status line'],
    ['HTTP/1.1 200\x01\r\n\r\n', 'status line'],
    ['SSH-2.0-OpenSSH_9.2\r\n\r\n', 'status line'],
    ['HTTP/1.1 200 OK\r\nA B: c\r\n\r\n', 'header'],
    ['HTTP/1.1 200 OK\r\n folded: c\r\n\r\n', 'header'],
    ['HTTP/1.1 200 OK\r\nA\r\n\r\n', 'header'],
    ['HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n', 'header'],
    ['HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n', 'header'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n', 'two framings'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', 'two framings'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 'unknown framing'],
    ['HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n', 'no number'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n', 'no number'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n', 'no number'],
    [chunked('\r\n'), 'valid size'],
    [chunked('5;x=y\r\n'), 'valid size'],
    [chunked(' 5\r\n'), 'valid size'],
    [chunked('-5\r\n'), 'valid size'],
    [chunked('000000005\r\n'), 'valid size'],
    [chunked('5\n'), 'valid size'],
    [chunked('5\rx'), 'end where'],
    [chunked('1\r\nabc'), 'end where'],
    [chunked('0\r\nTrailer: x\r\n\r\n'), 'end where'],
    [`${CHUNKED}x`, 'follow the answer'],
    [`${SIZED}HTTP/1.1 200 OK`, 'follow the answer'],
  ];
  for (const [text, reason] of cases) {
    for (const parts of [[bytes(text)], [...bytes(text)].map((byte) => Buffer.from([byte]))]) {
      const { error = '' } = parse(parts);
      if (!error.includes(reason)) t.fail(`${JSON.stringify(text)}: ${error}`);
    }
  }
  t.match(
    parse([bytes(`HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(4000)}`)]).error,
    'too long',
    'an endless head',
  );
  t.match(
    parse(Array.from({ length: 3000 }, () => bytes('A: bcde\r\n'))).error,
    'too long',
    'the same in small parts',
  );
  t.match(parse([bytes(CHUNKED.slice(0, -5))], true, true).error, 'within an answer', 'it ends too early');
  t.match(parse([bytes(SIZED.slice(0, -1))], true, true).error, 'within an answer');
});

/** Every text of up to `length` of the characters. */
function* textsOf(characters: readonly string[], length: number): Iterable<string> {
  yield '';
  if (length > 0)
    for (const rest of textsOf(characters, length - 1)) for (const each of characters) yield each + rest;
}

t.test(
  'blanks around the value of a header are no part of it, and control characters are refused',
  async (t) => {
    const wrong: unknown[] = [];
    // A no-break space is none of the blanks of HTTP.
    for (const text of textsOf(['v', ' ', '\t', '\xa0', '\x01'], 5)) {
      const { headers, error } = parse([bytes(`HTTP/1.1 204 No Content\r\nA:${text}\r\n\r\n`)]);
      let value = text;
      while (/^[ \t]/.test(value)) value = value.slice(1);
      while (/[ \t]$/.test(value)) value = value.slice(0, -1);
      const isSound = text.includes('\x01') ? error === 'a header is malformed' : headers['a'] === value;
      if (!isSound) wrong.push({ text, headers, error });
    }
    t.strictSame(wrong, []);
  },
);

t.test('a long line of blanks that is no header costs few scans of it', async (t) => {
  const judge = new Judge();
  const head = (line: string) => bytes(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`);
  for (const line of [
    `a:${' '.repeat(16_300)}\x01`,
    `a:${' \t'.repeat(8_150)}\x01`,
    `a:b${' '.repeat(16_300)}\x01`,
  ]) {
    const answer = head(line);
    t.equal(parse([answer]).error, 'a header is malformed');
    // One of as many letters takes 5, and 16,300 ways to divide the blanks take 10,000.
    const scans = judge.scansOf(() => parse([answer]), 100);
    t.ok(scans <= 100, `${scans.toFixed(1)} scans`);
  }
});

t.test('any bytes end in an answer, an error or a wait, and never in more body than came', async (t) => {
  const { below } = createRandom(21);
  const sound = bytes(CHUNKED);
  for (let round = 0; round < 3000; round++) {
    const changed = Buffer.from(sound);
    for (let changes = 1 + below(3); changes > 0; changes--) changed[below(changed.length)] = below(256);
    const at = below(changed.length);
    const split = parse([changed.subarray(0, at), changed.subarray(at)].filter(({ length }) => length > 0));
    const whole = parse([changed]);
    if (split.error !== whole.error || split.body !== whole.body || whole.body.length > changed.length)
      t.fail(JSON.stringify(changed.toString('latin1')));
  }
  t.pass('3,000 changed answers');
});
