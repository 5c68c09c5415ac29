/** Network interfaces: the machines people have, names that are bytes, and this machine's own. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import t, { type Test } from 'tap';
import { type InterfaceCounters, SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import {
  type Entry,
  FOLDER,
  type Machine,
  makeMachine,
  readUntil,
  type Tree,
} from '../helpers/machine-tree.ts';

const NETWORK = SECTION_BITS.network;
const HEADER = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;

function netDev(...names: readonly string[]): Tree {
  const rows = names.map(
    (name, at) => `${name.padStart(6)}: ${at + 1}00 ${at + 1} 2 3 0 0 0 9 ${at + 1}000 4 5 6 0 0 0 0\n`,
  );
  return { 'proc/net/dev': HEADER + rows.join('') };
}

/** /sys/class/net/NAME: numbers and texts become lines. */
function link(name: string, files: Readonly<Record<string, string | number | Entry>>): Tree {
  const entries = Object.entries(files).map(([file, entry]) => [
    `sys/class/net/${name}/${file}`,
    typeof entry === 'string' || typeof entry === 'number' ? `${entry}\n` : entry,
  ]);
  return Object.fromEntries(entries);
}

const DEVICE: Entry = { link: '../../../0000:00:1f.6' };
const to = (name: string): Entry => ({ link: `../${name}` });
const lo = link('lo', {
  type: 772,
  ifindex: 1,
  operstate: 'unknown',
  flags: '0x9',
  address: '00:00:00:00:00:00',
});
const eth0 = link('eth0', { type: 1, ifindex: 2, device: DEVICE, operstate: 'up', speed: 1000 });

function readLinks(machine: Machine): readonly InterfaceCounters[] {
  const counters = machine.host.readCounters(NETWORK, false, 0);
  if (counters.interfaces == null) throw new Error(`no interfaces: ${JSON.stringify(counters.failures)}`);
  return counters.interfaces;
}

/** "name kind index", with + for a device of its own and ^ for a member. */
function facts(links: readonly InterfaceCounters[]): readonly string[] {
  return links.map(
    (one) => `${one.name} ${one.kind} ${one.index}${one.hasDevice ? '+' : ''}${one.isMember ? '^' : ''}`,
  );
}

async function readDetail(machine: Machine, isAnswered: (links: readonly InterfaceCounters[]) => boolean) {
  const counters = await readUntil(machine.host, NETWORK, true, ({ interfaces }) =>
    isAnswered(interfaces ?? []),
  );
  const byName = new Map((counters.interfaces ?? []).map((one) => [one.name, one]));
  return (name: string): InterfaceCounters => {
    const found = byName.get(name);
    if (found === undefined) throw new Error(`no interface ${name}`);
    return found;
  };
}

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
  const of = await readDetail(machine, (links) => links.some((one) => one.signalDbm !== null));
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
    ...link('bond0.7', { type: 1, ifindex: 5, uevent: 'DEVTYPE=vlan\nINTERFACE=bond0.7\nIFINDEX=5' }),
    ...link('br0', { type: 1, ifindex: 6, bridge: FOLDER, uevent: 'DEVTYPE=bridge' }),
    ...link('vnet0', { type: 1, ifindex: 7, tun_flags: '0x1002', master: to('br0') }),
    ...link('vrf0', { type: 1, ifindex: 8, uevent: 'DEVTYPE=vrf\nINTERFACE=vrf0' }),
    ...link('eth2', { type: 1, ifindex: 9, device: DEVICE, master: to('vrf0') }),
  };
  t.strictSame(factsOf(t, tree), [
    'lo loopback 1',
    'eth0 ethernet 2+^',
    'eth1 ethernet 3+^',
    'bond0 bond 4',
    'bond0.7 vlan 5',
    'br0 bridge 6',
    'vnet0 tunnel 7^',
    'vrf0 other 8',
    'eth2 ethernet 9+',
  ]);
});

t.test('containers: a veth without a device; lo alone; nothing in /sys', async (t) => {
  const veth = { ...netDev('lo', 'eth0'), ...lo, ...link('eth0', { type: 1, ifindex: 12 }) };
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

t.test('a name that is not UTF-8 is shown as Node would, and its files are still found', async (t) => {
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
});

t.test('a signal that is no level of a receiver is unknown', async (t) => {
  const levels = { '-40.': -40, ' 200.': -56, '0': null, '-256': null, ' 70.': null, '-1000': null };
  for (const [level, expected] of Object.entries(levels)) {
    const text = `Inter-| sta-|\n face | tus |\n eth0: 0000   54.  ${level}  -256        0\n`;
    const machine = makeMachine(t, { ...netDev('eth0'), ...eth0, 'proc/net/wireless': text });
    const of = await readDetail(machine, (links) => links[0]?.speedMbps === 1000);
    t.equal(of('eth0').signalDbm, expected, level);
  }
});

t.test(
  'interfaces that come and leave are seen at once; a file that is gone is a failure of the section',
  async (t) => {
    const machine = makeMachine(t, { ...netDev('eth0'), ...eth0 });
    t.strictSame(facts(readLinks(machine)), ['eth0 ethernet 2+']);
    machine.write({ ...netDev('eth0', 'usb0'), ...link('usb0', { type: 1, ifindex: 5, device: DEVICE }) });
    t.strictSame(facts(readLinks(machine)), ['eth0 ethernet 2+', 'usb0 ethernet 5+']);
    machine.write(netDev('usb0'));
    t.strictSame(facts(readLinks(machine)), ['usb0 ethernet 5+']);
    const empty = makeMachine(t, { 'proc/stat': '' });
    const counters = empty.host.readCounters(NETWORK, false, 0);
    t.equal(counters.interfaces, null);
    t.match(counters.failures?.['interfaces'], /open .*net\/dev.*No such file/);
  },
);

t.test('under other roots the first process names the network, not whoever reads', async (t) => {
  const ofHost = netDev('enp3s0')['proc/net/dev'] ?? '';
  const machine = makeMachine(t, { ...netDev('eth0'), 'proc/1/net/dev': ofHost });
  t.strictSame(facts(readLinks(machine)), ['enp3s0 other 0']);
});

t.test('this machine: names, counters and addresses as the kernel tells others', async (t) => {
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
  const counters = await readUntil(host, NETWORK, true, ({ interfaces }) => hasAddresses(interfaces ?? []));
  const after = rows();
  const links = counters.interfaces ?? [];
  t.strictSame(
    new Set(links.map((one) => one.name)),
    new Set(readdirSync('/sys/class/net').filter((name) => after.has(name))),
  );
  const told = os.networkInterfaces();
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
    if (told[one.name] === undefined) continue;
    t.strictSame(
      new Set(one.addresses),
      new Set(told[one.name]?.map((address) => address.address)),
      `${one.name} addresses`,
    );
    const mac = told[one.name]?.[0]?.mac;
    t.equal(one.mac, mac === '00:00:00:00:00:00' ? null : mac, `${one.name} mac`);
    t.equal(one.isUp, true, 'an interface with an address that Node lists is running');
  }
});
