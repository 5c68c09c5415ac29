/** Which interfaces are in the totals of the machines people have: from the files of /proc and /sys to the sum. */
import t, { type Test } from 'tap';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample } from '#src/stats/sample.js';
import { FOLDER, makeMachine, type Tree } from '../helpers/machine/tree.ts';
import { DEVICE, HEADER, link, NETWORK, to } from './network-tree.ts';

/** The files of one interface; its index is its place in the list. */
type Files = Parameters<typeof link>[1];

const nic: Files = { type: 1, device: DEVICE };
const KINDS: Readonly<Record<string, Files>> = {
  loopback: { type: 772 },
  nic,
  down: { ...nic, operstate: 'down' },
  wlan: { ...nic, wireless: FOLDER },
  dormant: { ...nic, wireless: FOLDER, operstate: 'dormant' },
  port: nic,
  /** Hardware whose iflink is an index of another network namespace. */
  infiniband: { type: 32, device: DEVICE, iflink: 2 },
  modem: { type: 65534, device: DEVICE },
  ppp: { type: 512, uevent: 'DEVTYPE=ppp' },
  virtual: { type: 1 },
  bond: { type: 1, bonding: FOLDER, uevent: 'DEVTYPE=bond' },
  bridge: { type: 1, bridge: FOLDER, uevent: 'DEVTYPE=bridge' },
  vlan: { type: 1, uevent: 'DEVTYPE=vlan' },
  vrf: { type: 1, uevent: 'DEVTYPE=vrf' },
  xen: { type: 1, 'device/subsystem': { link: '../../../bus/xen-backend' } },
  tap: { type: 1, tun_flags: '0x1002' },
  tun: { type: 65534, tun_flags: '0x1001' },
  wireguard: { type: 65534, uevent: 'DEVTYPE=wireguard' },
  /** The other end has an index that is not in the list, or one that is: that of another interface. */
  veth: { type: 1, iflink: 40 },
  veth1: { type: 1, iflink: 1 },
  vlan2: { type: 1, uevent: 'DEVTYPE=vlan', iflink: 2 },
};

/** One word of a machine below: what counts has a star; = another type, or a port's name; @ its master; / what it is on. */
const WORD =
  /^(?<star>\*?)(?<name>[^:]+):(?<kind>\w+)(?:=(?<value>\w+))?(?:@(?<master>[\w-]+))?(?:\/(?<lower>\w+))?$/;

interface Link {
  readonly name: string;
  readonly isCounted: boolean;
  readonly files: Files;
}

function linksOf(machine: string): readonly Link[] {
  const words = machine.trim().split(/\s+/);
  const links = words.map((word) => WORD.exec(word)?.groups ?? {});
  return links.map(({ star, name = '', kind = '', value, master, lower }) => ({
    name,
    isCounted: star === '*',
    files: {
      ...KINDS[kind],
      ...(value && (kind === 'port' ? { phys_port_name: value } : { type: Number(value) })),
      ...(master && { master: to(master) }),
      ...(lower && {
        iflink: links.findIndex((each) => each['name'] === lower) + 1,
        [`lower_${lower}`]: to(lower),
      }),
    },
  }));
}

function countedOf(t: Test, links: readonly Link[], more: Tree = {}): readonly string[] {
  // Each interface has received a power of two, and sent 1024 times as much: the sums show who is in them.
  const rows = links.map(
    ({ name }, at) => `${name}: ${2 ** at} 1 0 0 0 0 0 0 ${1024 * 2 ** at} 1 0 0 0 0 0 0\n`,
  );
  const folders = links.map(({ name, files }, at) =>
    link(name, { ifindex: at + 1, iflink: at + 1, ...files }),
  );
  const tree = Object.assign({ 'proc/net/dev': HEADER + rows.join('') }, ...folders, more);
  const { host } = makeMachine(t, tree);
  const { sample } = deriveSample(NO_BASELINE, host.readCounters(NETWORK, false, 0));
  const { bytesRecv = 0, bytesSent } = sample.network?.stats ?? {};
  t.equal(bytesSent, 1024 * bytesRecv, 'both directions count the same interfaces');
  return links.filter((_, at) => (bytesRecv & (2 ** at)) !== 0).map(({ name }) => name);
}

const MACHINES: readonly (readonly [what: string, machine: string])[] = [
  [
    'a Proxmox host, its only port in a bridge',
    `*eno1:nic@vmbr0 vmbr0:bridge tap100i0:tap@vmbr0 fwbr101i0:bridge fwln101i0:virtual@fwbr101i0
     fwpr101p0:virtual@vmbr0 veth101i0:virtual@fwbr101i0 wg0:wireguard`,
  ],
  ['two ports, one of them in a bridge', '*eth0:nic *eth1:nic@br0 br0:bridge veth7:virtual@br0'],
  [
    'docker0, containers and a tunnel beside hardware',
    '*eth0:nic docker0:bridge veth1:virtual@docker0 wg0:wireguard',
  ],
  ['a bond of two in a bridge', '*eth0:nic@bond0 *eth1:nic@bond0 bond0:bond@br0 br0:bridge'],
  ['a bond of two, with a VLAN', '*eth0:nic@bond0 *eth1:nic@bond0 bond0:bond bond0.7:vlan/bond0'],
  ['a bond beside a port that is in none', '*eth0:nic@bond0 bond0:bond *wlan0:wlan'],
  ['a team, which has no device', '*eth0:nic@team0 *eth1:nic@team0 team0:virtual'],
  ['a team with a device', 'eth0:nic@team0 eth1:nic@team0 *team0:nic'],
  ['an Open vSwitch', '*eth0:nic@ovs-system ovs-system:virtual br-ex:virtual vnet0:tap@ovs-system'],
  ['netvsc and its virtual function, in a bridge', '*eth0:nic@br0 enP1s1:nic@eth0 br0:bridge'],
  ['failover: a standby and a primary under one device', '*eth0:nic eth0nsby:nic@eth0 ens3:nic@eth0'],
  ['a port in a VRF', '*eth0:nic@vrf0 vrf0:vrf'],
  [
    'the ports of a switch (DSA) above its interface',
    '*eth0:nic lan1:nic@br-lan/eth0 wan:nic/eth0 br-lan:bridge',
  ],
  ['hardware whose iflink is an index of another network namespace', '*eth0:nic *ib0:infiniband'],
  ['a netvm of Qubes: a guest behind a back end of Xen', '*enX0:nic vif59.0:xen'],
  [
    'a smart card: representors of functions beside a physical and a split port',
    `*p0:port=p0 *p1:port=p1s2 pf0hpf:port=pf0hpf eth0:port=pf0vf1 eth1:port=c1pf0sf88 eth2:port=p0pf0vf3
     eth3:port=pf0vfr2`,
  ],
  ...[801, 802, 803].map(
    (type) => [`a monitor of type ${type} beside its radio`, `*wlan0:wlan mon0:wlan=${type}`] as const,
  ),
  ...[512, 256, 19].map(
    (type) =>
      [
        `a modem's line of type ${type} beside hardware that is down`,
        `*ppp0:ppp=${type} *wlan0:dormant *enp1s0:down`,
      ] as const,
  ),
  ['a modem beside hardware that has carried less', '*eth0:nic *ppp0:ppp'],
  ['PPP that busier hardware may carry: PPPoE, a VPN', 'ppp0:ppp *eth0:nic *wlan0:down'],
  ['a modem that has a device', '*eth0:nic *wwan0:modem'],
  ['a tunnel beside hardware that is down', 'wg0:wireguard tun0:tap *eth0:down'],
  ['Docker in LXC', '*net0:veth docker0:bridge veth1a2b:veth@docker0 br-55aa:bridge veth3c4d:veth@br-55aa'],
  ['a container in a bridge of a container', '*eth0:veth@br0 br0:bridge'],
  ['a container', '*eth0:veth1'],
  [
    'a container with a bridge and a bond',
    '*eth0:virtual@bond0 *eth1:virtual@bond0 bond0:bond *eth2:virtual@br0 br0:bridge',
  ],
  [
    'a container with a VLAN, a team and a tunnel',
    '*eth0:virtual eth0.7:vlan/eth0 *eth1:virtual@team0 team0:virtual tun0:tun',
  ],
  ['a container on a VLAN of its host', '*eth0:vlan2'],
  ['a container with nothing but a tunnel', '*tap0:tap'],
];

for (const [what, machine] of [...MACHINES, ['a container without a network', ''] as const]) {
  const links = linksOf(machine === '' ? '*lo:loopback' : `lo:loopback ${machine}`);
  const counted = links.filter(({ isCounted }) => isCounted).map(({ name }) => name);
  t.test(`[3.network-which] ${what}: ${counted.join(', ')}`, async (t) => {
    t.strictSame(countedOf(t, links), counted);
  });
}

t.test('[3.network-which] PPPoE, which the kernel lists, is never counted beside hardware', async (t) => {
  const links = linksOf('lo:loopback eth0:down ppp0:ppp');
  const header = 'Id       Address              Device\n';
  const session = '00000001 00:00:5e:00:53:01     eth0\n';
  t.strictSame(countedOf(t, links, { 'proc/net/pppoe': header }), ['eth0', 'ppp0'], 'no session');
  t.strictSame(countedOf(t, links, { 'proc/net/pppoe': header + session }), ['eth0']);
});
