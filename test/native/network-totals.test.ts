/** Which interfaces are in the totals of the machines people have: from the files of /proc and /sys to the sum. */
import t, { type Test } from 'tap';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample } from '#src/stats/sample.js';
import { FOLDER, makeMachine, type Tree } from '../helpers/machine/tree.ts';
import { DEVICE, HEADER, link, NETWORK, to } from './network-tree.ts';

/** The files of one interface; its index is its place in the list. */
type Files = Parameters<typeof link>[1];
type Links = Readonly<Record<string, Files>>;

const nic: Files = { type: 1, device: DEVICE };
const virtual: Files = { type: 1 };
const loopback: Files = { type: 772 };
const bond: Files = { type: 1, bonding: FOLDER, uevent: 'DEVTYPE=bond' };
const bridge: Files = { type: 1, bridge: FOLDER, uevent: 'DEVTYPE=bridge' };
const tap: Files = { type: 1, tun_flags: '0x1002' };
const wireguard: Files = { type: 65534, uevent: 'DEVTYPE=wireguard' };
const member = (files: Files, master: string): Files => ({ ...files, master: to(master) });

/** On top of `lower`, whose place in the list is `index`. */
const above = (lower: string, index: number, files: Files): Files => ({
  ...files,
  iflink: index,
  [`lower_${lower}`]: to(lower),
});
const vlan: Files = { type: 1, uevent: 'DEVTYPE=vlan' };

function treeOf(links: Links): Tree {
  const names = Object.keys(links);
  // Each interface has received a power of two, and sent 1024 times as much: the sums show who is in them.
  const rows = names.map((name, at) => `${name}: ${2 ** at} 1 0 0 0 0 0 0 ${1024 * 2 ** at} 1 0 0 0 0 0 0\n`);
  const folders = names.map((name, at) => link(name, { ifindex: at + 1, iflink: at + 1, ...links[name] }));
  return Object.assign({ 'proc/net/dev': HEADER + rows.join('') }, ...folders);
}

function countedOf(t: Test, links: Links, more: Tree = {}): readonly string[] {
  const { host } = makeMachine(t, { ...treeOf(links), ...more });
  const { sample } = deriveSample(NO_BASELINE, host.readCounters(NETWORK, false, 0));
  const { bytesRecv = 0, bytesSent } = sample.network?.stats ?? {};
  t.equal(bytesSent, 1024 * bytesRecv, 'both directions count the same interfaces');
  return Object.keys(links).filter((_, at) => (bytesRecv & (2 ** at)) !== 0);
}

function machine(what: string, links: Links, counted: readonly string[]): void {
  t.test(`[3.network-which] ${what}: ${counted.join(', ')}`, async (t) => {
    t.strictSame(countedOf(t, links), counted);
  });
}

const lo = { lo: loopback };

machine(
  'a Proxmox host, its only port in a bridge',
  {
    ...lo,
    eno1: member(nic, 'vmbr0'),
    vmbr0: bridge,
    tap100i0: member(tap, 'vmbr0'),
    fwbr101i0: bridge,
    fwln101i0: member(virtual, 'fwbr101i0'),
    fwpr101p0: member(virtual, 'vmbr0'),
    veth101i0: member(virtual, 'fwbr101i0'),
    wg0: wireguard,
  },
  ['eno1'],
);
machine(
  'two ports, one of them in a bridge',
  { ...lo, eth0: nic, eth1: member(nic, 'br0'), br0: bridge, veth7: member(virtual, 'br0') },
  ['eth0', 'eth1'],
);
machine(
  'docker0, containers and a tunnel beside hardware',
  { ...lo, eth0: nic, docker0: bridge, veth1: member(virtual, 'docker0'), wg0: wireguard },
  ['eth0'],
);
machine(
  'a bond of two in a bridge',
  { ...lo, eth0: member(nic, 'bond0'), eth1: member(nic, 'bond0'), bond0: member(bond, 'br0'), br0: bridge },
  ['eth0', 'eth1'],
);
machine(
  'a bond of two, with a VLAN',
  {
    ...lo,
    eth0: member(nic, 'bond0'),
    eth1: member(nic, 'bond0'),
    bond0: bond,
    'bond0.7': above('bond0', 4, vlan),
  },
  ['eth0', 'eth1'],
);
machine(
  'a bond beside a port that is in none',
  { ...lo, eth0: member(nic, 'bond0'), bond0: bond, wlan0: { ...nic, wireless: FOLDER } },
  ['eth0', 'wlan0'],
);
machine(
  'a team, which has no device',
  { ...lo, eth0: member(nic, 'team0'), eth1: member(nic, 'team0'), team0: virtual },
  ['eth0', 'eth1'],
);
machine(
  'a team with a device',
  { ...lo, eth0: member(nic, 'team0'), eth1: member(nic, 'team0'), team0: nic },
  ['team0'],
);
machine(
  'an Open vSwitch',
  {
    ...lo,
    eth0: member(nic, 'ovs-system'),
    'ovs-system': virtual,
    'br-ex': virtual,
    vnet0: member(tap, 'ovs-system'),
  },
  ['eth0'],
);
machine(
  'netvsc and its virtual function, in a bridge',
  { ...lo, eth0: member(nic, 'br0'), enP1s1: member(nic, 'eth0'), br0: bridge },
  ['eth0'],
);
machine(
  'failover: a standby and a primary under one device',
  { ...lo, eth0: nic, eth0nsby: member(nic, 'eth0'), ens3: member(nic, 'eth0') },
  ['eth0'],
);
machine('a port in a VRF', { ...lo, eth0: member(nic, 'vrf0'), vrf0: { type: 1, uevent: 'DEVTYPE=vrf' } }, [
  'eth0',
]);
machine(
  'the ports of a switch (DSA) above its interface',
  {
    ...lo,
    eth0: nic,
    lan1: member(above('eth0', 2, nic), 'br-lan'),
    wan: above('eth0', 2, nic),
    'br-lan': bridge,
  },
  ['eth0'],
);
machine(
  'hardware whose iflink is an index of another network namespace',
  { ...lo, eth0: nic, ib0: { type: 32, device: DEVICE, iflink: 2 } },
  ['eth0', 'ib0'],
);

const xen: Files = { type: 1, 'device/subsystem': { link: '../../../bus/xen-backend' } };
const wlan: Files = { ...nic, wireless: FOLDER };
/** The other end has an index that is not in the list. */
const veth: Files = { ...virtual, iflink: 40 };
const ppp: Files = { type: 512, uevent: 'DEVTYPE=ppp' };
const port = (name: string): Files => ({ ...nic, phys_port_name: name });

machine('a netvm of Qubes: a guest behind a back end of Xen', { ...lo, enX0: nic, 'vif59.0': xen }, ['enX0']);
machine(
  'a smart card: representors of functions beside a physical and a split port',
  {
    ...lo,
    p0: port('p0'),
    p1: port('p1s2'),
    pf0hpf: port('pf0hpf'),
    eth0: port('pf0vf1'),
    eth1: port('c1pf0sf88'),
    eth2: port('p0pf0vf3'),
    eth3: port('pf0vfr2'),
  },
  ['p0', 'p1'],
);
for (const type of [801, 802, 803])
  machine(`a monitor of type ${type} beside its radio`, { ...lo, wlan0: wlan, mon0: { ...wlan, type } }, [
    'wlan0',
  ]);
const away: Files = { ...nic, operstate: 'down' };
for (const type of [512, 256, 19])
  machine(
    `a modem's line of type ${type} beside hardware that is down`,
    { ...lo, ppp0: { ...ppp, type }, wlan0: { ...wlan, operstate: 'dormant' }, enp1s0: away },
    ['ppp0', 'wlan0', 'enp1s0'],
  );
machine('a modem beside hardware that has carried less', { ...lo, eth0: nic, ppp0: ppp }, ['eth0', 'ppp0']);
machine('PPP that busier hardware may carry: PPPoE, a VPN', { ...lo, ppp0: ppp, eth0: nic, wlan0: away }, [
  'eth0',
  'wlan0',
]);
machine('a modem that has a device', { ...lo, eth0: nic, wwan0: { type: 65534, device: DEVICE } }, [
  'eth0',
  'wwan0',
]);
machine('a tunnel beside hardware that is down', { ...lo, wg0: wireguard, tun0: tap, eth0: away }, ['eth0']);

t.test('[3.network-which] PPPoE, which the kernel lists, is never counted beside hardware', async (t) => {
  const links = { ...lo, eth0: away, ppp0: ppp };
  const header = 'Id       Address              Device\n';
  const session = '00000001 00:00:5e:00:53:01     eth0\n';
  t.strictSame(countedOf(t, links, { 'proc/net/pppoe': header }), ['eth0', 'ppp0'], 'no session');
  t.strictSame(countedOf(t, links, { 'proc/net/pppoe': header + session }), ['eth0']);
});

machine(
  'Docker in LXC',
  {
    ...lo,
    net0: veth,
    docker0: bridge,
    veth1a2b: member(veth, 'docker0'),
    'br-55aa': bridge,
    veth3c4d: member(veth, 'br-55aa'),
  },
  ['net0'],
);
machine('a container in a bridge of a container', { ...lo, eth0: member(veth, 'br0'), br0: bridge }, [
  'eth0',
]);
machine('a container', { ...lo, eth0: { ...virtual, iflink: 1 } }, ['eth0']);
machine('a container without a network', lo, ['lo']);
machine(
  'a container with a bridge and a bond',
  {
    ...lo,
    eth0: member(virtual, 'bond0'),
    eth1: member(virtual, 'bond0'),
    bond0: bond,
    eth2: member(virtual, 'br0'),
    br0: bridge,
  },
  ['eth0', 'eth1', 'eth2'],
);
machine(
  'a container with a VLAN, a team and a tunnel',
  {
    ...lo,
    eth0: virtual,
    'eth0.7': above('eth0', 2, vlan),
    eth1: member(virtual, 'team0'),
    team0: virtual,
    tun0: { type: 65534, tun_flags: '0x1001' },
  },
  ['eth0', 'eth1'],
);
machine('a container on a VLAN of its host', { ...lo, eth0: { ...vlan, iflink: 2 } }, ['eth0']);
machine('a container with nothing but a tunnel', { ...lo, tap0: tap }, ['tap0']);
