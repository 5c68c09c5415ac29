/** The rules of a sample that the contract names, on literals. */
import t from 'tap';
import type { InterfaceCounters } from '#src/host/host.js';
import { deriveCpuStats } from '#src/stats/cpu.js';
import { deriveDiskDetail } from '#src/stats/disks.js';
import { deriveNetworkDetail, deriveNetworkStats } from '#src/stats/network.js';
import { advanceTotals, NO_TOTALS, selectCounted } from '#src/stats/network-totals.js';

const link = (name: string, change: Partial<InterfaceCounters> = {}): InterfaceCounters => ({
  name,
  index: 1,
  kind: 'ethernet',
  hasDevice: true,
  masterIndex: 0,
  lowerIndex: 0,
  receivedBytes: 0,
  sentBytes: 0,
  ...change,
});

t.test('[3.network-which] hardware; otherwise all but lo; otherwise lo', async (t) => {
  const names = (links: readonly InterfaceCounters[]) => selectCounted(links).map(({ name }) => name);
  const lo = link('lo', { kind: 'loopback', hasDevice: false });
  const veth = link('veth0', { index: 3, kind: 'other', hasDevice: false });
  const bond = link('bond0', { index: 4, kind: 'bond', hasDevice: false });
  t.strictSame(names([lo, link('eth0', { index: 2, masterIndex: 4 }), bond, veth]), ['eth0']);
  t.strictSame(names([lo, { ...veth, masterIndex: 4 }, bond]), ['veth0']);
  t.strictSame(names([lo]), ['lo']);
});

t.test(
  '[3.network-monotonic] the sums never go back: an interface that left or was reset keeps its last count',
  async (t) => {
    const steps: readonly (readonly InterfaceCounters[])[] = [
      [link('a', { sentBytes: 100, receivedBytes: 10 }), link('b', { index: 2, sentBytes: 50 })],
      [link('a', { sentBytes: 120, receivedBytes: 20 })],
      [link('a', { sentBytes: 5, receivedBytes: 1 })],
      [link('a', { sentBytes: 7, receivedBytes: 2, index: 9 })],
    ];
    let totals = NO_TOTALS;
    const sums = steps.map((links) => {
      totals = advanceTotals(totals, links);
      return deriveNetworkStats(totals);
    });
    t.strictSame(
      sums.map(({ bytesSent }) => bytesSent),
      [150, 170, 175, 182],
    );
    t.strictSame(
      sums.map(({ bytesRecv }) => bytesRecv),
      [10, 20, 21, 23],
    );
  },
);

t.test('[3.rates-null] rates are null on a first tick, after a reset and after a resume', async (t) => {
  const rates = (before: InterfaceCounters | undefined, after: InterfaceCounters, seconds: number) =>
    deriveNetworkDetail(before && [before], [after], advanceTotals(NO_TOTALS, [after]), seconds).send_rate;
  t.equal(rates(undefined, link('a', { sentBytes: 9 }), 2), null, 'first');
  t.equal(rates(link('a', { sentBytes: 9 }), link('a', { sentBytes: 29 }), 2), 10);
  t.equal(rates(link('a', { sentBytes: 9 }), link('a', { sentBytes: 1 }), 2), null, 'reset');
  t.equal(rates(link('a', { sentBytes: 9 }), link('a', { sentBytes: 29 }), 0), null, 'resume');
  const disk = {
    mountPoint: '/',
    usage: null,
    device: 'sda',
    io: { readBytes: 1, writeBytes: 1, busyMs: 1 },
  };
  t.match(deriveDiskDetail(undefined, [disk], 2), [
    { read_rate: null, write_rate: null, busy_percent: null },
  ]);
});

t.test('[3.clamped] counters that go backwards make no negative load', async (t) => {
  const cpu = (idle: number, user: number) => ({
    total: { user, nice: 0, system: 0, idle, iowait: 0, irq: 0, steal: 0 },
    temperatureCelsius: null,
    speedHz: null,
  });
  t.equal(deriveCpuStats(cpu(100, 100), cpu(90, 110)).current_load, 100);
  t.equal(deriveCpuStats(cpu(100, 100), cpu(110, 90)).current_load, 0);
  t.equal(deriveCpuStats(cpu(100, 100), cpu(100, 100)).current_load, 0, 'no time passed');
  t.equal(deriveCpuStats(undefined, cpu(1, 1)).current_load, 0, 'no reading before');
});
