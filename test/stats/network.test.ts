/** The network section: which interfaces count, sums that never go back, rates. */
import t from 'tap';
import type { InterfaceCounters } from '#src/host/host.js';
import {
  advanceTotals,
  deriveNetworkDetail,
  deriveNetworkStats,
  NO_TOTALS,
  selectCounted,
} from '#src/stats/network.js';
import { link } from './literals.ts';

const namesOf = (links: readonly InterfaceCounters[]) => selectCounted(links).map((one) => one.name);
const lo = link('lo', { kind: 'loopback', hasDevice: false });
const virtual = (name: string, more: Partial<InterfaceCounters> = {}) =>
  link(name, { kind: 'other', hasDevice: false, ...more });

t.test('[3.network-which] devices that are no members, and bonds', async (t) => {
  const bond = link('bond0', { kind: 'bond', hasDevice: false });
  const members = [link('eth0', { isMember: true }), link('eth1', { isMember: true })];
  t.strictSame(namesOf([lo, ...members, bond, link('wlan0', { kind: 'wifi' }), virtual('docker0')]), [
    'bond0',
    'wlan0',
  ]);
  t.strictSame(namesOf([lo, { ...bond, isMember: true }, link('eth9')]), ['eth9'], 'a bond in a bridge');
});

t.test('[3.network-which] containers: all but lo, less members; only lo: lo', async (t) => {
  t.strictSame(namesOf([lo, virtual('eth0'), virtual('veth1', { isMember: true }), virtual('br0')]), [
    'eth0',
    'br0',
  ]);
  t.strictSame(namesOf([lo]), ['lo']);
  t.strictSame(namesOf([]), []);
});

/** The sums after each of `readings`. */
function sums(...readings: readonly (readonly InterfaceCounters[])[]): readonly string[] {
  let totals = NO_TOTALS;
  return readings.map((links) => {
    totals = advanceTotals(totals, selectCounted(links));
    const { bytesSent, bytesRecv } = deriveNetworkStats(totals);
    return `${bytesSent}/${bytesRecv}`;
  });
}

const moved = (name: string, sentBytes: number, receivedBytes: number, index = 2) =>
  link(name, { sentBytes, receivedBytes, index });

t.test('[3.network-monotonic] sums never go back', async (t) => {
  t.strictSame(sums([moved('a', 1, 2), moved('b', 10, 20)], [moved('a', 2, 4), moved('b', 11, 22)]), [
    '11/22',
    '13/26',
  ]);
  t.strictSame(
    sums([moved('a', 5, 6), moved('b', 1, 1)], [moved('b', 2, 3)], [moved('b', 3, 3)]),
    ['6/7', '7/9', '8/9'],
    'one leaves',
  );
  t.strictSame(sums([moved('a', 100, 100)], [moved('a', 3, 4, 9)]), ['100/100', '103/104'], 'created again');
  t.strictSame(sums([moved('a', 100, 100)], [moved('a', 500, 400, 9)]), ['100/100', '600/500'], 'and busier');
  t.strictSame(sums([moved('a', 100, 100)], [moved('a', 40, 120)]), ['100/100', '140/220'], 'a driver reset');
  t.strictSame(sums([moved('a', 7, 8)], [], [moved('a', 9, 9, 3)]), ['7/8', '7/8', '16/17'], 'all leave');
});

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
  const links = [lo, link('a', extra), link('b', extra), virtual('docker0', extra)];
  const detail = deriveNetworkDetail(undefined, links, advanceTotals(NO_TOTALS, selectCounted(links)), 2);
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
