/** Legal but unusual requests: Node's engine serves them, uWebSockets.js answers 505. */
import { execFileSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';
import type { EngineName } from '#src/engines.js';
import { RawConnection } from '../helpers/clients/http.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { isNodeEngine, TEST_ENGINE } from '../helpers/service/engine.ts';
import { serveProgram } from '../helpers/service/service.ts';

const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });

const HEAD = 'HTTP/1.1\r\nHost: localhost\r\n';

/** Writes `pieces` one after the other; returns the connection. */
async function ask(...pieces: readonly string[]): Promise<RawConnection> {
  const connection = await RawConnection.openIn(t, service.port);
  for (const piece of pieces) {
    connection.write(piece);
    // Each in a packet of its own: Nagle's algorithm is off.
    if (pieces.length > 1) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return connection;
}

/** Each with the status that Node's engine answers, and whether the connection stays open. */
const UNUSUAL: Readonly<Record<string, readonly [bytes: readonly string[], status: number, stays: boolean]>> =
  {
    'a request in 30 pieces': [splitOf(`GET /api/status ${HEAD}\r\n`, 30), 200, true],
    "haproxy's httpchk": [['OPTIONS / HTTP/1.0\r\n\r\n'], 204, false],
    'OPTIONS *': [['OPTIONS * HTTP/1.0\r\n\r\n'], 204, false],
    'HTTP/1.0': [['GET /api/status HTTP/1.0\r\n\r\n'], 200, false],
    'HTTP/1.0 that keeps alive': [
      ['GET /api/status HTTP/1.0\r\nHost: localhost\r\nConnection: Keep-Alive\r\n\r\n'],
      200,
      true,
    ],
    'absolute form': [['GET http://localhost/api/status HTTP/1.1\r\nHost: localhost\r\n\r\n'], 200, true],
  };

function splitOf(text: string, pieces: number): readonly string[] {
  const size = Math.ceil(text.length / pieces);
  return Array.from({ length: pieces }, (_, at) => text.slice(at * size, (at + 1) * size));
}

for (const [name, [pieces, status, stays]] of Object.entries(UNUSUAL))
  t.test(`[9.engine-unusual] ${name}`, async (t) => {
    const connection = await ask(...pieces);
    const answer = await connection.readAnswer();
    if (!DIFFERENCES.servesAllForms) {
      // A busy uWebSockets.js may read all pieces together, and then serves them.
      t.ok(answer.status === 505 || (pieces.length > 1 && answer.status === status), `${answer.status}`);
      return;
    }
    t.equal(answer.status, status);
    if (!stays) {
      await connection.closed();
      return;
    }
    connection.write(pieces.join(''));
    t.equal((await connection.readAnswer()).status, status, 'once more on the same connection');
  });

t.test('[9.engine-unusual] the authority of an absolute form is its Host', async (t) => {
  if (!DIFFERENCES.servesAllForms) return;
  const connection = await ask('GET http://evil.example/api/usage HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.equal((await connection.readAnswer()).status, 403);
});

t.test(
  '[9.engine-unusual] a stream for HTTP/1.0 has no chunks and lasts until the connection ends',
  async (t) => {
    if (!DIFFERENCES.servesAllForms) return;
    const connection = await ask('GET /api/stream?fields=cpu HTTP/1.0\r\nHost: localhost\r\n\r\n');
    const text = await connection.until((bytes) => {
      const received = bytes.toString('latin1');
      return /\r\n\r\n(?:data: \{[^\n]*\}\n\n){2}$/.test(received) ? received : undefined;
    });
    t.notMatch(text, /transfer-encoding/i);
  },
);

t.test('[9.engine-unusual] bytes that are no request', async (t) => {
  if (!DIFFERENCES.servesAllForms) return;
  for (const [bytes, status] of [
    ['\x16\x03\x01\x02\x00\x01\r\n\r\n', 400],
    ['GET /api/status HTTP/1.1\r\n\r\n', 400],
    ['GET /api/status HTTP/2.0\r\nHost: localhost\r\n\r\n', 505],
    ['GET /api/status HTTP/0.9\r\n\r\n', 505],
    [`GET /api/status ${HEAD}Cookie: ${'a'.repeat(17_000)}\r\n\r\n`, 431],
  ] as const) {
    const connection = await ask(bytes);
    const answer = await connection.readAnswer();
    t.equal(answer.status, status);
    t.match(JSON.parse(answer.body.toString()), { code: 'bad_request', error: /\.$/ });
    await connection.closed();
  }
});

t.test('[9.engine-differences] more than 100 headers', async (t) => {
  const many = Array.from({ length: 120 }, (_, at) => `X-${at}: 1\r\n`).join('');
  const connection = await ask(`GET /api/status ${HEAD}${many}\r\n`);
  t.equal((await connection.readAnswer()).status, DIFFERENCES.takesManyHeaders ? 200 : 431);
});

/** Script that prints what a process that chose this engine has loaded. */
const LOADED = (engine: EngineName) => `
  import { createRequire } from 'node:module';
  const { loadEngine } = await import(${JSON.stringify(import.meta.resolve('#src/engines.js'))});
  const engine = await loadEngine('${engine}');
  engine.create({ headersRead: new Set(), onRequest: () => undefined });
  const files = [...Object.keys(createRequire('/').cache), ...process.report.getReport().sharedObjects];
  console.log(JSON.stringify({
    uws: files.some((file) => /uws_\\w+\\.node$/.test(file)),
    http: process.moduleLoadList.includes('NativeModule _http_server'),
    ws: files.some((file) => /[\\\\/]ws[\\\\/]lib[\\\\/]/.test(file)),
  }));
`;

t.test(
  '[9.engine-loaded] the engine that is not used is not loaded, and ws only at an upgrade',
  async (t) => {
    const args = ['--input-type=module', '-e', LOADED(TEST_ENGINE)];
    t.strictSame(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })), {
      uws: !isNodeEngine,
      http: isNodeEngine,
      ws: false,
    });
  },
);
