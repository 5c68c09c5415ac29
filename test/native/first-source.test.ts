/**
 * Readers with a first and a second source: a file that exists but fails with every reading is not a source, so the next one
 * counts. Reading a folder fails as a file of the kernel with EIO does.
 */
import t, { type Test } from 'tap';
import { type Counters, SECTION_BITS } from '#src/host/host.js';
import {
  AMD_CARD,
  drmClient,
  drmUse,
  pci,
  pciFolder,
  platform,
  platformFolder,
} from '../helpers/machine/gpu-tree.ts';
import { FOLDER, type Machine, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';
import { chip, STAT, zone } from './chip-tree.ts';
import { HEADER, link, lo, netDev, readDetail, readLinks } from './network-tree.ts';

const { cpu: CPU, gpu: GPU, memory: MEMORY, disks: DISKS } = SECTION_BITS;
const CARD = '0000:01:00.0';
const INTEL = { address: '0000:00:02.0', vendor: '0x8086', driver: 'i915', nodes: ['card0', 'renderD128'] };
const CPUS = 'sys/devices/system/cpu';

/** The value once it is known. */
async function known<Value>(
  machine: Machine,
  sections: number,
  get: (counters: Counters) => Value | null | undefined,
): Promise<Value | null | undefined> {
  return get(await readUntil(machine.host, sections, true, (counters) => get(counters) != null));
}

const gpuOf = <Value>(machine: Machine, get: (gpu: NonNullable<Counters['gpu']>[number]) => Value | null) =>
  known(machine, GPU, ({ gpu }) => (gpu?.[0] === undefined ? null : get(gpu[0])));

/** The load of a client that is busy all the time, while the first source fails. */
async function loadOfClients(t: Test, device: Tree, client: Parameters<typeof drmClient>[0]) {
  const machine = makeMachine(t, { ...device, ...drmClient(client) });
  let busyNs = 1e9;
  const counters = await readUntil(machine.host, GPU, true, ({ gpu }) => {
    busyNs += 1e9;
    machine.write(drmUse({ ...client, use: { 'drm-engine-gfx': `${busyNs} ns` } }));
    return gpu?.[0]?.loadPercent === 100;
  });
  return counters.gpu?.[0]?.loadPercent;
}

t.test('[3.first-source] the load of a GPU: gpu_busy_percent, then its clients', async (t) => {
  const { gpu_busy_percent, ...files } = AMD_CARD.files;
  const client = {
    pid: 777,
    fd: 9,
    node: 'renderD129',
    address: CARD,
    id: 5,
    driver: 'amdgpu',
    use: { 'drm-engine-gfx': '1000000000 ns' },
  };
  const card = pci({ ...AMD_CARD, files, address: CARD });
  for (const failing of [FOLDER, '', '<unknown>\n', '255\n'])
    t.equal(
      await loadOfClients(t, { ...card, [`${pciFolder(CARD)}/gpu_busy_percent`]: failing }, client),
      100,
      JSON.stringify(failing),
    );
  t.equal(gpu_busy_percent, '37');
});

t.test('[3.first-source] the load of v3d: gpu_stats, then its clients', async (t) => {
  const device = {
    address: '1002000000.v3d',
    driver: 'v3d',
    compatible: 'brcm,2712-v3d',
    nodes: ['renderD128'],
  };
  const stats = `${platformFolder(device.address)}/gpu_stats`;
  const client = {
    pid: 50,
    fd: 5,
    node: 'renderD128',
    id: 10,
    driver: 'v3d',
    use: { 'drm-engine-gfx': '1 ns' },
  };
  t.equal(await loadOfClients(t, { ...platform(device), [stats]: FOLDER }, client), 100);
});

t.test('[3.first-source] power, fan, clock, temperature and name of a GPU', async (t) => {
  const amd = (failing: Readonly<Record<string, string>>, more: Tree = {}) => {
    const hwmon: Record<string, string> = { ...AMD_CARD.hwmon, power1_input: '12500000', ...failing };
    const folders = Object.entries(hwmon).filter(([, text]) => text === 'fails');
    for (const [name] of folders) delete hwmon[name];
    const folder = `${pciFolder(CARD)}/hwmon/hwmon3`;
    return makeMachine(t, {
      ...pci({ ...AMD_CARD, hwmon, address: CARD }),
      ...Object.fromEntries(folders.map(([name]) => [`${folder}/${name}`, FOLDER])),
      ...more,
    });
  };
  t.equal(await gpuOf(amd({ power1_average: 'fails' }), (gpu) => gpu.powerWatts), 12.5);
  t.equal(await gpuOf(amd({ fan1_input: 'fails' }), (gpu) => gpu.fanPercent), 20, 'pwm1');
  t.equal(await gpuOf(amd({ fan1_max: 'fails' }), (gpu) => gpu.fanPercent), 20, 'pwm1');
  t.equal(await gpuOf(amd({ temp1_input: 'fails' }), (gpu) => gpu.temperatureCelsius), 61, 'the junction');
  const named = {
    [`${pciFolder(CARD)}/product_name`]: FOLDER,
    'usr/share/libdrm/amdgpu.ids': FOLDER,
    'usr/share/misc/pci.ids': FOLDER,
    'usr/share/hwdata/pci.ids': '1002  AMD\n\t73bf  Navi 21 [Radeon RX 6800 XT]\n',
  };
  t.equal(await gpuOf(amd({}, named), (gpu) => gpu.name), 'Radeon RX 6800 XT');
  const card = `${pciFolder(INTEL.address)}/drm/card0`;
  const clocks = (failing: readonly string[]) => ({
    ...pci(INTEL),
    ...Object.fromEntries(failing.map((name) => [`${pciFolder(INTEL.address)}/${name}`, FOLDER])),
    [`${card}/gt_act_freq_mhz`]: '350\n',
  });
  const failing = [
    'hwmon/hwmon3/freq1_input',
    'tile0/gt0/freq0/act_freq',
    'drm/card0/gt/gt0/rps_act_freq_mhz',
  ];
  t.equal(await gpuOf(makeMachine(t, clocks(failing)), (gpu) => gpu.clockMhz), 350);
  const mali = { address: 'fb000000.gpu', driver: 'lima', compatible: 'arm,mali-450', nodes: ['card0'] };
  const zones = makeMachine(t, {
    ...platform(mali),
    ...zone(0, 'gpu0-thermal', FOLDER),
    ...zone(1, 'gpu1-thermal', '47000'),
  });
  t.equal(await gpuOf(zones, (gpu) => gpu.temperatureCelsius), 47);
});

t.test('[3.first-source] the energy counters of a GPU are never compared with one another', async (t) => {
  const address = CARD;
  const folder = `${pciFolder(address)}/hwmon/hwmon3`;
  const machine = makeMachine(t, {
    ...pci({ ...INTEL, address, driver: 'xe', hwmon: { name: 'xe', energy2_input: '5000000' } }),
    [`${folder}/energy1_input`]: FOLDER,
  });
  let microjoules = 5e6;
  const watts = await known(machine, GPU, ({ gpu }) => {
    microjoules += 1e6;
    machine.write({ [`${folder}/energy2_input`]: `${microjoules}\n` });
    return gpu?.[0]?.powerWatts;
  });
  t.ok(watts != null && watts > 0, `${watts} W from the second counter`);
});

const chipTree = ({ name = FOLDER, ...files }: Tree): Tree => chip(0, name, files);

t.test('[3.first-source] sensors: the power, the name of the chip, the label, the model', async (t) => {
  const sensorsOf = async (tree: Tree) => {
    const isKnown = ({ sensors }: Counters) =>
      !!sensors?.length && sensors.every(({ value }) => value !== null);
    const { sensors } = await readUntil(makeMachine(t, tree).host, 0, true, isKnown);
    return (sensors ?? []).map(({ label, file, value }) => `${label} ${file} ${value}`);
  };
  const power = { name: 'ina226', power1_average: FOLDER, power1_input: '2500000' };
  t.strictSame(await sensorsOf(chipTree(power)), ['ina226 power1 power1_input 2.5']);
  const named = { name: FOLDER, device: { link: '../../../devices/platform/nct6775.656' } };
  t.strictSame(
    await sensorsOf({
      'sys/devices/platform/nct6775.656/name': 'nct6775\n',
      ...chipTree({ ...named, fan1_input: '900' }),
    }),
    ['nct6775 fan1 fan1_input 900'],
  );
  const labelled = { name: 'lm90', temp1_label: FOLDER, temp1_input: '40000' };
  t.strictSame(await sensorsOf(chipTree(labelled)), ['lm90 temp1 temp1_input 40']);
  const drive = {
    'sys/devices/nvme0/model': FOLDER,
    'sys/devices/nvme0/nvme/nvme0/model': 'CT1000P3PSSD8\n',
    ...chipTree({ name: 'nvme', temp1_input: '41000', device: { link: '../../../devices/nvme0' } }),
  };
  t.strictSame(await sensorsOf(drive), ['CT1000P3PSSD8 temp1 temp1_input 41']);
});

t.test('[3.first-source] a battery: its uevent, then the files of its properties', async (t) => {
  const folder = 'sys/class/power_supply/BAT0';
  const machine = makeMachine(t, {
    [`${folder}/type`]: 'Battery\n',
    [`${folder}/uevent`]: FOLDER,
    [`${folder}/capacity`]: FOLDER,
    [`${folder}/status`]: 'Discharging\n',
    [`${folder}/energy_now`]: '40280000\n',
    [`${folder}/energy_full`]: '50350000\n',
    [`${folder}/voltage_now`]: '11902000\n',
  });
  const battery = await known(machine, 0, ({ batteries }) => batteries?.[0]);
  const read = { name: 'BAT0', state: 'discharging', percent: null, energyWh: 40.28, energyFullWh: 50.35 };
  t.match(battery, { ...read, voltageVolts: 11.902, failure: null });
  machine.write({ [`${folder}/present`]: '0\n' });
  const { batteries } = await readUntil(
    machine.host,
    0,
    true,
    (counters) => counters.batteries?.length === 0,
  );
  t.strictSame(batteries, [], 'an empty bay');
});

t.test('[3.first-source] the processor: temperature, clock speed, cores, base speed', async (t) => {
  const temperatureOf = (tree: Tree) =>
    known(makeMachine(t, { ...STAT, ...tree }), CPU, ({ cpu }) => cpu?.temperatureCelsius);
  const cores = { temp2_label: 'Core 0', temp2_input: '45000', temp3_label: 'Core 1', temp3_input: '47000' };
  const coretemp = { name: 'coretemp', temp1_label: 'Package id 0', temp1_input: FOLDER, ...cores };
  const board = zone(0, 'acpitz', '30000');
  t.equal(await temperatureOf({ ...chipTree(coretemp), ...board }), 47, 'the cores of the package');
  t.equal(await temperatureOf({ ...chipTree({ name: 'k10temp', temp1_input: FOLDER }), ...board }), 30);
  const cpuinfo = {
    'proc/cpuinfo': 'processor\t: 0\ncpu MHz\t\t: 2400.000\n\nprocessor\t: 1\ncpu MHz\t\t: 2400.000\n\n',
  };
  const speedOf = (tree: Tree) =>
    known(makeMachine(t, { ...STAT, ...cpuinfo, ...tree }), CPU, ({ cpu }) => cpu?.speedHz);
  const frequency = { [`${CPUS}/cpu0/cpufreq/scaling_cur_freq`]: FOLDER };
  t.equal(await speedOf({ [`${CPUS}/online`]: '0\n', ...frequency }), 2.4e9);
  t.equal(await speedOf({ [`${CPUS}/online`]: FOLDER, ...frequency }), 2.4e9);

  const systemOf = (tree: Tree) => makeMachine(t, { ...STAT, ...tree }).host.readSystem();
  const ids = (at: number) => ({
    [`${CPUS}/cpu${at}/topology/thread_siblings_list`]: FOLDER,
    [`${CPUS}/cpu${at}/topology/core_id`]: '0\n',
    [`${CPUS}/cpu${at}/topology/physical_package_id`]: '0\n',
  });
  t.match((await systemOf({ [`${CPUS}/online`]: '0-1\n', ...ids(0), ...ids(1) })).cpu, {
    cores: 2,
    physicalCores: 1,
  });
  t.match((await systemOf({ [`${CPUS}/online`]: FOLDER, ...cpuinfo })).cpu, { cores: 2 });
  const branded = {
    'proc/cpuinfo': 'processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz\n',
  };
  const base = { [`${CPUS}/cpu0/cpufreq/base_frequency`]: FOLDER };
  t.equal((await systemOf({ ...branded, ...base })).cpu.baseSpeedHz, 1.8e9);
});

t.test('[3.first-source] the system: distribution, kernel, default route', async (t) => {
  const machine = makeMachine(t, {
    ...STAT,
    'etc/os-release': FOLDER,
    'usr/lib/os-release': 'NAME=Vendor\n',
    'proc/sys/kernel/osrelease': FOLDER,
    'proc/net/route': FOLDER,
    'proc/net/ipv6_route': `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00000064 00000002 00000000 00000003 eth9\n`,
  });
  const { os, network } = await machine.host.readSystem();
  t.equal(os.name, 'Vendor');
  t.not(os.build, '', "uname's");
  t.equal(network?.name, 'eth9');
  t.match((await machine.host.readMetrics()).toString(), /node_os_info\{[^}]*name="Vendor"/);
});

t.test('[3.first-source] memory: MemAvailable, then the estimate', async (t) => {
  const meminfo = 'MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: - kB\nBuffers: 10 kB\nCached: 200 kB\n';
  const { memory } = makeMachine(t, { 'proc/meminfo': meminfo }).host.readCounters(MEMORY, false, 0);
  t.equal(memory?.availableBytes, 310 * 1024);
});

t.test('[3.first-source] the network: whose counters, whether an interface is up', async (t) => {
  const row = '  eth0: 100 1 0 0 0 0 0 0 1000 4 0 0 0 0 0 0\n';
  const foreign = makeMachine(t, { 'proc/1/net/dev': FOLDER, 'proc/net/dev': HEADER + row });
  t.equal(readLinks(foreign)[0]?.name, 'eth0', "this network's, where that of the first process fails");
  const machine = makeMachine(t, {
    ...netDev('lo', 'eth0', 'eth1', 'eth2', 'eth3'),
    ...lo,
    'sys/class/net/lo/operstate': FOLDER,
    ...link('eth0', { type: 1, ifindex: 2, operstate: FOLDER, flags: '0x1003', carrier: 1 }),
    ...link('eth1', { type: 1, ifindex: 3, operstate: FOLDER, flags: '0x1003', carrier: 0 }),
    ...link('eth2', { type: 1, ifindex: 4, operstate: FOLDER, flags: '0x1002', carrier: FOLDER }),
    ...link('eth3', { type: 1, ifindex: 5, operstate: FOLDER, flags: FOLDER, carrier: 1 }),
  });
  const of = await readDetail(machine, (links) =>
    links.some(({ name, isUp }) => name === 'eth0' && isUp === true),
  );
  const states = ['lo', 'eth0', 'eth1', 'eth2', 'eth3'].map((name) => of(name).isUp);
  t.strictSame(states, [true, true, false, false, null]);
});

t.test('[3.first-source] disks: the mount table, what is removable, the model of a drive', async (t) => {
  const machine = makeMachine(t, {
    'proc/1/mountinfo': FOLDER,
    'proc/self/mountinfo': '30 1 8:1 / / rw - ext4 /dev/root rw\n',
    'sys/devices/pci/block/sda/removable': '1\n',
    'sys/devices/pci/block/sda/sda1/removable': FOLDER,
    'sys/dev/block/8:1': { link: '../../devices/pci/block/sda/sda1' },
    'sys/block/sda/device/vendor': 'ATA     \n',
    'sys/block/sda/device/vpd_pg89': FOLDER,
    'sys/block/sda/device/model': 'WDC WD40EFRX-68N\n',
  });
  t.equal(await known(machine, DISKS, ({ disks }) => disks?.[0]?.isRemovable), true);
  t.equal(await known(machine, 0, ({ drives }) => drives?.[0]?.model), 'WDC WD40EFRX-68N');
});
