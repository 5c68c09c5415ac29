/** Events of watch rules: in the log, to listeners, with what ran then. */
import t from 'tap';
import { Watch } from '#src/history/watch.js';
import type { HistoryEvent, ProcessUses } from '#src/wire/history.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';

function setUp() {
  const clock = new FakeClock();
  const config = new FakeConfig();
  config.current = {
    ...config.current,
    watch: { defaults: false, rules: { hot: { series: 'cpu.load', above: 90, for_seconds: 10 } } },
  };
  const lines: string[] = [];
  const events: HistoryEvent[] = [];
  const running: { now: ProcessUses | null | undefined } = {
    now: { cpu: [{ name: 'burn', count: 1, value: 97 }], memory: [], disk: null },
  };
  const watch = new Watch({
    config,
    clock,
    log: { info: (line) => lines.push(line) },
    running: () => running.now,
  });
  const unlisten = watch.onEvent((event) => events.push(event));
  /** A sample with a load every 10 s, as without subscribers. */
  const sample = async (load: number | null) => {
    await clock.advance(10_000);
    watch.onPoints(clock.now() / 1000, [{ name: 'cpu.load', unit: '%', value: load }]);
  };
  return { watch, config, lines, events, running, sample, unlisten };
}

t.test('[3.watch-event] an event has its processes, and a line in the log', async (t) => {
  const { events, lines, sample, running, watch, unlisten } = setUp();
  await sample(95);
  t.equal(watch.isWaiting, true);
  t.strictSame(events, []);
  await sample(96);
  t.match(events, [{ rule: 'hot', state: 'begin', value: 96, processes: { cpu: [{ name: 'burn' }] } }]);
  t.strictSame(lines, ['watch rule hot begins: CPU load has been above 90 % for 10 s: 96 %']);
  running.now = undefined;
  await sample(10);
  await sample(11);
  t.equal(events.length, 2);
  t.notOk('processes' in (events[1] ?? {}), 'not while features.enable_processes is off');
  t.strictSame(lines[1], 'watch rule hot ends: CPU load is no longer above 90 %: 11 %');
  unlisten();
  for (const load of [95, 95, 95]) await sample(load);
  t.equal(events.length, 2);
});

t.test('[3.watch-gap] without subscribers a missing sample is not a gap', async (t) => {
  const { events, sample } = setUp();
  await sample(95);
  await sample(95);
  await sample(null);
  await sample(null);
  await sample(95);
  t.equal(events.length, 1);
  for (let i = 0; i < 4; i++) await sample(null);
  t.match(events[1], { state: 'end', value: null });
});

t.test('[3.watch-reload] a reload takes effect immediately', async (t) => {
  const { events, sample, config, watch } = setUp();
  await sample(95);
  await sample(95);
  config.current = { ...config.current, watch: { defaults: false, rules: {} } };
  watch.reconfigure();
  t.match(events, [{ state: 'begin' }, { state: 'end', value: null }]);
});
