/** How the stream of an agent is cut into events: every split, and what is no event of the service. */
import t from 'tap';
import { EventSplitter, MAX_EVENT_BYTES } from '#src/hub/pull/events.js';

function split(parts: readonly string[]): { readonly events: readonly string[]; readonly error: string } {
  const events: Buffer[] = [];
  const splitter = new EventSplitter((event) => events.push(event));
  const shared = Buffer.alloc(Math.max(...parts.map(({ length }) => length)) + 4, '\n');
  let error = '';
  try {
    for (const part of parts) {
      shared.write(part, 2, 'latin1');
      splitter.push(shared, 2, 2 + part.length);
      // What lies beyond the part is of another connection.
      shared.fill('\n');
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  return { events: events.map(String), error };
}

const A = 'data: {"timestamp":1,"cpu":null}\n\n';
const B = 'data: {}\n\n';

t.test('[I.hub.agents] events are the same at every split, and comments are dropped', async (t) => {
  const text = `${A}:\n\n${B}: still here\n\n:\n\n${A}`;
  for (let at = 1; at < text.length; at++)
    for (let next = at + 1; next <= text.length; next += 7) {
      const { events, error } = split(
        [text.slice(0, at), text.slice(at, next), text.slice(next)].filter(Boolean),
      );
      if (error !== '' || events.join('|') !== [A, B, A].join('|'))
        t.fail(`${at}, ${next}: ${error} ${events}`);
    }
  t.strictSame(split([...text]), { events: [A, B, A], error: '' }, 'byte by byte');
  t.strictSame(split([text]), { events: [A, B, A], error: '' }, 'at once');
});

t.test('an event has bytes of its own, and no more', async (t) => {
  const events: Buffer[] = [];
  new EventSplitter((event) => events.push(event)).push(Buffer.from(A), 0, A.length);
  t.equal(events[0]?.buffer.byteLength, A.length, 'it keeps no larger buffer');
});

t.test('[I.hub.hostile] what the service does not send is refused', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['\n\n', 'no event'],
    ['event: x\n\n', 'no event'],
    ['data: [1]\n\n', 'no event'],
    ['data: {"a":1\n\n', 'no event'],
    ['data:{}\n\n', 'no event'],
    ['data: {"a":"\r"}\n\n', 'no event'],
    ['data: {}\r\n\r\n', 'more than one line'],
    ['data: {}\ndata: {}\n\n', 'more than one line'],
    [':\ndata: {}\n\n', 'more than one line'],
    ['HTTP/1.1 200 OK\n\n', 'no event'],
  ];
  for (const [text, reason] of cases)
    for (const parts of [[text], [...text]]) {
      const { events, error } = split(parts);
      if (!error.includes(reason) || events.length > 0) t.fail(`${JSON.stringify(text)}: ${error}`);
    }
  const { events, error } = split([A, 'rubbish\n\n', A]);
  t.strictSame(events, [A], 'what came before it was passed on');
  t.match(error, 'no event');
});

t.test('[I.hub.hostile] an event without an end is refused at its limit', async (t) => {
  const splitter = new EventSplitter(() => t.fail('an event'));
  const part = Buffer.alloc(64 * 1024, 'x');
  let taken = 0;
  t.throws(() => {
    for (; taken < 2 * MAX_EVENT_BYTES; taken += part.length) splitter.push(part, 0, part.length);
  }, /too long/);
  t.ok(taken <= MAX_EVENT_BYTES, `${taken} bytes`);
});
