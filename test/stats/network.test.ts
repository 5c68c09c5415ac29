/** The network section: which interfaces count, sums that never go back, rates. */
import t from 'tap';
import type { InterfaceCounters } from '#src/host/host.js';
import { deriveNetworkDetail, deriveNetworkStats } from '#src/stats/network.js';
import { advanceTotals, NO_TOTALS, selectCounted } from '#src/stats/network-totals.js';
import { link } from './literals.ts';

const namesOf = (links: readonly InterfaceCounters[]) => selectCounted(links).map((one) => one.name);
const lo = link('lo', { index: 1, kind: 'loopback', hasDevice: false });
const virtual = (name: string, more: Partial<InterfaceCounters> = {}) =>
  link(name, { kind: 'other', hasDevice: false, ...more });

// Machines with hardware, and more containers: test/native/network-totals.test.ts.
t.test('[3.network-which] containers: what is unread, gone or made of nothing', async (t) => {
  t.strictSame(namesOf([]), []);
  const unread = [virtual('eth0', { index: 0 }), virtual('eth1', { index: 0 })];
  t.strictSame(namesOf(unread), ['eth0', 'eth1'], 'no /sys');
  t.strictSame(namesOf([lo, virtual('eth0'), virtual('eth9', { index: 0 })]), ['eth0'], 'removed meanwhile');
  const empty = [virtual('bond1', { index: 8, kind: 'bond' }), virtual('br1', { index: 9, kind: 'bridge' })];
  t.strictSame(namesOf([lo, virtual('eth0'), ...empty]), ['eth0'], 'a bond and a bridge of nothing');
});

t.test('[3.network-which] containers in a container: the ends of their pairs are inside', async (t) => {
  const bridge = virtual('docker0', { index: 4, kind: 'bridge' });
  const end = virtual('veth1', { index: 3, masterIndex: 4, hasPeer: true, receivedBytes: 9 });
  const own = (receivedBytes: number) => virtual('eth0', { index: 2, hasPeer: true, receivedBytes });
  t.strictSame(namesOf([lo, own(1), end, bridge]), ['eth0']);
  t.strictSame(namesOf([lo, own(0), end, bridge]), ['eth0', 'veth1'], 'where nothing else has received');
  const others = [own(0), virtual('eth1', { index: 7, receivedBytes: 1 }), end, bridge];
  t.strictSame(namesOf(others), ['eth0', 'eth1'], 'one of several has');
});

/** The sums after each of `readings`. */
function sums(...readings: readonly (readonly InterfaceCounters[])[]): readonly string[] {
  let totals = NO_TOTALS;
  return readings.map((links) => {
    totals = advanceTotals(totals, links);
    const { bytesSent, bytesRecv } = deriveNetworkStats(totals);
    return `${bytesSent}/${bytesRecv}`;
  });
}

const moved = (name: string, sentBytes: number, receivedBytes: number, index = 2) =>
  link(name, { sentBytes, receivedBytes, index });

t.test('[3.network-monotonic] sums never go back', async (t) => {
  const a = moved('a', 1, 2);
  t.strictSame(sums([a, moved('b', 10, 20, 3)], [moved('a', 2, 4), moved('b', 11, 22, 3)]), [
    '11/22',
    '13/26',
  ]);
  t.strictSame(
    sums([moved('a', 5, 6), moved('b', 1, 1, 3)], [moved('b', 2, 3, 3)], [moved('b', 3, 3, 3)]),
    ['6/7', '7/9', '8/9'],
    'one leaves',
  );
  t.strictSame(sums([moved('a', 100, 100)], [moved('a', 3, 4, 9)]), ['100/100', '103/104'], 'created again');
  t.strictSame(sums([moved('a', 100, 100)], [moved('a', 500, 400, 9)]), ['100/100', '600/500'], 'and busier');
  t.strictSame(sums([moved('a', 100, 100)], [moved('a', 40, 4)]), ['100/100', '140/104'], 'a driver reset');
  t.strictSame(
    sums([moved('a', 100, 100)], [moved('a', 40, 120)]),
    ['100/100', '140/120'],
    'one direction: the other continues',
  );
  t.strictSame(sums([moved('a', 7, 8)], [], [moved('a', 9, 9, 3)]), ['7/8', '7/8', '16/17'], 'all leave');
  t.strictSame(sums([moved('a', 7, 8)], [moved('b', 9, 9)]), ['7/8', '9/9'], 'a new name');
});

t.test(
  "[3.network-monotonic] an interface's counts from before it is included never enter the sums",
  async (t) => {
    const bond = (sentBytes: number) => virtual('bond0', { index: 4, kind: 'bond', sentBytes });
    const enslaved = (sentBytes: number) => ({ ...moved('a', sentBytes, 0), masterIndex: 4 });
    t.strictSame(
      sums([moved('a', 100, 0), bond(0)], [enslaved(103), bond(3)], [moved('a', 105, 0), bond(3)]),
      ['100/0', '103/0', '105/0'],
      'enslaved to a bond, and released',
    );
    const netvsc = (sentBytes: number) => moved('eth0', sentBytes, 0, 8);
    const vf = (sentBytes: number, masterIndex = 8) => ({ ...moved('vf', sentBytes, 0, 9), masterIndex });
    t.strictSame(
      sums([netvsc(50), vf(40)], [netvsc(60), vf(50, 0)], [netvsc(60), vf(57, 0)]),
      ['50/0', '60/0', '67/0'],
      'released by a device: from the next reading on',
    );
    t.strictSame(
      sums(
        [moved('a', 100, 0), virtual('docker0', { index: 5, sentBytes: 70 })],
        [virtual('docker0', { index: 5, sentBytes: 80 })],
        [moved('a', 101, 0)],
      ),
      ['100/0', '100/0', '101/0'],
      'the only hardware is away for one reading',
    );
    const ppp = (sentBytes: number, hasDevice: boolean) => link('ppp0', { index: 6, hasDevice, sentBytes });
    t.strictSame(
      sums(
        [moved('a', 9, 0), ppp(8, false)],
        [moved('a', 9, 0), ppp(70, true)],
        [ppp(75, true)],
        [ppp(80, false)],
      ),
      ['9/0', '9/0', '14/0', '19/0'],
      'a line that hardware carried until then, and may carry again',
    );
    const others = (first: number) => Array.from({ length: 65 }, (_, at) => moved('x', 1, 0, first + at));
    t.strictSame(
      sums([moved('a', 100, 0)], others(100), [moved('b', 0, 0, 3)], [moved('a', 101, 0)]),
      ['100/0', '165/0', '165/0', '266/0'],
      'only the last 64 that left are known',
    );
  },
);

t.test('[3.detail-network] rates, and none where they would be wrong', async (t) => {
  const rates = (before: readonly InterfaceCounters[] | undefined, after: InterfaceCounters, seconds = 2) => {
    const detail = deriveNetworkDetail(before, [after], advanceTotals(NO_TOTALS, [after]), seconds);
    const [one] = detail.interfaces;
    t.strictSame([detail.send_rate, detail.receive_rate], [one?.send_rate, one?.receive_rate]);
    return [one?.send_rate, one?.receive_rate];
  };
  const before = [moved('a', 100, 200)];
  t.strictSame(rates(before, moved('a', 300, 201)), [100, 1], 'half a byte a second is rounded');
  t.strictSame(rates(before, moved('a', 100, 200)), [0, 0]);
  t.strictSame(rates(before, moved('a', 300, 300), 0), [null, null], 'a first reading, a resume');
  t.strictSame(rates(undefined, moved('a', 300, 300)), [null, null], 'an appearance');
  t.strictSame(rates(before, moved('a', 300, 300, 9)), [null, null], 'created again');
  t.strictSame(rates(before, moved('a', 300, 10)), [null, null], 'a reset');
});

t.test('[3.detail-network] the sums cover the interfaces that count, the list has all', async (t) => {
  const extra = {
    sentPackets: 1,
    receivedPackets: 2,
    receiveErrors: 3,
    sendErrors: 4,
    receiveDrops: 5,
    sendDrops: 6,
  };
  const links = [
    lo,
    link('a', { ...extra, index: 3 }),
    link('b', { ...extra, index: 4 }),
    virtual('docker0', extra),
  ];
  const detail = deriveNetworkDetail(undefined, links, advanceTotals(NO_TOTALS, links), 2);
  t.match(detail, { packetsSent: 2, packetsRecv: 4, errin: 6, errout: 8, dropin: 10, dropout: 12 });
  t.strictSame(
    detail.interfaces.map((one) => one.name),
    ['lo', 'a', 'b', 'docker0'],
  );
  t.match(detail.interfaces[0], {
    up: null,
    speed_mbps: null,
    mac: null,
    addresses: [],
    errin: null,
    signal_dbm: null,
  });
  const unread = deriveNetworkDetail(undefined, null, NO_TOTALS, 2);
  t.match(unread, { bytesSent: 0, send_rate: null, packetsSent: null, interfaces: [] });
});
