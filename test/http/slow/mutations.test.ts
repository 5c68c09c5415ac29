/** Mutated requests: no crash, no hang, no wrong success, no stray header. HOSTWIRE_FULL=1: 100,000 of them. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import t from 'tap';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import {
  ask,
  parseAnswer,
  parseChunk,
  parseHead,
  RawConnection,
  requestBytes,
  valuesOf,
} from '../../helpers/clients/http.ts';
import { DIFFERENCES } from '../../helpers/service/differences.ts';
import { serveProgram } from '../../helpers/service/service.ts';
import { type JudgedRequest, judge } from '../judge.ts';
import { mutant, randomOf, SEEDS } from '../mutate.ts';

const COUNT = process.env['HOSTWIRE_FULL'] === '1' ? 100_000 : 10_000;
const SEED = Number(process.env['HOSTWIRE_SEED'] ?? 20_240_607);
const CONCURRENCY = 48;
/** How long to listen to a peer that says nothing before hanging up. */
const QUIET_MS = 15;
/** A hang-up must be noticed within this time. */
const HANG_UP_LIMIT_MS = 5000;
const ANSWER_LIMIT_MS = 5000;

const STATUSES = new Set([100, 200, 204, 400, 403, 404, 405, 413, 415, 426, 431, 505]);
const HEADERS = new Set(
  (
    'content-type content-security-policy referrer-policy cross-origin-opener-policy permissions-policy vary etag cache-control x-content-type-options cross-origin-resource-policy x-frame-options x-accel-buffering allow upgrade connection date ' +
    'uwebsockets content-length transfer-encoding x-ignored-fields x-error-code www-authenticate sec-websocket-version'
  ).split(' '),
);

interface Exchanged {
  readonly pieces: readonly Buffer[];
  readonly judged: readonly JudgedRequest[];
  /** Whether a success is due, not only allowed. */
  readonly isDue: boolean;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function checkHead(head: NonNullable<ReturnType<typeof parseHead>>): string | undefined {
  if (!STATUSES.has(head.status)) return `status ${head.status}`;
  const names = head.headers.map(([name]) => name.toLowerCase());
  // Connection is a list: `Upgrade` of a 426 and `close` may stand in lines of their own.
  const isTwice = (name: string, i: number) => name !== 'connection' && names.indexOf(name) !== i;
  const stray = names.find((name, i) => !HEADERS.has(name) || isTwice(name, i));
  if (stray !== undefined) return `header ${stray}`;
  const ignored = valuesOf(head, 'x-ignored-fields');
  return ignored.some((list) => !/^[\w.-]{1,32}(, [\w.-]{1,32}){0,7}$/.test(list))
    ? 'X-Ignored-Fields'
    : undefined;
}

/** The fault in the bytes that came back; undefined: none. */
function faultOf(received: Buffer, { judged, isDue }: Exchanged): string | undefined {
  let rest = received;
  let successes = 0;
  for (let i = 0; rest.length > 0; ) {
    const head = parseHead(rest);
    if (head === undefined) return 'half an answer';
    const fault = checkHead(head);
    if (fault !== undefined) return fault;
    const request = judged[i];
    if (head.status === 200 || head.status === 204) {
      if (request?.success !== head.status) return `a wrong ${head.status} for request ${i + 1}`;
      successes++;
    }
    if (
      valuesOf(head, 'content-type').includes('text/event-stream; charset=utf-8') &&
      request?.method !== 'HEAD'
    ) {
      // If the bytes after a stream's request are not HTTP, uWebSockets.js answers into the stream and closes.
      const own = /(?:\r\n)?HTTP\/1\.1 (?:400|431|505) [A-Za-z ]+\r\nConnection: close\r\n\r\n<h1>.*$/s;
      const ownAt = rest.toString('latin1').search(own);
      const stream = ownAt < 0 ? rest : Buffer.concat([rest.subarray(0, ownAt), Buffer.from('\r\n')]);
      for (let at = head.bytes; at < stream.length; )
        at = parseChunk(stream, at)?.end ?? Number.POSITIVE_INFINITY;
      break;
    }
    // An answer to bytes that the judge does not accept as a request: whether it was a HEAD is unknown.
    if (request === undefined)
      return /HTTP\/1\.1 20[04] /.test(rest.toString('latin1')) ? 'a success too many' : undefined;
    // The answer of an engine itself to bytes that are not HTTP has a body, also for HEAD, up to the end.
    const isBare = valuesOf(head, 'content-type').length === 0;
    const hasError = rest.toString('latin1', head.bytes).startsWith('{"error":');
    const isItsOwn = (isBare || hasError) && [400, 408, 431, 505].includes(head.status);
    const whole = parseAnswer(rest, isItsOwn ? 'GET' : request.method, true);
    if (whole === undefined) return 'half an answer';
    rest = rest.subarray(whole.end);
    if (head.status >= 200) i++;
  }
  return isDue && successes === 0 ? 'no success where one was due' : undefined;
}

async function exchange(port: number, exchanged: Exchanged): Promise<string | undefined> {
  const connection = await RawConnection.open(port);
  try {
    for (const [i, piece] of exchanged.pieces.entries()) {
      if (i > 0) await sleep(1);
      connection.write(piece);
    }
    const hasAnswer = (bytes: Buffer) => {
      const interim = bytes.includes('HTTP/1.1 100') ? 'HTTP/1.1 100 Continue\r\n\r\n'.length : 0;
      return bytes.includes('\r\n\r\n', interim) ? true : undefined;
    };
    const wait = exchanged.isDue ? ANSWER_LIMIT_MS : QUIET_MS;
    await connection
      .until((bytes, isClosed) => hasAnswer(bytes) ?? (isClosed || undefined), wait)
      .catch(() => {});
    connection.end();
    await connection.closed(HANG_UP_LIMIT_MS);
    return faultOf(connection.rest, exchanged);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    connection.destroy();
  }
}

/** Every valid request cut in two at every offset, then `count` mutants, some of them cut too. */
function* exchanges(count: number): Generator<Exchanged> {
  let left = count;
  for (const seed of SEEDS) {
    const judged = judge(seed);
    // A request line that comes in pieces may be refused with 505 by one of the engines: the only refusal allowed.
    const lineEnd = DIFFERENCES.servesAllForms ? 0 : seed.indexOf('\r\n') + 2;
    const isOne = judged.length === 1 && judged[0]?.isPlain === true && judged[0].success !== undefined;
    for (let at = 1; at < seed.length && left > 0; at++, left--)
      yield { pieces: [seed.subarray(0, at), seed.subarray(at)], judged, isDue: isOne && at >= lineEnd };
  }
  const random = randomOf(SEED);
  for (; left > 0; left--) {
    const bytes = mutant(random);
    const judged = judge(bytes);
    const first = judged[0];
    const cut = random() < 0.3 ? 1 + Math.floor(random() * bytes.length) : bytes.length;
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)].filter((piece) => piece.length > 0);
    const isAlone = judged.length === 1 && bytes.indexOf('\r\n\r\n') === bytes.length - 4;
    yield {
      pieces,
      judged,
      isDue: pieces.length === 1 && isAlone && first?.isPlain === true && first.success !== undefined,
    };
  }
}

const residentMib = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;

t.setTimeout(900_000);

t.test('[2.robust] mutated requests', async (t) => {
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const { port, pid } = service;
  // Keeps a sample young, so that usage is answered immediately.
  const listener = await EventStream.openIn(t, port);
  const queue = exchanges(COUNT);
  const faults: string[] = [];
  let done = 0;
  let due = 0;
  let warmMib = 0;
  const worker = async () => {
    for (const next of queue) {
      if (faults.length > 5) return;
      const fault = await exchange(port, next);
      if (next.isDue) due++;
      if (fault !== undefined)
        faults.push(`${fault}: ${JSON.stringify(next.pieces.map(String)).slice(0, 600)}`);
      if (++done === COUNT / 2) warmMib = residentMib(pid);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  t.strictSame(faults, [], 'no fault');
  t.equal(done, COUNT, `${COUNT} requests in ${seconds} s, seed ${SEED}`);
  t.ok(due > COUNT / 20, `${due} of them had to be answered with a success`);
  t.equal((await ask(port, '/api/status')).status, 200, 'the service is alive');
  t.match(await listener.next(3000), { text: /^data: / }, 'and streams');
  const endMib = residentMib(pid);
  t.ok(
    endMib - warmMib < 24,
    `memory ${warmMib.toFixed(0)} MiB half way, ${endMib.toFixed(0)} MiB at the end`,
  );
  const connection = await RawConnection.openIn(t, port);
  for (let i = 0; i < 50; i++) {
    connection.write(requestBytes('/api/status'));
    t.equal((await connection.readAnswer()).status, 200);
  }
});
