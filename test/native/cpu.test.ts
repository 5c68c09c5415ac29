/** The processor's temperature and clock speed: sensors of many machines, and this one's. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import '../helpers/service/dead-buses.ts';
import { type Counters, type CpuCounters, SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { FOLDER, type Machine, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';
import { chip, zone } from './chip-tree.ts';

const CPU = SECTION_BITS.cpu;

function stat(...cores: readonly number[]): Tree {
  const lines = cores.map((index) => `cpu${index} 1 0 1 8 0 0 0 0 0 0`);
  return { 'proc/stat': `${['cpu  2 0 2 16 0 0 0 0 0 0', ...lines, 'intr 5 0'].join('\n')}\n` };
}

async function readCpu(
  machine: Machine,
  withDetail = false,
  isAnswered = hasTemperature,
): Promise<CpuCounters> {
  const counters = await readUntil(
    machine.host,
    CPU,
    withDetail,
    ({ cpu }) => cpu != null && isAnswered(cpu),
  );
  if (counters.cpu == null) throw new Error(`no cpu: ${JSON.stringify(counters.failures)}`);
  return counters.cpu;
}

const hasTemperature = (cpu: CpuCounters) => cpu.temperatureCelsius !== null;
const hasSpeed = (cpu: CpuCounters) => cpu.speedHz !== null;
const hasCoreSpeeds = (cpu: CpuCounters) => (cpu.coreSpeedsHz?.length ?? 0) > 0;

async function temperatureOf(t: Test, tree: Tree): Promise<number | null> {
  return (await readCpu(makeMachine(t, { ...stat(0), ...tree }))).temperatureCelsius;
}

/** For values that must stay unknown: the speed shows that the probers have answered. */
async function temperatureOnceAnswered(t: Test, tree: Tree): Promise<number | null> {
  const speed = { 'proc/cpuinfo': 'processor\t: 0\ncpu MHz\t\t: 1000.000\n\n' };
  const machine = makeMachine(t, { ...stat(0), ...speed, ...tree });
  await readCpu(machine, false, hasSpeed);
  await sleep(50);
  return (await readCpu(machine, false, hasSpeed)).temperatureCelsius;
}

t.test('[3.cpu-total] the last total line counts, with and without detail alike', async (t) => {
  const text = 'cpu  1 0 1 8 0 0 0 0 0 0\ncpu0 1 0 1 8 0 0 0 0 0 0\ncpu  30 0 5 60 0 0 0 0 0 0\nintr 5 0\n';
  const { host } = makeMachine(t, { 'proc/stat': text });
  for (const withDetail of [false, true])
    t.match(host.readCounters(CPU, withDetail, 0).cpu?.total, { user: 30, system: 5, idle: 60 });
});

const coretemp = (package_: string, core: string) => ({
  temp1_label: 'Package id 0',
  temp1_input: package_,
  temp2_label: 'Core 0',
  temp2_input: core,
});

const ccd = { temp3_label: 'Tccd1', temp3_input: '91000' };
const tctl = { temp1_label: 'Tctl', temp1_input: '75250' };
const tdie = { temp2_label: 'Tdie', temp2_input: '48250' };
const cores = { temp2_label: 'Core 0', temp2_input: '45000', temp3_label: 'Core 1', temp3_input: '47000' };
const macBattery = chip(0, 'macsmc_hwmon', {
  temp1_label: 'Battery Hotspot Temp',
  temp1_input: '33500',
});
const macSoc = { temp3_label: 'SoC Backside Temp', temp3_input: '41250' };
const one = (name: string, temp: string) => chip(0, name, { temp1_input: temp });
const cpuZone = zone(0, 'cpu-thermal', '50464');
const board = zone(0, 'acpitz', '27800');
const parts = { ...zone(0, 'gpu-thermal', '80000'), ...zone(1, 'soc-thermal', '42000') };

for (const [what, tree, expected] of [
  [
    'the hotter of two packages counts, and a core never replaces its package',
    {
      ...one('nvme', '88000'),
      ...chip(1, 'coretemp', coretemp('51000', '90000')),
      ...chip(2, 'coretemp', coretemp('63500', '62000')),
      ...zone(0, 'x86_pkg_temp', '40000'),
      ...zone(1, 'acpitz', '27800'),
    },
    63.5,
  ],
  ['a coretemp without a package value: its hottest core', chip(0, 'coretemp', cores), 47],
  ['k10temp: Tdie before Tctl', chip(0, 'k10temp', { ...tctl, ...tdie, ...ccd }), 48.25],
  ['k10temp: Tctl before the dies', chip(0, 'k10temp', { ...tctl, ...ccd }), 75.25],
  ['k10temp: unlabelled on old kernels', one('k10temp', '39125'), 39.125],
  ['zenpower', chip(0, 'zenpower', { ...tctl, ...tdie }), 48.25],
  ["Apple's macsmc: the system on chip", { ...macBattery, ...chip(0, 'macsmc_hwmon', macSoc) }, 41.25],
  ["Apple's macsmc: never the battery", { ...macBattery, ...board }, 27.8],
  ['a chip of the processor', { ...one('cpu_thermal', '48312'), ...cpuZone }, 48.312],
  ['a chip of the system on chip', { ...one('soc_thermal', '41000'), ...cpuZone }, 41],
  ['zones after another chip', { ...one('nct6775', '30000'), ...cpuZone }, 50.464],
  ['zones in their order', { ...parts, ...zone(2, 'CPU-therm', '43500') }, 43.5],
  ['the system on chip before other parts', parts, 42],
  ['the package before the board', { ...board, ...zone(1, 'x86_pkg_temp', '55000') }, 55],
  ['the board', board, 27.8],
  [
    'the hotter of clusters',
    { ...zone(0, 'cpu0-thermal', '51000'), ...zone(1, 'cpu1-thermal', '57000') },
    57,
  ],
] satisfies readonly (readonly [string, Tree, number])[])
  t.test(`${what}: ${expected}`, async (t) => t.equal(await temperatureOf(t, tree), expected));

const cooledBy = (number: number, type: string): Tree => ({
  [`sys/class/thermal/cooling_device${number}/type`]: `${type}\n`,
  [`sys/class/thermal/thermal_zone${number}/cdev0`]: { link: `../cooling_device${number}` },
  [`sys/class/thermal/thermal_zone${number}/cdev0_weight`]: '0\n',
});
const atk = { temp1_label: 'CPU Temperature', temp1_input: '51000', temp2_label: 'MB', temp2_input: '43000' };
const labelled = (label: string) => chip(1, 'asusec', { temp1_label: label, temp1_input: '47000' });
const failing = zone(0, 'cpu-thermal', FOLDER);

for (const [what, tree, expected] of [
  ['StarFive JH7110', { ...chip(0, 'sfctemp', { temp1_input: '33120' }), ...failing }, 33.12],
  [
    'an i.MX6, which cpufreq cools',
    { ...zone(0, 'imx_thermal_zone', '47000'), ...cooledBy(0, 'cpufreq-cpu0') },
    47,
  ],
  [
    'the one of two unknown zones that cpufreq cools',
    { ...zone(0, 'tz0', '61000'), ...zone(1, 'tz1', '48000'), ...cooledBy(1, 'thermal-cpufreq-0') },
    48,
  ],
  ['an Exynos4, its only zone', zone(0, 'exynos-therm', '47000'), 47],
  ['an older Raspberry Pi', zone(0, 'bcm2835_thermal', '52000'), 52],
  ['an old kernel of Allwinner, in degrees', zone(0, 'sunxi-therm', '47'), 47],
  [
    'the only one but those of other parts',
    {
      ...zone(0, 'exynos-therm', '47000'),
      ...zone(1, 'gpu-thermal', '60000'),
      ...zone(2, 'iwlwifi_1', '39000'),
    },
    47,
  ],
  [
    'a board without k10temp: a label',
    {
      ...chip(0, 'radeon', { temp1_input: '63000' }),
      ...chip(1, 'atk0110', atk),
      ...zone(0, 'acpitz', '27800'),
    },
    51,
  ],
  ['POWER9: cores', chip(0, 'ibmpowernv', { temp1_label: 'Core 0-7', temp1_input: '44000' }), 44],
  ['X-Gene', chip(0, 'apm_xgene', { temp1_label: 'SoC Temperature', temp1_input: '44000' }), 44],
  ['a label, while a better chip does not answer', { ...failing, ...labelled('cpu0') }, 47],
] satisfies readonly (readonly [string, Tree, number])[])
  t.test(`[3.cpu-rules] ${what}: ${expected}`, async (t) => t.equal(await temperatureOf(t, tree), expected));

t.test('[3.cpu-rules] what no rule gives to the processor is unknown', async (t) => {
  const others = ['iwlwifi_1', 'pch_skylake', 'INT3400 Thermal', 'nvme', 'battery', 'gpu-thermal', 'mlxsw'];
  const supply = { ...zone(0, 'sbs-5-000b', '31000'), 'sys/class/power_supply/sbs-5-000b/type': 'Battery\n' };
  const trees: readonly Tree[] = [
    ...others.map((type) => zone(0, type, '45000')),
    { ...zone(0, 'gpu-thermal', '45000'), ...cooledBy(0, 'cpufreq-cpu0') },
    { ...zone(0, 'tz0', '45000'), ...zone(1, 'tz1', '46000'), ...cooledBy(1, 'devfreq-gpu') },
    supply,
    chip(0, 'nvme', { temp1_label: 'Composite', temp1_input: '45000' }),
    chip(0, 'lm75', { temp1_input: '45000' }),
    ...['CPUTIN', 'CPU VRM', 'GPU Core', 'Socket', 'Coolant'].map(labelled),
  ];
  for (const tree of trees) t.equal(await temperatureOnceAnswered(t, tree), null, JSON.stringify(tree));
  const stuck = { ...zone(0, 'acpitz', '27800'), ...zone(1, 'SEN1', '45000') };
  t.equal(await temperatureOf(t, stuck), 27.8, 'two zones: neither is the only one');
});

t.test('a temperature that no processor can have is unknown', async (t) => {
  for (const absurd of ['0', '-50000', '-273200', '150001', '99999999999999999999', 'none', '', '45 000'])
    t.equal(await temperatureOnceAnswered(t, zone(0, 'acpitz', absurd)), null, JSON.stringify(absurd));
  t.equal(await temperatureOnceAnswered(t, zone(0, 'iwlwifi_1', '45000')), null, 'of another part');
  t.equal(await temperatureOnceAnswered(t, {}), null, 'no sensor at all');
  t.equal(await temperatureOf(t, zone(0, 'acpitz', '150000')), 150);
  t.equal(await temperatureOf(t, zone(0, 'acpitz', '-49999')), -49.999);
});

t.test('[3.zone-degrees] a thermal zone in whole degrees', async (t) => {
  for (const [what, tree, expected] of [
    ['whole degrees', zone(0, 'cpu-thermal', '45'), 45],
    ['more than 100', zone(0, 'soc_thermal', '101'), 101],
    ['below zero', zone(0, 'cpu-thermal', '-7'), -7],
    ['thousandths', zone(0, 'cpu-thermal', '1250'), 1.25],
    ['the chip of a zone', one('cpu_thermal', '45'), 45],
    ['a chip has thousandths', one('k10temp', '125'), 0.125],
  ] satisfies readonly (readonly [string, Tree, number])[])
    t.equal(await temperatureOf(t, tree), expected, what);
  t.equal(await temperatureOnceAnswered(t, zone(0, 'cpu-thermal', '0')), null);
});

t.test('a failing sensor is replaced by the next, and returns when it answers again', async (t) => {
  const input = 'sys/class/hwmon/hwmon0/temp1_input';
  const label = { 'sys/class/hwmon/hwmon0/temp1_label': 'Package id 0\n' };
  const failing = { ...chip(0, 'coretemp', {}), ...label, [input]: FOLDER };
  const machine = makeMachine(t, { ...stat(0), ...failing, ...zone(0, 'acpitz', '30000') });
  t.equal(
    (await readCpu(machine)).temperatureCelsius,
    30,
    'reading a folder fails as a sensor with EIO does',
  );
  machine.remove(input);
  machine.write({ [input]: '66000\n' });
  const isBack = (cpu: CpuCounters) => cpu.temperatureCelsius === 66;
  t.equal((await readCpu(machine, false, isBack)).temperatureCelsius, 66);
  machine.write({ [input]: '71000\n' });
  const isHotter = (cpu: CpuCounters) => cpu.temperatureCelsius === 71;
  t.equal(
    (await readCpu(machine, false, isHotter)).temperatureCelsius,
    71,
    'the kept descriptor reads again',
  );
});

t.test('a sensor that has disappeared is found under its new number', async (t) => {
  // A kernel's file answers ENODEV to a kept descriptor; a fixture can only let the opening fail.
  const gone = chip(3, 'coretemp', { temp1_input: { link: 'gone' } });
  const machine = makeMachine(t, { ...stat(0), ...gone, ...zone(0, 'acpitz', '30000') });
  t.equal((await readCpu(machine)).temperatureCelsius, 30);
  machine.write(chip(5, 'coretemp', coretemp('52000', '49000')));
  machine.remove('sys/class/hwmon/hwmon3');
  const isFound = (cpu: CpuCounters) => cpu.temperatureCelsius === 52;
  t.equal((await readCpu(machine, false, isFound)).temperatureCelsius, 52);
});

function cpufreq(speeds: Readonly<Record<number, string>>, online: string): Tree {
  const files = Object.entries(speeds).map(([index, khz]) => [
    `sys/devices/system/cpu/cpu${index}/cpufreq/scaling_cur_freq`,
    `${khz}\n`,
  ]);
  return { 'sys/devices/system/cpu/online': `${online}\n`, ...Object.fromEntries(files) };
}

t.test(
  'cpufreq: kilohertz of the online cores; 0 is a sleeping core, an unreadable one does not count',
  async (t) => {
    const speeds = { 0: '3000000', 1: '0', 2: '4500000', 3: '1500000', 4: '<unknown>' };
    const machine = makeMachine(t, { ...stat(0, 1, 3, 4), ...cpufreq(speeds, '0-1,3-4') });
    t.equal((await readCpu(machine, false, hasSpeed)).speedHz, 1.5e9, 'the mean of 3, 0 and 1.5 GHz');
    const detail = await readCpu(machine, true, hasCoreSpeeds);
    t.strictSame(detail.coreSpeedsHz, [3e9, 0, 1.5e9, null]);
    t.equal(detail.speedHz, 1.5e9);
    machine.write(cpufreq({ 0: '1000000' }, '0,3-4'));
    const isOffline = (cpu: CpuCounters) => cpu.speedHz === 1.25e9;
    t.equal((await readCpu(machine, false, isOffline)).speedHz, 1.25e9, 'a core that went off-line leaves');
  },
);

t.test(
  '[3.cpu-real] the frequency that a core had counts, and the requested one where it is not known',
  async (t) => {
    const average = (index: number, khz: string | typeof FOLDER): Tree => ({
      [`sys/devices/system/cpu/cpu${index}/cpufreq/cpuinfo_avg_freq`]: khz === FOLDER ? FOLDER : `${khz}\n`,
    });
    const requested = cpufreq({ 0: '400000', 1: '400000' }, '0-1');
    const speedsOf = async (tree: Tree) => {
      const machine = makeMachine(t, { ...stat(0, 1), ...requested, ...tree });
      return (await readCpu(machine, true, hasCoreSpeeds)).coreSpeedsHz;
    };
    t.strictSame(await speedsOf({ ...average(0, '3610000'), ...average(1, '3630000') }), [3.61e9, 3.63e9]);
    t.strictSame(
      await speedsOf({ ...average(0, '3610000'), ...average(1, FOLDER) }),
      [3.61e9, 4e8],
      'an idle core',
    );
    t.strictSame(await speedsOf({ ...average(0, '<unknown>'), ...average(1, '0') }), [4e8, 4e8]);
    const measured = {
      ...average(0, '2000000'),
      'sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq': FOLDER,
    };
    const { [`sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq`]: _, ...other } = requested;
    const alone = makeMachine(t, { ...stat(0, 1), ...other, ...measured });
    t.strictSame((await readCpu(alone, true, hasCoreSpeeds)).coreSpeedsHz, [2e9, 4e8], 'nothing requested');
    const machine = makeMachine(t, {
      ...stat(0, 1),
      ...requested,
      ...average(0, '3610000'),
      ...average(1, '3630000'),
    });
    t.equal((await readCpu(machine, false, hasSpeed)).speedHz, 3.62e9, 'the mean');
    machine.remove('sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_avg_freq');
    machine.write(average(0, '1000000'));
    const isSlower = (cpu: CpuCounters) => (cpu.speedHz ?? 0) < 3e9;
    t.ok((await readCpu(machine, false, isSlower)).speedHz, 'read anew');
  },
);

t.test('cpufreq of many cores: the mean is of 16 spread ones, detail has them all', async (t) => {
  const cores = Array.from({ length: 64 }, (_, index) => index);
  const speeds = Object.fromEntries(cores.map((index) => [index, String(1_000_000 + index * 10_000)]));
  const machine = makeMachine(t, { ...stat(...cores), ...cpufreq(speeds, '0-63') });
  // 0, 4, …, 60: their mean index is 30. The mean of all stands for it where that question is answered first.
  const isOfSome = (cpu: CpuCounters) => cpu.speedHz === 1_300_000_000;
  t.ok(isOfSome(await readCpu(machine, false, isOfSome)));
  const detail = await readCpu(machine, true, hasCoreSpeeds);
  t.equal(detail.coreSpeedsHz?.length, 64);
  t.equal(detail.coreSpeedsHz?.[63], 1_630_000_000);
  t.equal(detail.speedHz, 1_315_000_000, 'the mean of all');
});

const cpuinfo = (...mhz: readonly string[]) =>
  mhz.map((value, index) => `processor\t: ${index}\nmodel\t\t: 1\ncpu MHz\t\t: ${value}\n\n`).join('');

t.test('without cpufreq the "cpu MHz" lines count', async (t) => {
  const machine = makeMachine(t, {
    ...stat(0, 1, 2),
    'proc/cpuinfo': cpuinfo('2400.000', '800.500', '0.000'),
  });
  t.equal((await readCpu(machine, false, hasSpeed)).speedHz, 1_600_250_000, 'a zero there is no speed');
  t.strictSame((await readCpu(machine, true, hasCoreSpeeds)).coreSpeedsHz, [2.4e9, 8.005e8, null]);
});

t.test('[3.cpu-others] without cpufreq: the lines of processors other than x86', async (t) => {
  const speedsOf = async (text: string) => {
    const machine = makeMachine(t, { ...stat(0, 1), 'proc/cpuinfo': text });
    return (await readCpu(machine, true, hasCoreSpeeds)).coreSpeedsHz;
  };
  const loongArch = (index: number) =>
    `processor\t\t: ${index}\npackage\t\t\t: 0\nCPU Family\t\t: Loongson-64bit\nModel Name\t\t: Loongson-3A6000-HV\nCPU Revision\t\t: 0x00\nCPU MHz\t\t\t: 2500.00\nBogoMIPS\t\t: 5000.00\n\n`;
  t.strictSame(
    await speedsOf(`${loongArch(0)}${loongArch(1)}system type\t\t: generic-loongson-machine\n`),
    [2.5e9, 2.5e9],
  );
  const power = (index: number, clock: string) =>
    `processor\t: ${index}\ncpu\t\t: POWER9, altivec supported\nclock\t\t: ${clock}\nrevision\t: 2.2 (pvr 004e 1202)\n\n`;
  const footer = 'timebase\t: 512000000\nplatform\t: PowerNV\nmodel\t\t: 9006-22P\nclocksource\t: 1\n';
  t.strictSame(
    await speedsOf(power(0, '3800.000000MHz') + power(1, '2.166000GHz') + footer),
    [3.8e9, 2.166e9],
  );
  t.strictSame(
    await speedsOf(power(0, '3800') + power(1, '3.8GHz')),
    [null, 3.8e9],
    'a number without a unit',
  );
  const s390 = (index: number, dynamic: number) =>
    `cpu number      : ${index}\ncore id         : ${index}\nversion         : 00\nmachine         : 3931\ncpu MHz dynamic : ${dynamic}\ncpu MHz static  : 5200\n\n`;
  const header =
    'vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3241.00\nprocessor 0: version = 00,  identification = 02FFE8,  machine = 3931\nprocessor 1: version = 00,  identification = 02FFE8,  machine = 3931\n\n';
  t.strictSame(await speedsOf(header + s390(0, 5200) + s390(1, 4600)), [5.2e9, 4.6e9]);
  const staticOnly = s390(0, 5200).replace(/cpu MHz dynamic.*\n/, '');
  t.strictSame(await speedsOf(header + staticOnly + s390(1, 4600)), [null, 4.6e9]);
});

t.test('the head of a long cpuinfo is enough, and a line that it cuts off is ignored', async (t) => {
  const cores = Array.from({ length: 2000 }, (_, index) => (index < 100 ? '2000.000' : '1000.000'));
  const machine = makeMachine(t, { ...stat(0), 'proc/cpuinfo': cpuinfo(...cores) });
  const speed = (await readCpu(machine, false, hasSpeed)).speedHz ?? 0;
  t.ok(speed > 1e9 && speed < 2e9, `${speed} is between the head's speeds`);
  const all = (await readCpu(machine, true, hasCoreSpeeds)).speedHz;
  t.equal(all, 1_050_000_000, 'detail reads to the end');
});

t.test('without any source the speed is unknown', async (t) => {
  const machine = makeMachine(t, { ...stat(0), ...zone(0, 'acpitz', '30000') });
  await readCpu(machine, true);
  await sleep(50);
  const cpu = await readCpu(machine, true);
  t.equal(cpu.speedHz, null);
  t.strictSame(cpu.coreSpeedsHz, []);
});

function speedsOfThisMachine(): readonly number[] {
  const names = readFileSync('/proc/stat', 'utf8').match(/^cpu\d+/gm) ?? [];
  const files = names.map((name) => `/sys/devices/system/cpu/${name}/cpufreq/scaling_cur_freq`);
  if (files.some((file) => existsSync(file)))
    return files.map((file) => Number(readFileSync(file, 'utf8')) * 1000);
  const lines = readFileSync('/proc/cpuinfo', 'utf8').matchAll(/^cpu MHz\s*: ([\d.]+)$/gm);
  return Array.from(lines, ([, mhz]) => Math.round(Number(mhz) * 1e6));
}

t.test('this machine: the speeds its files have', async (t) => {
  const host = openNativeHost();
  const read = speedsOfThisMachine();
  // Each core's come with the answer to a question of their own, which the mean may come before.
  const isRead = ({ cpu }: Counters) => cpu?.coreSpeedsHz?.length === read.length;
  const { cpu } = await readUntil(host, CPU, true, isRead);
  t.equal(cpu?.coreSpeedsHz?.length, read.length);
  if (read.length === 0) {
    t.equal(cpu?.speedHz, null);
    return;
  }
  // Governors change the speed between the two readings; tens of times slower or faster would be a wrong unit.
  const hz = cpu?.speedHz ?? 0;
  t.ok(hz >= Math.min(...read) / 10 && hz <= Math.max(...read) * 10, `${hz} against ${read.join(', ')}`);
  t.equal(cpu?.cores?.length, readFileSync('/proc/stat', 'utf8').match(/^cpu\d+/gm)?.length);
});
