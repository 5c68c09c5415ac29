/** Connections that end at any byte: every sample whose last byte arrived is reported once, and no other. */
import '../../helpers/service/dead-buses.ts';
import t from 'tap';
import { WebSocket } from 'ws';
import { parseChunk, parseHead } from '../../helpers/clients/http.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { type Relay, startRelay } from '../cutting-relay.ts';
import { liveClients, markOf } from '../live-clients.ts';
import { markedHost } from '../marked-host.ts';

const CUTS = process.env['HOSTWIRE_FULL'] === '1' ? 400 : 16;

t.setTimeout(300_000);
t.jobs = 2;

const marksIn = (text: string): readonly number[] =>
  [...text.matchAll(/"bytesRecv":(\d+)[^\n]*\n\n/g)].map(([, mark]) => Number(mark));

/** The samples whose end was among the bytes that one connection of an event stream passed on. */
function samplesOfStream(pieces: readonly Buffer[]): readonly number[] {
  const bytes = Buffer.concat(pieces);
  const head = parseHead(bytes);
  if (head === undefined) return [];
  let text = '';
  for (let at = head.bytes; ; ) {
    const chunk = parseChunk(bytes, at);
    if (chunk === undefined) return marksIn(text);
    text += chunk.data.toString();
    at = chunk.end;
  }
}

/** The samples in whole frames that one WebSocket passed on: frames of a service are not masked. */
function samplesOfSocket(pieces: readonly Buffer[]): readonly number[] {
  const bytes = Buffer.concat(pieces);
  const marks: number[] = [];
  let at = bytes.indexOf('\r\n\r\n') + 4;
  if (at < 4) return marks;
  while (at + 4 <= bytes.length) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const head = short === 126 ? 4 : 2;
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    const end = at + head + length;
    if (end > bytes.length) break;
    const text = bytes.toString('utf8', at + head, end);
    const mark = /^\{"type":"system_stats".*"bytesRecv":(\d+)/.exec(text)?.[1];
    if (mark !== undefined) marks.push(Number(mark));
    at = end;
  }
  return marks;
}

/** Pseudo-random numbers that are equal in every run. */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Ends one connection after another, within `maxBytes` or 0.5 s; returns a check whether all of them have ended. */
function cutAgainAndAgain(relay: Relay, maxBytes: number): () => boolean {
  const random = pseudoRandom(7);
  let cuts = 0;
  relay.nextEnd = () => {
    if (cuts++ >= CUTS) return {};
    return random() < 0.5 ? { bytes: Math.ceil(random() * maxBytes) } : { ms: random() * 500 };
  };
  return () => cuts > CUTS;
}

const inOrder = (marks: readonly number[]) => [...new Set(marks)];

const KINDS = [
  { kind: 'stream', other: 'socket', nodes: 1, maxBytes: 900, samplesOf: samplesOfStream },
  { kind: 'socket', other: 'stream', nodes: 2, maxBytes: 1500, samplesOf: samplesOfSocket },
] as const;

for (const { kind, other, nodes, maxBytes, samplesOf } of KINDS)
  t.test(`a ${kind} that is cut ${CUTS} times`, async (t) => {
    const service = await serveHere(t, markedHost(nodes), { stats: { stream_interval_seconds: 1 } });
    // Keeps the sampler running, so that a reconnecting client is sent the latest sample again.
    const steady = liveClients({ url: service.baseUrl });
    t.teardown(() => steady.close());
    steady.socket.close();
    const relay = await startRelay(t, service.port);
    const isOver = cutAgainAndAgain(relay, maxBytes);
    const clients = liveClients({ url: relay.url, WebSocket });
    t.teardown(() => clients.close());
    // The other one would use the same relay, and use up the cuts.
    clients[other].close();
    if (kind === 'socket') void clients.socket.subscribe(['stats']).catch(() => undefined);
    await until(
      () => isOver() && clients[kind].state.state === 'open',
      () => `${relay.passed.length} cuts`,
      250_000,
    );
    await until(() => samplesOf(relay.passed.at(-1) ?? []).length > 1, 'no sample');
    clients.close();
    const sent = relay.passed.map(samplesOf);
    const received = (kind === 'stream' ? clients.samples : clients.pushed).map(markOf);
    t.ok(sent.some((marks) => marks.length === 0) && sent.some((marks) => marks.length > 0));
    t.strictSame(
      received,
      inOrder(sent.flat()).slice(0, received.length),
      'everything that arrived, in order, once',
    );
    t.ok(received.length >= inOrder(sent.slice(0, -1).flat()).length, 'none is missing');
    t.ok(sent.flat().length > received.length, 'and the service had repeated some');
    t.comment(
      `figure: ${CUTS} cut ${kind}s, ${received.length} samples reported of ${sent.flat().length} received`,
    );
  });
