/** Network interfaces: the machines people have, this machine's own, and odd texts of the kernel's files. */
import '../helpers/service/dead-buses.ts';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import t, { type Test } from 'tap';
import type { InterfaceCounters } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { FOLDER, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';
import {
  DEVICE,
  eth0,
  facts,
  HEADER,
  link,
  lo,
  NETWORK,
  netDev,
  readDetail,
  readLinks,
  to,
} from './network-tree.ts';

const factsOf = (t: Test, tree: Tree) => facts(readLinks(makeMachine(t, tree)));

t.test('a laptop on wifi: kinds, devices, and what detail adds', async (t) => {
  const wlan0 = {
    type: 1,
    ifindex: 3,
    device: DEVICE,
    wireless: FOLDER,
    operstate: 'up',
    address: 'A4:C3:F0:00:5e:01',
  };
  const machine = makeMachine(t, {
    ...netDev('lo', 'eth0', 'wlan0', 'tun0', 'wg0'),
    ...lo,
    ...link('eth0', {
      type: 1,
      ifindex: 2,
      device: DEVICE,
      operstate: 'down',
      speed: -1,
      address: '00:00:5e:00:53:01',
    }),
    ...link('wlan0', wlan0),
    ...link('tun0', {
      type: 65534,
      ifindex: 7,
      tun_flags: '0x1001',
      operstate: 'unknown',
      carrier: 1,
      speed: 10_000,
    }),
    ...link('wg0', {
      type: 65534,
      ifindex: 8,
      uevent: 'DEVTYPE=wireguard\nINTERFACE=wg0',
      operstate: 'unknown',
      address: '',
    }),
    'proc/net/wireless': `Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
 face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
 wlan0: 0000   54.  -56.  -256        0      0      0      0     18        0
`,
    'proc/net/if_inet6': `00000000000000000000000000000001 01 80 10 80       lo
fe800000000000000000000000000abc 03 40 20 80    wlan0
20010db8000000000000000000000007 03 40 00 00    wlan0
`,
  });
  t.strictSame(facts(readLinks(machine)), [
    'lo loopback 1',
    'eth0 ethernet 2+',
    'wlan0 wifi 3+',
    'tun0 tunnel 7',
    'wg0 tunnel 8',
  ]);
  const of = await readDetail(
    machine,
    (links) => links.some((one) => one.signalDbm !== null) && links.some((one) => one.mac !== null),
  );
  t.match(of('wlan0'), { isUp: true, speedMbps: null, mac: 'a4:c3:f0:00:5e:01', signalDbm: -56 });
  t.strictSame(of('wlan0').addresses, ['2001:db8::7', 'fe80::abc'], 'the link-local one last');
  t.match(of('eth0'), { isUp: false, speedMbps: null, mac: '00:00:5e:00:53:01', signalDbm: null });
  t.match(of('lo'), { isUp: true, mac: null, speedMbps: null });
  t.strictSame(of('lo').addresses, ['::1']);
  t.match(of('tun0'), { isUp: true, mac: null, speedMbps: 10_000 });
  t.match(of('wg0'), { isUp: false, mac: null }, 'unknown and no carrier');
});

t.test('a bond of two, a bridge with members, a vlan, a VRF', async (t) => {
  const tree = {
    ...netDev('lo', 'eth0', 'eth1', 'bond0', 'bond0.7', 'br0', 'vnet0', 'vrf0', 'eth2'),
    ...lo,
    ...link('eth0', { type: 1, ifindex: 2, device: DEVICE, master: to('bond0') }),
    ...link('eth1', { type: 1, ifindex: 3, device: DEVICE, master: to('bond0') }),
    ...link('bond0', { type: 1, ifindex: 4, bonding: FOLDER }),
    ...link('bond0.7', {
      type: 1,
      ifindex: 5,
      iflink: 4,
      lower_bond0: to('bond0'),
      uevent: 'DEVTYPE=vlan\nINTERFACE=bond0.7\nIFINDEX=5',
    }),
    ...link('br0', { type: 1, ifindex: 6, bridge: FOLDER, uevent: 'DEVTYPE=bridge' }),
    ...link('vnet0', { type: 1, ifindex: 7, tun_flags: '0x1002', master: to('br0') }),
    ...link('vrf0', { type: 1, ifindex: 8, uevent: 'DEVTYPE=vrf\nINTERFACE=vrf0' }),
    ...link('eth2', { type: 1, ifindex: 9, device: DEVICE, master: to('vrf0') }),
  };
  t.strictSame(factsOf(t, tree), [
    'lo loopback 1',
    'eth0 ethernet 2+^4',
    'eth1 ethernet 3+^4',
    'bond0 bond 4',
    'bond0.7 vlan 5/4',
    'br0 bridge 6',
    'vnet0 tunnel 7^6',
    'vrf0 other 8',
    'eth2 ethernet 9+^8',
  ]);
});

t.test('containers: a veth without a device; lo alone; nothing in /sys', async (t) => {
  const veth = { ...netDev('lo', 'eth0'), ...lo, ...link('eth0', { type: 1, ifindex: 12, iflink: 1 }) };
  t.strictSame(factsOf(t, veth), ['lo loopback 1', 'eth0 other 12']);
  t.strictSame(factsOf(t, { ...netDev('lo'), ...lo }), ['lo loopback 1']);
  t.strictSame(factsOf(t, netDev('eth0')), ['eth0 other 0']);
  t.strictSame(factsOf(t, { 'proc/net/dev': HEADER }), []);
});

t.test('other hardware: phy80211, tunnels by type, a modem without a header', async (t) => {
  const tree = {
    ...netDev('wlp2s0', 'ipip0', 'sit0', 'gre0', 'vxlan1', 'wwan0'),
    ...link('wlp2s0', { type: 1, ifindex: 2, device: DEVICE, phy80211: to('phy0') }),
    ...link('ipip0', { type: 768, ifindex: 3 }),
    ...link('sit0', { type: 776, ifindex: 4 }),
    ...link('gre0', { type: 778, ifindex: 5, address: '0a:00:00:01' }),
    ...link('vxlan1', { type: 1, ifindex: 6, uevent: 'DEVTYPE=vxlan' }),
    ...link('wwan0', { type: 65534, ifindex: 7, device: DEVICE, uevent: 'DEVTYPE=wwan' }),
  };
  t.strictSame(factsOf(t, tree), [
    'wlp2s0 wifi 2+',
    'ipip0 tunnel 3',
    'sit0 tunnel 4',
    'gre0 tunnel 5',
    'vxlan1 tunnel 6',
    'wwan0 other 7+',
  ]);
});

t.test(
  'interfaces that come and go are seen immediately; a missing file is a failure of the section',
  async (t) => {
    const machine = makeMachine(t, { ...netDev('eth0'), ...eth0 });
    t.strictSame(facts(readLinks(machine)), ['eth0 ethernet 2+']);
    machine.write({ ...netDev('eth0', 'usb0'), ...link('usb0', { type: 1, ifindex: 5, device: DEVICE }) });
    t.strictSame(facts(readLinks(machine)), ['eth0 ethernet 2+', 'usb0 ethernet 5+']);
    machine.write(netDev('usb0'));
    t.strictSame(facts(readLinks(machine)), ['usb0 ethernet 5+']);
    const empty = makeMachine(t, { 'proc/stat': '' });
    const counters = empty.host.readCounters(NETWORK, false, 0);
    t.equal(counters.network, null);
    t.match(counters.failures?.['network'], /open .*net\/dev.*No such file/);
  },
);

t.test('under other roots the first process decides on the network, not the reader', async (t) => {
  const ofHost = netDev('enp3s0')['proc/net/dev'] ?? '';
  const machine = makeMachine(t, { ...netDev('eth0'), 'proc/1/net/dev': ofHost });
  t.strictSame(facts(readLinks(machine)), ['enp3s0 other 0']);
});

t.test('IPv4 addresses under other roots: each at the interface whose network it is in', async (t) => {
  const route = (name: string, destination: string, gateway: string, mask: string) =>
    `${name}\t${destination}\t${gateway}\t0001\t0\t0\t0\t${mask}\t0\t0\t0\n`;
  const leaf = (address: string, kind = '/32 host LOCAL') => `  |-- ${address}\n     ${kind}\n`;
  const machine = makeMachine(t, {
    ...netDev('lo', 'eth0', 'docker0', 'wg0'),
    ...lo,
    ...eth0,
    ...link('docker0', { type: 1, ifindex: 3 }),
    ...link('wg0', { type: 65534, ifindex: 4 }),
    'proc/net/route':
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n' +
      route('eth0', '00000000', '010200C0', '00000000') +
      route('eth0', '000000C0', '00000000', '0000FFFF') +
      route('docker0', '000200C0', '00000000', '00FFFFFF') +
      route('wg0', '0064C0C0', '010200C0', '00FFFFFF'),
    'proc/net/fib_trie': `Main:\n  +-- 0.0.0.0/0 3 0 5\n${[
      leaf('127.0.0.1'),
      leaf('192.0.1.9'),
      leaf('192.0.2.7'),
      leaf('192.0.2.255', '/32 link BROADCAST'),
      leaf('192.192.100.1'),
      leaf('192.0.2.0', '/24 link UNICAST'),
      leaf('192.0.1.9'),
      '     /32 host LOCAL\n',
    ].join('')}`,
  });
  const of = await readDetail(machine, ([first]) => first?.addresses?.length === 1);
  t.strictSame(of('lo').addresses, ['127.0.0.1']);
  t.strictSame(of('eth0').addresses, ['192.0.1.9'], 'once, in the larger network');
  t.strictSame(of('docker0').addresses, ['192.0.2.7'], 'in the smaller one');
  t.strictSame(of('wg0').addresses, [], 'behind a gateway is no network of its own');
});

t.test(
  'this machine: names, counters and addresses as the kernel reports them to other programs',
  async (t) => {
    const host = openNativeHost();
    const rows = () =>
      new Map(
        Array.from(
          readFileSync('/proc/net/dev', 'utf8').matchAll(/^ *(\S+): *(\d+)(?: +\d+){7} +(\d+)/gm),
          (row) => [row[1] ?? '', { received: Number(row[2]), sent: Number(row[3]) }],
        ),
      );
    const before = rows();
    const hasAddresses = (links: readonly InterfaceCounters[]) =>
      links.some((one) => (one.addresses?.length ?? 0) > 0);
    const counters = await readUntil(host, NETWORK, true, ({ network }) => hasAddresses(network ?? []));
    const after = rows();
    const links = counters.network ?? [];
    t.strictSame(
      new Set(links.map((one) => one.name)),
      new Set(readdirSync('/sys/class/net').filter((name) => after.has(name))),
    );
    const reported = os.networkInterfaces();
    for (const one of links) {
      const least = before.get(one.name);
      const most = after.get(one.name);
      t.ok(least !== undefined && most !== undefined, one.name);
      t.ok(
        one.receivedBytes >= (least?.received ?? 0) && one.receivedBytes <= (most?.received ?? 0),
        `${one.name} received`,
      );
      t.ok(one.sentBytes >= (least?.sent ?? 0) && one.sentBytes <= (most?.sent ?? 0), `${one.name} sent`);
      t.equal(one.index, Number(readFileSync(`/sys/class/net/${one.name}/ifindex`, 'utf8')));
      if (reported[one.name] === undefined) continue;
      t.strictSame(
        new Set(one.addresses),
        new Set(reported[one.name]?.map((address) => address.address)),
        `${one.name} addresses`,
      );
      const mac = reported[one.name]?.[0]?.mac;
      t.equal(one.mac, mac === '00:00:00:00:00:00' ? null : mac, `${one.name} mac`);
      t.equal(one.isUp, true, 'an interface with an address that Node lists is running');
    }
  },
);

t.test('every counter is in its place', async (t) => {
  const row = '  eth0: 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28\n';
  const machine = makeMachine(t, { 'proc/net/dev': HEADER + row, ...eth0 });
  const of = await readDetail(machine, (links) => links[0]?.speedMbps === 1000);
  t.match(of('eth0'), {
    receivedBytes: 11,
    receivedPackets: 12,
    receiveErrors: 13,
    receiveDrops: 14,
    sentBytes: 21,
    sentPackets: 22,
    sendErrors: 23,
    sendDrops: 24,
  });
});

t.test('unusual texts of /proc/net/dev', async (t) => {
  const read = (text: string) =>
    readLinks(makeMachine(t, { 'proc/net/dev': text })).map((one) => [
      one.name,
      one.receivedBytes,
      one.sentBytes,
    ]);
  const row = ' 2 0 0 0 0 0 0 7 8 0 0 0 0 0 0\n';
  t.strictSame(read(`${HEADER}eth0:1: 5${row}`), [['eth0:1', 5, 7]], 'an alias');
  t.strictSame(
    read(`${HEADER}  eth0:4294967296${row}`),
    [['eth0', 4294967296, 7]],
    'no blank after the colon',
  );
  t.strictSame(
    read(`${HEADER}eth0: 18446744073709551615${row}`),
    [['eth0', 2 ** 64, 7]],
    'the largest number',
  );
  const wide = HEADER.replace('multicast|bytes', 'multicast later|bytes');
  t.strictSame(
    read(`${wide}eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n`),
    [['eth0', 1, 10]],
    'one column more',
  );
  t.strictSame(
    read('|x\n face |bytes packets|bytes packets\neth0: 1 2 3 4\n'),
    [['eth0', 1, 3]],
    'fewer columns',
  );
  t.strictSame(
    read(`${HEADER}eth0: 1 2 3\nno numbers here\n: 1${row}eth1: 9${row}`),
    [['eth1', 9, 7]],
    'cut rows',
  );
  t.strictSame(read('garbage\n\n::::\n'), [], 'nothing of sense');
});

t.test(
  'a name that is not UTF-8 is shown as Node would show it, and its files are still found',
  async (t) => {
    for (const bytes of [
      [0x77, 0xff, 0x30],
      [0xe2, 0x82, 0x41],
      [0xc3, 0xa9],
      [0xed, 0xa0, 0x80],
      [0xf0, 0x9f, 0x92],
    ]) {
      const name = Buffer.from(bytes);
      const row = Buffer.from(': 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n');
      const text = Buffer.concat([Buffer.from(HEADER), name, row]);
      const machine = makeMachine(t, { 'proc/net/dev': text, 'sys/class/net': FOLDER });
      const folder = Buffer.concat([Buffer.from(`${machine.root}/sys/class/net/`), name]);
      mkdirSync(folder);
      writeFileSync(Buffer.concat([folder, Buffer.from('/ifindex')]), '17\n');
      const [first] = readLinks(machine);
      t.equal(first?.name, name.toString('utf8'), name.toString('hex'));
      t.equal(first?.index, 17);
    }
  },
);

t.test('a signal that is not a receiver level is unknown', async (t) => {
  const levels = { '-40.': -40, ' 200.': -56, '0': null, '-256': null, ' 70.': null, '-1000': null };
  for (const [level, expected] of Object.entries(levels)) {
    const row = (name: string, dbm: string) => ` ${name}: 0000   54.  ${dbm}  -256        0\n`;
    const machine = makeMachine(t, {
      ...netDev('wlan0', 'wlan1'),
      ...link('wlan0', { wireless: FOLDER }),
      ...link('wlan1', { wireless: FOLDER }),
      'proc/net/wireless': `Inter-| sta-|\n face | tus |\n${row('wlan0', level)}${row('wlan1', '-61.')}`,
    });
    const of = await readDetail(machine, ([, second]) => second?.signalDbm === -61);
    t.equal(of('wlan1').signalDbm, -61);
    t.equal(of('wlan0').signalDbm, expected, level);
  }
});
