/** How often the machine is read for scrapes, and what happens where it cannot be. */
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { Metrics } from '#src/exporters/prometheus/metrics.js';
import type { OwnDeps } from '#src/exporters/prometheus/own.js';
import type { Counters } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample } from '#src/stats/sample.js';
import { Encoded } from '#src/stats/view.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { parseFamilies } from './families.ts';

const FACTS = { version: '1.2.3', pid: 1, startedAt: 1_700_000_000, node: 'v1', platform: 'win32' };
const OWN: OwnDeps = {
  facts: FACTS,
  engine: 'uws',
  server: { connections: 1 },
  streams: () => ({ size: 2, senders: { writer: 1, engine: 1 }, eventCounters: { sent: 3, skipped: 4 } }),
  sockets: { size: 5, sent: 6 },
  sampler: { tickCounters: { ticks: 7, latenessMs: 8 } },
  gate: { refusals: { unauthorized: 9 } },
  media: { peekPlayback: () => 'paused' },
  config: new FakeConfig(),
  log: {},
  rss: undefined,
};

const host = fixtureHost();

function setUp(kernel: () => Promise<Buffer>) {
  const clock = new FakeClock();
  const calls = { kernel: 0, samples: 0 };
  const readMetrics = () => {
    calls.kernel++;
    return kernel();
  };
  const counters: Counters = host.readCounters(31, true, 0);
  const latest = async () => {
    calls.samples++;
    return new Encoded(deriveSample(NO_BASELINE, counters).sample);
  };
  const metrics = new Metrics({
    host: { readMetrics, readSystem: host.readSystem },
    source: { latest },
    clock,
    processes: undefined,
    ...OWN,
  });
  return { clock, calls, metrics };
}

const KERNEL = Buffer.from('# HELP node_load1 1m load average.\n# TYPE node_load1 gauge\nnode_load1 0.5\n');

t.test('a text above the limit, which is compressed on another thread', async (t) => {
  for (const lines of [10, 40_000]) {
    const comments = Buffer.from('# a comment\n'.repeat(lines));
    const { metrics } = setUp(() => Promise.resolve(Buffer.concat([comments, KERNEL])));
    const [text, zipped] = [await metrics.scrape([], []), await metrics.scrape([], ['gzip'])];
    t.ok(gunzipSync(zipped.body).equals(text.body), `${text.body.length} bytes`);
  }
});

t.test('[3.metrics-once] 1,000 scrapes in a second, in all forms: one reading', async (t) => {
  const { clock, calls, metrics } = setUp(() => Promise.resolve(KERNEL));
  const forms = [
    [[], []],
    [['application/openmetrics-text'], []],
    [[], ['gzip']],
    [['application/openmetrics-text'], ['gzip']],
  ] as const;
  const scrapes = await Promise.all(
    Array.from({ length: 1000 }, (_, at) => {
      const [accept, encodings] = forms[at % 4] ?? [[], []];
      return metrics.scrape(accept, encodings);
    }),
  );
  t.strictSame(calls, { kernel: 1, samples: 1 });
  t.equal(new Set(scrapes.map(({ body }) => body)).size, 4, 'each form is made once');
  const [text, open, zipped] = scrapes;
  t.match(text, { type: 'text/plain; version=0.0.4; charset=utf-8', isGzip: false });
  t.match(open, { type: 'application/openmetrics-text; version=1.0.0; charset=utf-8' });
  t.equal(gunzipSync(zipped?.body ?? '').toString(), text?.body.toString());
  t.match(open?.body.toString(), /\n# EOF\n$/);
  await clock.advance(899);
  await metrics.scrape([], []);
  t.equal(calls.kernel, 1);
  await clock.advance(1);
  await metrics.scrape([], []);
  t.equal(calls.kernel, 2);
});

t.test('[3.metrics-once] a kernel that does not answer is asked by one thread', async (t) => {
  let answer: (text: Buffer) => void = () => undefined;
  const { clock, calls, metrics } = setUp(() => new Promise((resolve) => (answer = resolve)));
  const scrapes = [metrics.scrape([], [])];
  for (let second = 0; second < 20; second++) {
    await clock.advance(1000);
    scrapes.push(metrics.scrape([], []));
  }
  t.equal(calls.kernel, 1);
  answer(KERNEL);
  t.equal((await Promise.all(scrapes)).length, 21);
});

t.test('[3.metrics-failure] a reading that failed is not kept', async (t) => {
  let isBroken = true;
  const { metrics } = setUp(() => (isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(KERNEL)));
  await t.rejects(metrics.scrape([], []), /broken/);
  isBroken = false;
  t.match((await metrics.scrape([], [])).body.toString(), 'node_load1 0.5');
});

t.test('[3.metrics-platform] without texts of the kernel: the names for what a reading has', async (t) => {
  const refused = Object.assign(new Error('no'), { code: 'ENOTSUP' });
  const { calls, clock, metrics } = setUp(() => Promise.reject(refused));
  const families = parseFamilies((await metrics.scrape([], [])).body.toString());
  for (const name of [
    'node_time_seconds',
    'node_boot_time_seconds',
    'node_cpu_seconds_total',
    'node_uname_info',
  ])
    t.ok(families.has(name), name);
  t.match(families.get('node_memory_MemTotal_bytes')?.samples.get(''), 16 * 2 ** 30);
  t.match([...(families.get('node_uname_info')?.samples.keys() ?? [])][0], 'sysname=Windows');
  t.ok((families.get('node_network_receive_bytes_total')?.samples.size ?? 0) > 0);
  t.notOk(families.has('node_memory_Slab_bytes'));
  const playback = families.get('hostwire_media_playback')?.samples;
  t.strictSame([playback?.get('state=playing'), playback?.get('state=paused')], [0, 1]);
  await clock.advance(2000);
  await metrics.scrape([], []);
  t.equal(calls.kernel, 1, 'it is not asked again');
});
