/** Reading a body: its limits of bytes, of pieces and of time, the memory it is charged with, and its end. */
import t, { type Test } from 'tap';
import { type Body, readBody } from '#src/http/body.js';
import type { BodyEvents } from '#src/http/engine.js';
import { BodyEnds } from '#src/http/uws/body-ends.js';
import { requestBytes } from '../helpers/clients/http.ts';
import { startRoutes } from '../helpers/clients/routes.ts';
import { until } from '../helpers/until.ts';

/** An exchange whose body the test sends. */
function begin(limitMs?: number, announcedBytes?: number) {
  const reasons: string[] = [];
  let events: BodyEvents | undefined;
  let charged = 0;
  let cuts = 0;
  const body = readBody(
    {
      readBody: (given) => {
        events = given;
      },
      bufferBody: (bytes) => {
        charged = bytes;
      },
      cut: () => {
        cuts++;
        events?.onAborted();
      },
    },
    { isChunked: announcedBytes === undefined, announcedBytes: announcedBytes ?? 0 },
    (reason) => reasons.push(reason),
    limitMs,
  );
  return {
    body,
    reasons,
    send: (bytes: Buffer, isLast = false) => events?.onChunk(bytes, isLast),
    abort: () => events?.onAborted(),
    get charged() {
      return charged;
    },
    get cuts() {
      return cuts;
    },
  };
}

const bytesOf = (t: Test, body: Body | undefined) => {
  if (body?.isTooLarge !== false) return t.fail('there is no body');
  return body.bytes.toString();
};

t.test('pieces make one body', async (t) => {
  const reading = begin();
  const piece = Buffer.from('ab');
  reading.send(piece);
  piece.fill('x');
  reading.send(Buffer.from('cd'));
  reading.send(Buffer.alloc(0), true);
  t.equal(bytesOf(t, await reading.body), 'abcd', 'each piece was copied');
  t.strictSame(reading.reasons, []);
});

t.test('a body in too many pieces cuts its connection within the call of the last', async (t) => {
  const reading = begin();
  const one = Buffer.from('x');
  let taken = 0;
  while (reading.cuts === 0 && taken < 10_000) {
    reading.send(one);
    taken++;
  }
  t.equal(taken, 258, '256 pieces, and one for each 256 bytes');
  t.strictSame(reading.reasons, ['arrived in 258 pieces of 1 bytes on average']);
  reading.send(one);
  t.equal(reading.cuts, 1);
  t.equal(await reading.body, undefined, 'nothing acts on it');
});

t.test('empty pieces are pieces', async (t) => {
  const reading = begin();
  for (let i = 0; i < 257; i++) reading.send(Buffer.alloc(0));
  t.equal(reading.cuts, 1);
  t.equal(await reading.body, undefined);
});

t.test('a body of 1 MiB in pieces of 512 bytes is read to its end', async (t) => {
  const reading = begin();
  for (let i = 0; i < 2048; i++) reading.send(Buffer.alloc(512));
  reading.send(Buffer.alloc(0), true);
  t.strictSame(await reading.body, { isTooLarge: true, isDrained: true });
  t.equal(reading.cuts, 0);
});

t.test('pieces behind the limit of bytes are still counted', async (t) => {
  const reading = begin();
  for (let i = 0; i < 3; i++) reading.send(Buffer.alloc(2 ** 19));
  t.strictSame(await reading.body, { isTooLarge: true, isDrained: false });
  for (let i = 0; i < 10_000 && reading.cuts === 0; i++) reading.send(Buffer.from('x'));
  t.equal(reading.cuts, 1);
});

t.test('a slow body cuts its connection', async (t) => {
  const reading = begin(20);
  reading.send(Buffer.from('x'));
  t.equal(await reading.body, undefined);
  t.equal(reading.cuts, 1);
  t.strictSame(reading.reasons, ['took longer than 0.02 s']);
});

t.test('the quota is charged with the memory, not with the bytes', async (t) => {
  const [known, chunked] = [begin(undefined, 100), begin()];
  t.equal(known.charged, 1024 + 100, 'a body costs more than its bytes');
  t.equal(chunked.charged, 1024 + 16 * 1024, 'one that may have any length');
  for (const reading of [known, chunked]) reading.abort();
  t.equal(await known.body, undefined);
});

t.test('an end is reported in a later turn', async (t) => {
  const ends = new BodyEnds();
  const reported: string[] = [];
  ends.add(() => reported.push('first'));
  ends.add(() => reported.push('second'));
  t.strictSame(reported, []);
  await until(() => reported.length > 0);
  t.strictSame(reported, ['first', 'second']);
});

t.test('or when another connection is read, and once', async (t) => {
  const ends = new BodyEnds();
  const reported: string[] = [];
  ends.add(() => reported.push('first'));
  ends.reportAll();
  t.strictSame(reported, ['first']);
  ends.add(() => {
    reported.push('second');
    ends.reportAll();
  });
  ends.reportAll();
  t.strictSame(reported, ['first', 'second']);
  ends.add(() => reported.push('third'));
  await until(() => reported.length > 2);
  t.strictSame(reported, ['first', 'second', 'third']);
});

t.test('[2.429] 200 commands that arrive together do not wait for each other', async (t) => {
  let acts = 0;
  const served = await startRoutes([
    {
      path: '/json',
      methods: {
        POST: {
          body: 'json',
          run: () => {
            acts++;
            return { status: '200 OK', headers: [], body: '{}' };
          },
        },
      },
    },
  ]);
  t.teardown(() => served.stop());
  const connections = await Promise.all(Array.from({ length: 200 }, () => served.connect(t)));
  for (const connection of connections)
    connection.write(requestBytes('/json', { method: 'POST', body: '{}' }));
  const answers = await Promise.all(connections.map((connection) => connection.readAnswer()));
  t.strictSame(
    new Set(answers.map(({ status }) => status)),
    new Set([200]),
    'the limit of the address is 64',
  );
  t.equal(acts, 200);
});
