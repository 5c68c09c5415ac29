/** Each reader's report about itself, on machines made here and on captured ones: the rows of `hostwire doctor`. */
import t, { type Test } from 'tap';
import type { Capability, Finding } from '#src/host/finding.js';
import { type NativeMachine, openNativeHost } from '#src/host/native.js';
import { checkTime } from '../helpers/limits.ts';
import { openFixture } from '../helpers/machine/fixtures.ts';
import { AMD_CARD, NVIDIA, pci } from '../helpers/machine/gpu-tree.ts';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';

/** Buses have tests of their own. */
const BUSES: ReadonlySet<Capability> = new Set(['power', 'media']);

/** Its rows by subject, one line each, without the path of the machine's folder. */
async function describe(t: Test, host: NativeMachine, root: string): Promise<ReadonlyMap<string, string>> {
  const findings = await host.describe(BUSES);
  const subjects = findings.map(({ subject }) => subject);
  t.strictSame([...new Set(subjects)], subjects, 'no subject twice');
  for (const { subject, status, reason } of findings)
    t.equal(reason === null, status === 'works', `${subject}: what does not work says why`);
  const lineOf = ({ status, source, reason, remedy }: Finding) =>
    [status, source, reason, remedy].filter((text) => text !== null).join(' | ');
  return new Map(findings.map((finding) => [finding.subject, lineOf(finding).replaceAll(root, '')]));
}

async function describeTree(t: Test, tree: Tree, options: Parameters<typeof makeMachine>[2] = {}) {
  const { host, root } = makeMachine(t, tree, options);
  return describe(t, host, root);
}

async function describeFixture(t: Test, name: string) {
  const { root } = openFixture(t, name);
  return describe(t, openNativeHost({ proc: `${root}/proc`, sys: `${root}/sys`, files: root }), root);
}

t.test(
  '[9.doctor-reading] [9.doctor-processes] a machine without any of it: each row gives the reason and the remedy',
  async (t) => {
    const rows = await describeTree(t, { 'proc/uptime': '1 1\n' });
    const gone = 'No such file or directory';
    t.match(Object.fromEntries(rows), {
      cpu: `missing | /proc/stat | open /proc/stat: ${gone}`,
      temperature:
        /^missing \| \/sys\/class\/hwmon and \/sys\/class\/thermal \| .*virtual machines \| .*coretemp/,
      speed: /^missing \| \/sys\/.*cpufreq and \/proc\/cpuinfo \| .*MHz$/,
      'cpu-power': /^missing \| \/sys\/class\/powercap.* \| .*virtual machines.* \| .*intel_rapl_msr$/,
      memory: `missing | /proc/meminfo | open /proc/meminfo: ${gone}`,
      gpu: /^missing \| \/sys\/bus\/pci\/devices and \/class\/drm \| no device of NVIDIA, AMD, Intel/,
      disks: `missing | /proc/self/mountinfo | open /proc/self/mountinfo: ${gone}`,
      network: `missing | /proc/net/dev | open /proc/net/dev: ${gone}`,
      sensors: /^missing \| \/sys\/class\/hwmon \| no sensor chips .* \| run sensors-detect/,
      drives: 'missing | no drive temperature | no NVMe or SATA drive was found',
      batteries: 'works | none in /sys/class/power_supply',
      'resource-limits': 'works | none by /proc/self/cgroup',
      processes: 'works | 0 processes in /proc',
      'process-control':
        'missing | not possible | processes are seen through another root than /proc | leave host.proc and host.sys at /proc and /sys',
    });
    t.notOk(rows.has('wifi'), 'no row where there is no Wi-Fi');
    t.notOk(rows.has('pressure'), 'none where the memory itself is not known');
  },
);

t.test('[9.doctor-reading] captured machines: the source of each value', async (t) => {
  const laptop = await describeFixture(t, 'laptop-two-batteries');
  t.match(Object.fromEntries(laptop), {
    cpu: 'works | 8 processors from /proc/stat',
    temperature: 'works | 51.0 °C from /sys/class/hwmon and /sys/class/thermal',
    speed: /^works \| 804 MHz from \/sys\/devices\/system\/cpu\/cpu\*\/cpufreq or \/proc\/cpuinfo$/,
    'cpu-power': 'works | 1 package from /sys/class/powercap/intel-rapl:*/energy_uj',
    memory: 'works | 15830 MiB from /proc/meminfo',
    pressure: 'works | from /proc/pressure/memory',
    disks: 'works | 2 mounts from /proc/self/mountinfo',
    network: 'works | 3 interfaces from /proc/net/dev',
    wifi: /^partly \| wlp3s0 from nl80211 or \/proc\/net\/wireless \| the signal of wlp3s0 .* \| leave host\.proc at \/proc/,
    sensors:
      'partly | 14 sensors of 8 chips from /sys/class/hwmon | nothing connected, or asleep: thinkpad GPU',
    drives: 'works | temperature of SAMSUNG MZVLB256HAHQ-000L7',
    batteries: 'works | BAT0, BAT1 from /sys/class/power_supply',
  });
  const limitsOf = async (name: string) => (await describeFixture(t, name)).get('resource-limits');
  t.equal(await limitsOf('container'), 'works | memory 384 MiB, processors 1.5 by /proc/self/cgroup');
  t.equal(await limitsOf('laptop'), 'works | none by /proc/self/cgroup');
  const broken = await describeFixture(t, 'broken-sensors');
  t.match(
    broken.get('sensors'),
    /^partly \| 20 sensors of 7 chips .*\| failing: k10temp Tctl \(read .*: Is a directory\), it8688 temp4 \(the chip reports/,
  );
  t.match(
    broken.get('sensors'),
    /; nothing connected, or asleep: it8688 temp2, it8688 fan3, .* and \d+ more$/,
  );
  t.match(broken.get('batteries'), /^missing \| BAT0 from .* \| BAT0: read .*: Is a directory$/);
  t.match((await describeFixture(t, 'no-sensors')).get('cpu-power'), /^missing .*Linux 5\.10.*\| .*tmpfiles/);
  t.match((await describeFixture(t, 'old-kernel')).get('pressure'), /^missing \| \/proc\/pressure.*psi=1$/);
  t.equal(
    (await describeFixture(t, 'raspberry-5')).get('wifi'),
    'works | wlan0 from nl80211 or /proc/net/wireless',
  );
});

const BATTERY = { type: 'Battery\n', uevent: 'POWER_SUPPLY_NAME=x\nPOWER_SUPPLY_CAPACITY=50\n' };

const battery = (name: string, change: Tree = {}): Tree =>
  Object.fromEntries(
    Object.entries({ ...BATTERY, ...change }).map(([file, entry]) => [
      `sys/class/power_supply/${name}/${file}`,
      entry,
    ]),
  );

t.test(
  '[9.doctor-reading] drives whose temperature needs a module; one of two batteries fails',
  async (t) => {
    const sata = { 'sys/block/sda/device/vendor': 'ATA     \n' };
    const nvme = { 'sys/class/hwmon/hwmon0/name': 'nvme\n', 'sys/class/hwmon/hwmon0/temp1_input': '38850\n' };
    const usb = { 'sys/block/sda/device/vendor': 'SanDisk \n' };
    const drivetemp = {
      'sys/class/hwmon/hwmon1/name': 'drivetemp\n',
      'sys/class/hwmon/hwmon1/temp1_input': '31000\n',
    };
    const drives = async (...trees: readonly Tree[]) =>
      (await describeTree(t, Object.assign({ 'proc/uptime': '1 1\n' }, ...trees))).get('drives');
    t.match(
      await drives(sata),
      /^missing \| no drive temperature \| .*drivetemp.* \| run modprobe drivetemp/,
    );
    t.match(await drives(sata, nvme), /^partly \| temperature of nvme \| .* \| run modprobe drivetemp/);
    t.equal(await drives(sata, nvme, drivetemp), 'works | temperature of nvme, drivetemp');
    t.match(await drives(usb), /^missing .*no NVMe or SATA drive/);

    const one = await describeTree(t, {
      ...battery('BAT0'),
      ...battery('BAT1', { uevent: { folder: true } }),
    });
    t.match(
      one.get('batteries'),
      /^partly \| BAT0, BAT1 from \/sys\/class\/power_supply \| BAT1: read .*directory$/,
    );
  },
);

t.test(
  '[9.doctor-gpu] the source of each value, the reason for each missing one, and the remedy',
  async (t) => {
    const amd = (await describeFixture(t, 'gpu-amd-laptop')).get('gpu');
    t.match(amd, /^works \| /);
    t.match(amd, 'AMD Radeon RX 6600M (amdgpu, 0000:03:00.0) is asleep and is not woken');
    t.match(
      amd,
      /AMD Radeon Graphics \(amdgpu, 0000:08:00\.0\): load, temperature, memory, power, clock from \/sys and amdgpu's sensors, without fan/,
    );
    const gpu = async (...trees: readonly Tree[]) =>
      (await describeTree(t, Object.assign({}, ...trees), { nvml: '/nonexistent.so' })).get('gpu');
    t.equal(
      await gpu(pci({ vendor: '0x1002', address: '0000:01:00.0' })),
      'missing | AMD (no driver, 0000:01:00.0) | AMD (no driver, 0000:01:00.0): no driver is loaded for it | load its kernel module: amdgpu',
    );
    t.match(
      await gpu(pci({ vendor: '0x10de', address: '0000:01:00.0', driver: 'nouveau', nodes: ['card0'] })),
      /^missing .*its driver reports nothing in \/sys \| use NVIDIA's own driver, which reports it$/,
    );
    t.match(
      await gpu(
        pci({ ...AMD_CARD, address: '0000:03:00.0' }),
        pci({ vendor: '0x10de', address: '0000:04:00.0' }),
      ),
      /^partly \| .*AMD.*: load, .*; NVIDIA \(no driver, .* \| load its kernel module: nvidia \(or nouveau\)$/,
    );
  },
);

t.test('[9.doctor-gpu] a slow driver is waited for, a missing one is not', async (t) => {
  const began = performance.now();
  const rows = await describeTree(t, pci({ ...NVIDIA, address: '0000:01:00.0' }), {
    nvml: '/nonexistent.so',
  });
  t.match(
    rows.get('gpu'),
    /^missing \| .* cannot open shared object file.* \| install the management library of NVIDIA's driver/,
  );
  checkTime(t, performance.now() - began, 2000, 'the row of a missing library');
});

t.test('[9.doctor-processes] this machine: how many there are, and that they can be ended', async (t) => {
  const findings = await openNativeHost().describe(BUSES);
  const rowOf = (name: string) => findings.find(({ subject }) => subject === name);
  t.match(rowOf('processes'), { status: 'works', source: /^\d+ process(?:es)? in \/proc$/ });
  t.strictSame(rowOf('process-control'), {
    subject: 'process-control',
    status: 'works',
    source: 'possible',
    reason: null,
    remedy: null,
  });
});
