/** Foreign clients of the event stream get each event when a raw socket gets its bytes, not an interval later. */
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { type Certificate, makeCertificate } from './sse-clients/certificate.ts';
import { type Arrival, CLIENTS, type ForeignClient, whyMissing } from './sse-clients/clients.ts';

/** Judged per client: the median delay behind the raw reader. */
const MAX_DELAY_MS = 20;
const EVENTS = 15;

const SETUPS = [
  { engine: 'uws', scheme: 'http' },
  { engine: 'uws', scheme: 'https' },
  { engine: 'node', scheme: 'http' },
  { engine: 'node', scheme: 'https' },
] as const;

/** Times of arrival by payload, without events that came before. */
class Arrivals {
  readonly times = new Map<string, number>();
  readonly add = ({ atMs, payload }: Arrival): void => {
    // sseclient returns an event without data for each comment.
    if (payload !== '' && !this.times.has(payload)) this.times.set(payload, atMs);
  };
}

/** Reads the stream's bytes, without a parser for chunks: when the text of an event is there, it has arrived. */
function readRaw(url: URL, { env }: Certificate, { add }: Arrivals): () => void {
  const target = { host: url.hostname, port: Number(url.port) };
  const socket =
    url.protocol === 'https:'
      ? tls.connect({ ...target, ca: readFileSync(env.SSL_CERT_FILE) })
      : net.connect(target);
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    const atMs = Date.now();
    for (let found = EVENT.exec(text); found !== null; found = EVENT.exec(text)) {
      add({ atMs, payload: found[1] ?? '' });
      text = text.slice(found.index + found[0].length);
    }
  });
  return () => void socket.destroy();
}

const EVENT = /data: (\{[^\n]*\})\n/;

function delaysBetween(seen: Arrivals, raw: Arrivals, from: number): readonly number[] {
  return [...raw.times]
    .filter(([, atMs]) => atMs >= from)
    .flatMap(([payload, atMs]) => {
      const seenAt = seen.times.get(payload);
      return seenAt === undefined ? [] : [seenAt - atMs];
    })
    .sort((a, b) => a - b);
}

const medianOf = (sorted: readonly number[]) =>
  sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;

interface Run {
  readonly client: ForeignClient;
  readonly seen: Arrivals;
}

async function startAll(t: Test, url: string, certificate: Certificate): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const client of CLIENTS) {
    const seen = new Arrivals();
    const stop = await client.start(url, certificate, seen.add);
    t.teardown(stop);
    runs.push({ client, seen });
  }
  return runs;
}

for (const { engine, scheme } of SETUPS)
  t.test(
    `[4.clients] ${engine}, ${scheme}: events reach every client immediately`,
    { skip: whyMissing(), timeout: 2 * PATIENCE_MS },
    async (t) => {
      const certificate = await makeCertificate(t);
      const server = { engine, ...(scheme === 'https' && { tls: certificate.tls }) };
      const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 }, server } });
      const url = new URL('/api/stream', service.baseUrl);
      t.equal(url.protocol, `${scheme}:`);
      const raw = new Arrivals();
      t.teardown(readRaw(url, certificate, raw));
      const runs = await startAll(t, url.href, certificate);
      const countsOf = (count: (run: Run) => number) => () =>
        runs.map((run) => `${run.client.name} ${count(run)}`).join(', ');
      const seenBy = ({ seen }: Run) => seen.times.size;
      await until(() => runs.every((run) => seenBy(run) >= 3), countsOf(seenBy));
      // Now all programs have been compiled and started.
      const from = Date.now();
      const delaysOf = ({ seen }: Run) => delaysBetween(seen, raw, from);
      const judged = (run: Run) => delaysOf(run).length;
      await until(() => runs.every((run) => judged(run) >= EVENTS), countsOf(judged));
      const delays = runs.map((run) => ({ client: run.client, all: delaysOf(run) }));
      for (const { client, all } of delays) {
        const ms = `${medianOf(all).toFixed(1)} ms behind a raw reader, at most ${(all.at(-1) ?? 0).toFixed(1)}`;
        t.ok(medianOf(all) <= MAX_DELAY_MS, `${client.name}: ${ms}`);
      }
      const median = Math.max(...delays.map(({ all }) => medianOf(all)));
      const most = Math.max(...delays.flatMap(({ all }) => all));
      t.comment(
        `figure: ${engine}, ${scheme}: ${runs.length} readers, medians at most ${median.toFixed(1)} ms behind a raw reader, each event at most ${most.toFixed(1)} ms`,
      );
    },
  );
