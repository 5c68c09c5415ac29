/** Graphics processors whose drivers report in /sys and /proc: amdgpu, i915, xe; which are found, and their order. */
import { renameSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Counters, type GpuCounters, SECTION_BITS } from '#src/host/host.js';
import {
  AMD_CARD,
  describeGpu,
  drmClient,
  drmUse,
  NVIDIA,
  pci,
  pciFolder,
} from '../helpers/machine/gpu-tree.ts';
import { type Machine, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';

const GPU = SECTION_BITS.gpu;
const CARD = '0000:03:00.0';
const INTEGRATED = '0000:00:02.0';

const read = (machine: Machine, isDone: (counters: Counters) => boolean, withDetail = true) =>
  readUntil(machine.host, GPU, withDetail, isDone);

/** The first device once it can be read. */
async function firstOf(machine: Machine, isDone: (gpu: GpuCounters) => boolean = () => true) {
  const { gpu } = await read(
    machine,
    (counters) => counters.gpu?.[0] !== undefined && isDone(counters.gpu[0]),
  );
  return gpu?.[0];
}

const AMD: GpuCounters = {
  name: 'AMD 1002:73bf',
  vendor: 'AMD',
  loadPercent: 37,
  temperatureCelsius: 54,
  memoryUsedBytes: 1_610_612_736,
  memoryTotalBytes: 17_163_091_968,
  powerWatts: 93,
  fanPercent: (900 / 3300) * 100,
  clockMhz: 2310,
  isAsleep: false,
};

t.test('[3.gpu-amd] amdgpu: every value, with and without detail', async (t) => {
  const machine = makeMachine(t, pci({ ...AMD_CARD, address: CARD }));
  const { gpu } = await read(machine, (counters) => counters.gpu?.length === 1, false);
  t.strictSame(gpu, [{ ...AMD, powerWatts: null, fanPercent: null, clockMhz: null }]);
  t.strictSame(await firstOf(machine, (gpu) => gpu.clockMhz !== null), AMD);
  machine.write({ [`${pciFolder(CARD)}/gpu_busy_percent`]: '99\n' });
  t.equal((await firstOf(machine, (gpu) => gpu.loadPercent === 99))?.loadPercent, 99, 'kept files read anew');
});

t.test('[3.gpu-amd] amdgpu: newer and other boards', async (t) => {
  const { fan1_max, power1_average, temp1_input, temp1_label, ...rest } = AMD_CARD.hwmon;
  const hwmon = { ...rest, power1_input: '12500000' };
  const gpu = await firstOf(
    makeMachine(t, pci({ ...AMD_CARD, hwmon, address: CARD })),
    (g) => g.clockMhz !== null,
  );
  t.match(gpu, { powerWatts: 12.5, fanPercent: 20, temperatureCelsius: 61 }, 'pwm of 255, the junction');
  const still = { ...AMD_CARD.hwmon, fan1_max: '0' };
  const other = await firstOf(
    makeMachine(t, pci({ ...AMD_CARD, hwmon: still, address: CARD })),
    (g) => g.clockMhz !== null,
  );
  t.equal(other?.fanPercent, 20, 'a highest speed of 0 says nothing');
});

t.test('an implausible value is unknown', async (t) => {
  const files = { gpu_busy_percent: '101', mem_info_vram_used: '-1', mem_info_vram_total: 'many' };
  const hwmon = {
    ...AMD_CARD.hwmon,
    temp1_input: '511000',
    power1_average: '99999999999',
    freq1_input: '1e9',
  };
  const machine = makeMachine(t, pci({ ...AMD_CARD, files, hwmon, address: CARD }));
  const gpu = await firstOf(machine, (found) => found.fanPercent !== null);
  t.strictSame(gpu, {
    ...AMD,
    loadPercent: null,
    temperatureCelsius: null,
    memoryUsedBytes: null,
    memoryTotalBytes: null,
    powerWatts: null,
    clockMhz: null,
  });
});

t.test('names: the board, then the lists of the distribution, then the numbers', async (t) => {
  const pciIds = [
    '# a comment',
    '1001  Kolter Electronic',
    '1002  Advanced Micro Devices, Inc. [AMD/ATI]',
    '\t731f  Navi 10 [Radeon RX 5600 OEM/5600 XT / 5700/5700 XT]',
    '\t73bf  Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]',
    '\t\t1002 0e3a  Radeon RX 6900 XT',
    '10de  NVIDIA Corporation',
    '\t73bf  Not this one',
    'C 03  Display controller',
    '',
  ].join('\n');
  const card = pci({ ...AMD_CARD, address: CARD });
  const nameOf = async (tree: Tree) => (await firstOf(makeMachine(t, { ...card, ...tree })))?.name;
  t.equal(await nameOf({ 'usr/share/misc/pci.ids': pciIds }), 'Radeon RX 6800/6800 XT / 6900 XT');
  t.equal(await nameOf({ 'usr/share/hwdata/pci.ids': pciIds }), 'Radeon RX 6800/6800 XT / 6900 XT');
  const amdgpuIds = '# List\n1.0.0\n73BF,\tC0,\tAMD Radeon RX 6900 XT\n73BF,\tC1,\tAMD Radeon RX 6800 XT\n';
  const both = { 'usr/share/misc/pci.ids': pciIds, 'usr/share/libdrm/amdgpu.ids': amdgpuIds };
  t.equal(await nameOf(both), 'AMD Radeon RX 6800 XT');
  t.equal(
    await nameOf({ ...both, [`${pciFolder(CARD)}/product_name`]: 'AMD Radeon PRO W6800\n' }),
    'AMD Radeon PRO W6800',
  );
  t.equal(await nameOf({}), 'AMD 1002:73bf');
});

t.test('a list of names, or the name of the board, that could not be read once is asked again', async (t) => {
  const list = 'usr/share/libdrm/amdgpu.ids';
  const board = `${pciFolder(CARD)}/product_name`;
  // A link to its own folder: it exists and cannot be read, and a file replaces it in one step.
  const closed = { link: '.' };
  const machine = makeMachine(t, { ...pci({ ...AMD_CARD, address: CARD }), [list]: closed, [board]: closed });
  const nameIs = async (name: string) => {
    const { gpu } = await readUntil(machine.host, SECTION_BITS.gpu, true, (c) => c.gpu?.[0]?.name === name);
    t.equal(gpu?.[0]?.name, name);
  };
  const replace = (name: string, text: string) => {
    machine.write({ new: text });
    renameSync(path.join(machine.root, 'new'), path.join(machine.root, name));
  };
  await nameIs('AMD 1002:73bf');
  replace(list, '1.0.0\n73BF,\tC1,\tAMD Radeon RX 6800 XT\n');
  await nameIs('AMD Radeon RX 6800 XT');
  replace(board, 'AMD Radeon PRO W6800\n');
  await nameIs('AMD Radeon PRO W6800');
});

const INTEL = { vendor: '0x8086', device: '0x9a49', address: INTEGRATED, nodes: ['card0', 'renderD128'] };

t.test('[3.gpu-intel] i915: the clock of old and new kernels, also without detail', async (t) => {
  const old = pci({ ...INTEL, driver: 'i915', files: { 'drm/card0/gt_act_freq_mhz': '350' } });
  t.match(await firstOf(makeMachine(t, old)), { clockMhz: 350, vendor: 'Intel', loadPercent: null });
  const both = { 'drm/card0/gt_act_freq_mhz': '350', 'drm/card0/gt/gt0/rps_act_freq_mhz': '1300' };
  t.match(await firstOf(makeMachine(t, pci({ ...INTEL, driver: 'i915', files: both }))), { clockMhz: 1300 });
  const plain = makeMachine(t, old);
  const { gpu } = await read(plain, (counters) => counters.gpu?.length === 1, false);
  t.equal(gpu?.length, 1, 'a device with no more than a clock is one');
});

t.test('[3.gpu-intel] xe: clock, package temperature, power from the energy', async (t) => {
  const address = '0000:03:00.0';
  const facts = { ...INTEL, address, driver: 'xe', files: { 'tile0/gt0/freq0/act_freq': '2400' } };
  const hwmon = {
    name: 'xe',
    temp2_label: 'pkg',
    temp2_input: '48000',
    temp3_label: 'vram',
    temp3_input: '60000',
  };
  const energy = (microjoules: number) =>
    pci({ ...facts, hwmon: { ...hwmon, energy1_input: String(microjoules) } });
  const machine = makeMachine(t, energy(5_000_000));
  // A prober may have read once more since the detail was wanted.
  const withClock = await firstOf(machine, (gpu) => gpu.clockMhz !== null);
  t.match(withClock, { clockMhz: 2400, temperatureCelsius: 48, powerWatts: null });
  // 4 J between two readings: the earlier one no longer ago than the question before, and at least 20 ms before the
  // later one. A prober may read once more in between, so it may be later than the moment its power was seen.
  let joules = 5;
  let last: { readonly askedMs: number; readonly watts: number } | undefined;
  for (let i = 0; i < 5; i++) {
    await sleep(100);
    joules += 4;
    const askedMs = performance.now();
    machine.write({ [`${pciFolder(address)}/hwmon/hwmon3/energy1_input`]: `${joules * 1e6}\n` });
    const before = last?.watts ?? null;
    const { powerWatts } = (await firstOf(machine, (gpu) => ![null, before].includes(gpu.powerWatts))) ?? {};
    const watts = powerWatts ?? Number.NaN;
    if (last !== undefined) {
      const least = 4000 / (performance.now() - last.askedMs);
      t.ok(watts >= least * 0.99 && watts <= 4000 / 20, `${watts} W, at least ${least}`);
    }
    last = { askedMs, watts };
  }
  machine.write({ [`${pciFolder(address)}/hwmon/hwmon3/energy1_input`]: '1000000\n' });
  const reset = await firstOf(machine, (gpu) => gpu.powerWatts === null);
  t.equal(reset?.powerWatts, null, 'a counter that steps back makes no power');
});

t.test(
  '[3.gpu-intel] the load of clients: nanoseconds of engines, each client once, the busiest engine',
  async (t) => {
    const at = (pid: number, fd: number, id: number) => ({
      pid,
      fd,
      id,
      address: INTEGRATED,
      node: 'renderD128',
    });
    const use = (render: number, video = 0) => ({
      'drm-engine-render': `${Math.round(render)} ns`,
      'drm-engine-video': `${Math.round(video)} ns`,
      'drm-engine-capacity-video': '2',
    });
    const machine = makeMachine(t, {
      ...pci({ ...INTEL, driver: 'i915', files: { 'drm/card0/gt_act_freq_mhz': '350' } }),
      ...drmClient({ ...at(100, 5, 7), use: use(1e9) }),
      // The same client by a second descriptor, and in a process it was passed to.
      ...drmClient({ ...at(100, 6, 7), use: use(1e9) }),
      ...drmClient({ ...at(101, 3, 7), use: use(1e9) }),
      ...drmClient({ ...at(102, 9, 8), use: use(5e9, 5e9) }),
      // From another device, and a file that belongs to no client.
      ...drmClient({ ...at(103, 4, 9), address: CARD, use: use(0) }),
      ...drmClient({ ...at(104, 4, 10), node: 'card7', use: use(0) }),
      'proc/105/fd/3': { link: '/dev/null' },
      'proc/105/fdinfo/3': 'pos:\t0\n',
    });
    t.equal((await firstOf(machine))?.loadPercent, 0, 'of the first moment: nothing moved in it');
    const began = performance.now();
    const busyFor = (share: number, since: number) => share * (performance.now() - since) * 1e6;
    const loads: number[] = [];
    // Client 7 renders 30 % of the time, client 8 renders 20 % and keeps one of two video engines busy for 60 %.
    while (performance.now() - began < 1500) {
      const seven = use(1e9 + busyFor(0.3, began));
      const eight = use(5e9 + busyFor(0.2, began), 5e9 + busyFor(0.6, began));
      machine.write({
        ...drmUse({ ...at(100, 5, 7), use: seven }),
        ...drmUse({ ...at(100, 6, 7), use: seven }),
        ...drmUse({ ...at(101, 3, 7), use: seven }),
        ...drmUse({ ...at(102, 9, 8), use: eight }),
        ...drmUse({ ...at(103, 4, 9), address: CARD, use: use(busyFor(1, began)) }),
      });
      machine.host.readCounters(GPU, false, 100);
      await sleep(100);
      const load = machine.host.readCounters(GPU, false, 60_000).gpu?.[0]?.loadPercent;
      if (load != null) loads.push(load);
    }
    const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
    t.ok(loads.length >= 5, `${loads.length} loads`);
    t.ok(mean > 40 && mean < 60, `${mean.toFixed(1)} %: 30 + 20 of the render engine, counted once each`);
    for (const load of loads) t.ok(load >= 0 && load <= 100, `${load}`);
    machine.remove('proc/102');
    machine.remove('proc/100');
    machine.remove('proc/101');
    t.pass('processes that leave break nothing');
  },
);

t.test('[3.gpu-intel] the load of xe: cycles of cycles', async (t) => {
  const at = { pid: 50, fd: 5, id: 3, address: CARD, driver: 'xe' };
  const use = (busy: number, total: number) => ({
    'drm-cycles-rcs': String(busy),
    'drm-total-cycles-rcs': String(total),
    'drm-cycles-bcs': '0',
    'drm-total-cycles-bcs': String(total),
  });
  const machine = makeMachine(t, {
    ...pci({ ...INTEL, address: CARD, driver: 'xe', files: { 'tile0/gt0/freq0/act_freq': '2400' } }),
    ...drmClient({ ...at, node: 'renderD128', use: use(1000, 100_000) }),
  });
  await firstOf(machine);
  await sleep(30);
  const loads = new Set<number | null | undefined>();
  for (let i = 1; i <= 20; i++) {
    machine.write(drmUse({ ...at, use: use(1000 + i * 2500, 100_000 + i * 10_000) }));
    machine.host.readCounters(GPU, false, 0);
    await sleep(30);
    loads.add(machine.host.readCounters(GPU, false, 60_000).gpu?.[0]?.loadPercent);
  }
  t.ok(loads.has(25), `a quarter: ${[...loads].join(', ')}`);
});

t.test('[3.gpu-which] adapters of virtual machines and of remote management do not count', async (t) => {
  const adapters = ['0x1234', '0x1af4', '0x1b36', '0x15ad', '0x1a03', '0x102b', '0x1013', '0x1414'];
  const tree = adapters.map((vendor, i) =>
    pci({ vendor, address: `0000:00:0${i}.0`, driver: 'bochs-drm', nodes: ['card0'] }),
  );
  const sound = pci({
    vendor: '0x10de',
    class: '0x040300',
    address: '0000:01:00.1',
    driver: 'snd_hda_intel',
  });
  const { host } = makeMachine(t, Object.assign({ 'proc/uptime': '1 1\n' }, ...tree, sound));
  for (let i = 0; i < 5; i++) {
    const { gpu, failures } = host.readCounters(GPU, true, 0);
    t.strictSame(gpu, []);
    t.equal(failures, undefined, 'and nothing is wrong');
    await sleep(20);
  }
  t.match(await describeGpu(host), { status: 'missing', reason: /no device of/ });
});

t.test(
  '[3.gpu-which] no driver, a driver that reports nothing, and a device that was passed through',
  async (t) => {
    const machine = makeMachine(t, {
      ...pci({ vendor: '0x1002', address: '0000:03:00.0' }),
      ...pci({ vendor: '0x10de', address: '0000:04:00.0', driver: 'nouveau', nodes: ['card0'] }),
      ...pci({ vendor: '0x10de', address: '0000:05:00.0', driver: 'vfio-pci' }),
    });
    const { gpu, failures } = await read(
      machine,
      (counters) => counters.failures?.['gpu']?.includes('; ') ?? false,
    );
    t.strictSame(gpu, []);
    t.match(failures?.['gpu'], '0000:03:00.0 (AMD): no driver is loaded for it');
    t.match(failures?.['gpu'], '0000:04:00.0 (NVIDIA): its driver reports nothing in /sys');
    t.notMatch(failures?.['gpu'], '0000:05:00.0');
  },
);

t.test('nouveau: the values of its sensors', async (t) => {
  const hwmon = {
    name: 'nouveau',
    temp1_input: '45000',
    fan1_input: '1200',
    pwm1: '40',
    power1_input: '9000000',
  };
  const machine = makeMachine(
    t,
    pci({ vendor: '0x10de', address: CARD, driver: 'nouveau', hwmon, nodes: ['card0'] }),
  );
  t.match(await firstOf(machine, (gpu) => gpu.powerWatts !== null), {
    vendor: 'NVIDIA',
    temperatureCelsius: 45,
    powerWatts: 9,
    fanPercent: null,
    loadPercent: null,
  });
});

t.test('[3.gpu-first] the order: discrete and awake, integrated, asleep', async (t) => {
  const apu = { ...AMD_CARD, hwmon: { ...AMD_CARD.hwmon, in1_label: 'vddnb', in1_input: '800' } };
  const iris = pci({ ...INTEL, driver: 'i915', files: { 'drm/card0/gt_act_freq_mhz': '350' } });
  const orderOf = async (tree: Tree, count: number) => {
    const machine = makeMachine(t, tree);
    const { gpu } = await read(machine, (counters) => counters.gpu?.length === count);
    return gpu?.map((one) => `${one.name}${one.isAsleep ? ' asleep' : ''}`);
  };
  t.strictSame(await orderOf({ ...iris, ...pci({ ...AMD_CARD, address: CARD }) }, 2), [
    'AMD 1002:73bf',
    'Intel 8086:9a49',
  ]);
  t.strictSame(await orderOf({ ...iris, ...pci({ ...AMD_CARD, address: CARD, status: 'suspended' }) }, 2), [
    'Intel 8086:9a49',
    'AMD 1002:73bf asleep',
  ]);
  const second = { ...AMD_CARD, device: '0x744c', address: '0000:0a:00.0' };
  const first = { ...apu, device: '0x1638', address: CARD, isBootDisplay: true };
  t.strictSame(await orderOf({ ...pci(first), ...pci(second) }, 2), ['AMD 1002:744c', 'AMD 1002:1638']);
  const boot = { ...AMD_CARD, device: '0x1111', address: '0000:0b:00.0', isBootDisplay: true };
  t.strictSame(await orderOf({ ...pci(boot), ...pci(second) }, 2), ['AMD 1002:1111', 'AMD 1002:744c']);
});

t.test('[3.gpu-which] a device that appears and one that disappears are noticed', async (t) => {
  const options = { gpuDiscoveryMs: 50 };
  const machine = makeMachine(t, { 'proc/uptime': '1 1\n' }, options);
  t.strictSame(machine.host.readCounters(GPU, true, 0).gpu, []);
  machine.write(pci({ ...AMD_CARD, address: CARD }));
  t.equal((await firstOf(machine))?.name, AMD.name);
  machine.write(
    pci({ ...NVIDIA, address: '0000:0c:00.0', driver: 'nouveau', hwmon: { temp1_input: '40000' } }),
  );
  t.equal((await read(machine, (counters) => counters.gpu?.length === 2)).gpu?.length, 2);
  machine.remove(pciFolder(CARD));
  // Its files go one after the other here: a search in between finds a device without a driver.
  const left = await read(machine, ({ gpu, failures }) => gpu?.length === 1 && failures === undefined);
  t.strictSame(
    left.gpu?.map((one) => one.vendor),
    ['NVIDIA'],
  );
  t.equal(left.failures, undefined);
});
