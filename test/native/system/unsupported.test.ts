/** The addon of a platform without a port: it builds, and each reading is null with the reason beside it. */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Announced, DiscoveryHost } from '#src/host/discovery.js';
import type { Describer } from '#src/host/finding.js';
import { ALL_SECTIONS, type Counters, type Host, SECTIONS } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { DETAIL_KEYS } from '#src/stats/details.js';
import { deriveSample } from '#src/stats/sample.js';
import { programPath, whyNoProgram } from '../../helpers/native/program.ts';

const skip = whyNoProgram('unsupported.node');

t.test('a reader that throws costs its own section or detail, and says why', { skip }, async (t) => {
  const addon = createRequire(import.meta.url)(programPath('unsupported.node')) as {
    readonly Host: new () => Host;
    canOwnStreams(): boolean;
  };
  const host = new addon.Host();
  // Drives are searched for by a prober: the first reading only starts that.
  let counters: Counters = host.readCounters(ALL_SECTIONS, true, 0);
  while (counters.drives !== null) {
    await sleep(10);
    counters = host.readCounters(ALL_SECTIONS, true, 0);
  }
  // Without a device the gpu section is empty, not unreadable; processes have their own reader.
  const keys = [...SECTIONS, ...DETAIL_KEYS].filter((key) => key !== 'gpu' && key !== 'processes');
  for (const key of keys) {
    t.equal(counters[key], null, key);
    t.match(counters.failures?.[key], /^read .*: /, `${key}: the reason`);
  }
  t.strictSame(Object.keys(counters.failures ?? {}).sort(), [...keys].sort());
  const { sample } = deriveSample(NO_BASELINE, counters, { interval_seconds: 2, host: 'x' });
  t.match(sample.extras, { sensors: [], batteries: [], drives: [], limits: null });
  t.equal(host.readCounters(0, false, 0).failures, undefined, 'nothing was asked, nothing failed');
  // The name by which src/ knows it, whatever the C library calls its number.
  t.equal(addon.canOwnStreams(), false, 'sockets stay with Node');
  await t.rejects(host.readSystem(), { code: 'ENOTSUP', operation: 'read system' });
});

t.test('[3.mdns-unsupported] it announces nothing, and says why', { skip }, async (t) => {
  const addon = createRequire(import.meta.url)(programPath('unsupported.node')) as {
    readonly Controls: new () => object;
    readonly Discovery: new (
      controls: object,
      onNews: (announced: readonly Announced[]) => void,
    ) => Pick<DiscoveryHost, 'announce'> & Describer;
  };
  const reason = /^mDNS is not supported on this platform/;
  let news: readonly Announced[] = [];
  const discovery = new addon.Discovery(new addon.Controls(), (announced) => {
    news = announced;
  });
  await discovery.announce([{ name: 'desk', port: 9990, link: '', texts: [] }]);
  t.match(news, [{ name: 'desk', isAnnounced: false, reason }]);
  t.match(await discovery.describe(), [{ subject: 'mdns', status: 'missing', reason, remedy: null }]);
});
