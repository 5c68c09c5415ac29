/**
 * Generates the repetitive files of captured machines with very many devices of one kind: machine.json names the
 * generator, and the machine's folder holds the other files. The result is the same at every run.
 */

export interface Generated {
  /** Paths under the machine's root. */
  readonly files: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  readonly statvfs: Readonly<
    Record<
      string,
      { readonly frsize: number; readonly blocks: number; readonly bfree: number; readonly bavail: number }
    >
  >;
}

type Moment = 'before' | 'after';
type Generate = (moment: Moment) => Generated;

const range = (count: number) => Array.from({ length: count }, (_, at) => at);
const lines = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('');

/** Two packages of 64 cores with two threads each; processor n + 128 is the other thread of n. */
function manyProcessors(moment: Moment): Generated {
  const later = moment === 'after' ? 1 : 0;
  const files: Record<string, string> = {};
  const cores = range(256).map((cpu) => {
    // Processor n is busy for n/256 of the two seconds.
    const busy = 1000 + cpu * 7 + later * Math.floor((200 * cpu) / 256);
    const idle = 900_000 - cpu * 3 + later * (200 - Math.floor((200 * cpu) / 256));
    return { cpu, busy, idle };
  });
  const sum = (key: 'busy' | 'idle') => cores.reduce((total, core) => total + core[key], 0);
  files['proc/stat'] = lines([
    `cpu  ${sum('busy')} 0 0 ${sum('idle')} 0 0 0 0 0 0`,
    ...cores.map(({ cpu, busy, idle }) => `cpu${cpu} ${busy} 0 0 ${idle} 0 0 0 0 0 0`),
    `intr ${'0 '.repeat(2000)}0`,
    'ctxt 91223344',
    'btime 1731000000',
  ]);
  files['proc/cpuinfo'] = range(256)
    .map((cpu) =>
      lines([
        `processor\t: ${cpu}`,
        'vendor_id\t: AuthenticAMD',
        'model name\t: AMD EPYC 7763 64-Core Processor',
        `cpu MHz\t\t: ${(2450 + cpu).toFixed(3)}`,
        `physical id\t: ${Math.floor((cpu % 128) / 64)}`,
        `core id\t\t: ${cpu % 64}`,
        '',
      ]),
    )
    .join('');
  files['sys/devices/system/cpu/online'] = '0-255\n';
  for (const cpu of range(256)) {
    const folder = `sys/devices/system/cpu/cpu${cpu}`;
    files[`${folder}/topology/thread_siblings_list`] = `${cpu % 128},${(cpu % 128) + 128}\n`;
    files[`${folder}/cpufreq/scaling_cur_freq`] = `${1_500_000 + cpu * 1000}\n`;
  }
  for (const chip of range(2)) {
    const folder = `sys/class/hwmon/hwmon${chip}`;
    files[`${folder}/name`] = 'k10temp\n';
    files[`${folder}/temp1_label`] = 'Tctl\n';
    files[`${folder}/temp1_input`] = `${52_000 + chip * 6000}\n`;
    for (const die of range(8)) {
      files[`${folder}/temp${die + 3}_label`] = `Tccd${die + 1}\n`;
      files[`${folder}/temp${die + 3}_input`] = `${48_000 + chip * 6000 + die * 250}\n`;
    }
    const energy = `sys/class/powercap/intel-rapl:${chip}`;
    files[`${energy}/name`] = `package-${chip}\n`;
    files[`${energy}/max_energy_range_uj`] = '65532610987\n';
    // The second package's counter wraps between the two readings; the result is still 250 W.
    const before = chip === 0 ? 9_011_223_344 : 65_532_300_000;
    files[`${energy}/energy_uj`] = `${(before + later * 500_000_000) % 65_532_610_987}\n`;
  }
  const links = Object.fromEntries(
    range(2).map((chip) => [
      `sys/class/hwmon/hwmon${chip}/device`,
      `../../../devices/0000:00:${18 + chip}.3`,
    ]),
  );
  return { files, links, statvfs: {} };
}

/** 600 volumes of one group, 300 exports of three servers, and 100 bind mounts that are no disks of their own. */
function manyMounts(moment: Moment): Generated {
  const later = moment === 'after' ? 1 : 0;
  const rows = ['24 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw'];
  const statvfs: Record<string, Generated['statvfs'][string]> = {
    '/': { frsize: 4096, blocks: 12_000_000, bfree: 7_000_000, bavail: 6_400_000 },
  };
  const links: Record<string, string> = {};
  const files: Record<string, string> = {};
  const stats = [`   8 2 sda2 900 0 60112 300 400 0 ${30_112 + later * 80} 900 0 ${800 + later * 4} 1200`];
  for (const volume of range(600)) {
    const point = `/srv/volumes/pvc-${volume}`;
    rows.push(
      `${100 + volume} 24 253:${volume} / ${point} rw,relatime - xfs /dev/mapper/data-pvc--${volume} rw`,
    );
    statvfs[point] = {
      frsize: 4096,
      blocks: 2_621_440,
      bfree: 2_621_440 - volume * 1000,
      bavail: 2_621_440 - volume * 1000,
    };
    links[`sys/dev/block/253:${volume}`] = `../../devices/virtual/block/dm-${volume}`;
    files[`sys/devices/virtual/block/dm-${volume}/removable`] = '0\n';
    stats.push(
      ` 253 ${volume} dm-${volume} ${volume} 0 ${volume * 8} 10 5 0 ${4096 + later * volume * 2} 20 0 ${100 + later} 30`,
    );
  }
  for (const share of range(300)) {
    const point = `/srv/exports/${share}`;
    rows.push(
      `${1000 + share} 24 0:${200 + (share % 3)} / ${point} rw - nfs4 192.0.2.${10 + (share % 3)}:/export/${share} rw`,
    );
    statvfs[point] = {
      frsize: 1_048_576,
      blocks: 1_000_000,
      bfree: 500_000 - share,
      bavail: 500_000 - share,
    };
  }
  for (const bind of range(99))
    rows.push(
      `${2000 + bind} 24 253:${bind} /data /var/lib/kubelet/pods/${bind}/volumes/data rw - xfs /dev/mapper/data-pvc--${bind} rw`,
    );
  files['proc/self/mountinfo'] = lines(rows);
  files['proc/diskstats'] = lines(stats);
  return { files, links, statvfs };
}

/** 480 ends of virtual pairs in a bridge, 15 VLANs on one of two cards, a bridge, a tunnel, the loopback. */
function manyInterfaces(moment: Moment): Generated {
  const later = moment === 'after' ? 1 : 0;
  const files: Record<string, string> = {};
  const links: Record<string, string> = {};
  const rows: string[] = [];
  const add = (
    name: string,
    index: number,
    growth: number,
    facts: Readonly<Record<string, string | number>>,
  ) => {
    const bytes = index * 1000 + later * growth;
    rows.push(`${name.padStart(6)}: ${bytes} ${index} 0 0 0 0 0 0 ${bytes * 2} ${index} 0 0 0 0 0 0`);
    for (const [file, value] of Object.entries({
      ifindex: index,
      operstate: 'up',
      flags: '0x1003',
      ...facts,
    }))
      files[`sys/class/net/${name}/${file}`] = `${value}\n`;
  };
  const mac = (index: number) =>
    `02:00:5e:10:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`;
  add('lo', 1, 0, { type: 772, operstate: 'unknown', flags: '0x9' });
  for (const card of range(2)) {
    const name = `enp${card + 1}s0f0`;
    add(name, 2 + card, 2000 * (card + 1), { type: 1, speed: 25_000, carrier: 1, address: mac(2 + card) });
    files[`sys/class/net/${name}/device/uevent`] = 'DRIVER=ice\n';
  }
  add('br0', 4, 500, { type: 1, address: mac(4), 'bridge/stp_state': 0 });
  add('wg0', 5, 100, { type: 65534, operstate: 'unknown', carrier: 1, uevent: 'DEVTYPE=wireguard' });
  for (const vlan of range(15))
    add(`enp1s0f0.${vlan + 100}`, 6 + vlan, 10, { type: 1, address: mac(2), uevent: 'DEVTYPE=vlan' });
  for (const pair of range(480)) {
    const name = `veth${pair.toString(16).padStart(7, '0')}`;
    add(name, 21 + pair, pair, { type: 1, address: mac(21 + pair), carrier: 1, speed: 10_000 });
    links[`sys/class/net/${name}/master`] = '../br0';
  }
  files['proc/net/dev'] = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
${lines(rows)}`;
  return { files, links, statvfs: {} };
}

const GENERATORS: Readonly<Record<string, Generate>> = { manyProcessors, manyMounts, manyInterfaces };

/** The files of the generator `name`. Throws if there is none of that name. */
export function generate(name: string, moment: Moment): Generated {
  const found = GENERATORS[name];
  if (found === undefined) throw new Error(`no generator ${name}`);
  return found(moment);
}
