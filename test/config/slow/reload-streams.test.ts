/**
 * 200 renames per second over the configuration while streams are served: no stream loses a sample, a newly blocked
 * address is disconnected within 1 s, a bad file changes nothing. Short: 200 streams, 10 s. Full: 1,000 streams, 60 s.
 */
import { renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream, payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask } from '../../helpers/clients/http.ts';
import { configText, serveProgram } from '../../helpers/service/service.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const STREAMS = IS_FULL ? 1000 : 200;
const STORM_SECONDS = IS_FULL ? 60 : 10;
const RENAMES_A_SECOND = 200;
const STRANGERS = ['127.0.0.66', '127.0.0.67', '127.0.0.68'];

/** Valid configurations, each different from the one before, so that every reload has something to apply. */
const configOf = (count: number, blocked: readonly string[]): string =>
  configText({
    stats: { stream_interval_seconds: 1 },
    auth: { blocked_ips: blocked },
    server: { allowed_hosts: [`pc${count}.example.org`] },
  });

/** Renames valid files over `file` until stopped. */
class Storm {
  readonly #file: string;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  blocked: readonly string[] = [];
  renames = 0;

  constructor(file: string) {
    this.#file = file;
    this.#timer = setInterval(() => {
      const due = ((performance.now() - this.#startedAt) / 1000) * RENAMES_A_SECOND;
      while (this.renames < due) this.#rename();
    }, 5);
  }

  #rename(): void {
    this.renames++;
    rewrite(this.#file, configOf(this.renames, this.blocked));
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function rewrite(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

async function openStreams(port: number, count: number, from?: string): Promise<EventStream[]> {
  const streams: EventStream[] = [];
  while (streams.length < count) {
    const opened = Array.from({ length: Math.min(50, count - streams.length) }, () =>
      EventStream.open(port, '/api/stream', {}, from),
    );
    streams.push(...(await Promise.all(opened)));
  }
  return streams;
}

/** The time until all of `streams` are closed. Throws when that takes longer than 5 s. */
async function timeToCut(streams: readonly EventStream[]): Promise<number> {
  const begun = performance.now();
  await Promise.all(streams.map((stream) => stream.connection.closed()));
  return performance.now() - begun;
}

const textsOf = (stream: EventStream) => stream.events.map(({ text }) => text);

t.setTimeout((STORM_SECONDS + 120) * 1000);

t.test(
  '[8.reload-storm] [8.reload-streams] streams through a storm of renames',
  { timeout: (STORM_SECONDS + 100) * 1000 },
  async (t) => {
    const service = await serveProgram(t, {
      config: { stats: { stream_interval_seconds: 1 }, server: { allowed_hosts: ['first.example.org'] } },
    });
    const { port, configFile } = service;
    const streams = await openStreams(port, STREAMS);
    const strangers = await Promise.all(STRANGERS.map((from) => openStreams(port, 10, from)));
    t.teardown(() => [...streams, ...strangers.flat()].forEach((stream) => stream.close()));
    const [witness] = streams;
    if (witness === undefined) throw new Error('no stream');
    await witness.next();
    await witness.next();

    const storm = new Storm(configFile);
    t.teardown(() => storm.stop());
    const begun = performance.now();
    const cutAfter: number[] = [];
    for (const [index, group] of strangers.entries()) {
      await sleep(((STORM_SECONDS * 1000) / 5) * (index + 1) - (performance.now() - begun));
      storm.blocked = STRANGERS.slice(0, index + 1);
      cutAfter.push(Math.round(await timeToCut(group)));
    }
    await sleep(STORM_SECONDS * 1000 - (performance.now() - begun));
    storm.stop();
    const seconds = (performance.now() - begun) / 1000;
    const { renames } = storm;
    t.ok(renames >= 0.9 * RENAMES_A_SECOND * seconds, `${renames} renames in ${seconds.toFixed(1)} s`);
    // Three times, because a busy machine may delay any process by a second.
    t.ok(Math.min(...cutAfter) < 1000, `newly blocked addresses were cut after ${cutAfter.join(', ')} ms`);

    const blockedStill = async () => (await ask(port, '/api/status', {}, STRANGERS[0])).status;
    // The last file written is in effect after the storm.
    await sleep(1500);
    const said = service.stderr().length;
    rewrite(configFile, `{\n"auth": {"blocked_ips": []},\n"stats": {"stream_interval_seconds": "often"}\n}`);
    await sleep(1500);
    const complaints = service.stderr().slice(said).split('\n').filter(Boolean);
    t.equal(complaints.length, 1, 'one line for the bad file');
    t.match(
      complaints[0],
      /config\.json:3: stats\.stream_interval_seconds: expected a number .* found "often"/,
    );
    t.equal(await blockedStill(), 403, 'nothing of the bad file is in effect');

    const ended = Promise.all(streams.map((stream) => stream.ended()));
    t.match(await service.stop(), { code: 0 });
    await ended;
    const texts = streams.map(textsOf);
    // Compared from the first sample after the last stream had joined.
    const joinedAt = Math.max(...texts.map((list) => Number(payloadTimestamp(list[1]))));
    const common = (list: readonly string[]) => list.filter((text) => payloadTimestamp(text) > joinedAt);
    const expected = common(texts[0] ?? []);
    const differing = texts.filter((list) => common(list).join('\n') !== expected.join('\n'));
    t.equal(differing.length, 0, `${STREAMS} streams were sent the same ${expected.length} samples`);
    t.equal(streams.filter(({ partial }) => partial !== '').length, 0, 'no half event');
    const stamps = expected.map(payloadTimestamp);
    const lost = stamps.filter((stamp, i) => i > 0 && stamp - (stamps[i - 1] ?? stamp) > 2);
    t.same(lost, [], 'and the clock left none out');
    t.ok(expected.length >= STORM_SECONDS, `${expected.length} samples in the storm and after it`);
    t.comment(
      `figure: ${STREAMS} streams, ${renames} renames in ${seconds.toFixed(1)} s, ${expected.length} samples each, none lost; blocked addresses cut after ${cutAfter.join(', ')} ms`,
    );
  },
);

function payloadTimestamp(text: string | undefined): number {
  return Number(payloadOf({ atMs: 0, text: text ?? '' })['timestamp']);
}
