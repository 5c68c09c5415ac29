/** NVIDIA's devices through a library that plays a script: values, every error, a hang, a lost device, and back. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Counters, type GpuCounters, SECTION_BITS } from '#src/host/host.js';
import type { NativeMachine } from '#src/host/native.js';
import { makeFakeNvml, type Without } from '../../helpers/machine/fake-nvml.ts';
import { describeGpu, NVIDIA, pci } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine, readUntil } from '../../helpers/machine/tree.ts';
import { needProgram } from '../../helpers/native/program.ts';

needProgram('fake_nvml.so');
t.setTimeout(280_000);

const GPU = SECTION_BITS.gpu;
const MIB = 1024 ** 2;

const FIRST = '0000:01:00.0';
const SECOND = '0000:41:00.0';
const SCRIPT = [
  `device ${FIRST} NVIDIA_GeForce_RTX_4090`,
  `device ${SECOND} NVIDIA_RTX_A2000`,
  ...script(FIRST, 37, 61, 251_400, 45, 2520, 5000, 24_564),
  ...script(SECOND, 3, 40, 9_870, 30, 210, 4, 6138),
];

function script(
  bus: string,
  load: number,
  celsius: number,
  milliwatts: number,
  fan: number,
  mhz: number,
  usedMib: number,
  totalMib: number,
): readonly string[] {
  const facts = {
    utilization: load,
    temperature: celsius,
    power: milliwatts,
    fan,
    clock: mhz,
    used: usedMib * MIB,
    total: totalMib * MIB,
    reserved: 300 * MIB,
  };
  return Object.entries(facts).map(([key, value]) => `${bus} ${key} ${value}`);
}

const BIG: GpuCounters = {
  name: 'NVIDIA GeForce RTX 4090',
  vendor: 'NVIDIA',
  loadPercent: 37,
  temperatureCelsius: 61,
  memoryUsedBytes: 5000 * MIB,
  memoryTotalBytes: 24_564 * MIB,
  powerWatts: 251.4,
  fanPercent: 45,
  clockMhz: 2520,
  isAsleep: false,
};
const SMALL: GpuCounters = {
  name: 'NVIDIA RTX A2000',
  vendor: 'NVIDIA',
  loadPercent: 3,
  temperatureCelsius: 40,
  memoryUsedBytes: 4 * MIB,
  memoryTotalBytes: 6138 * MIB,
  powerWatts: 9.87,
  fanPercent: 30,
  clockMhz: 210,
  isAsleep: false,
};

const TREE = { ...pci({ ...NVIDIA, address: FIRST }), ...pci({ ...NVIDIA, address: SECOND }) };

/** The initial delay after a failure: 1 s in the service. */
const RETRY_MS = 20;
/** The age up to which a failing device's last values count: 10 s in the service. */
const MAX_AGE_MS = 1000;

interface Options {
  readonly without?: Without;
  readonly gpuMaxAgeMs?: number;
}

function open(t: Test, lines: readonly string[], { gpuMaxAgeMs, ...options }: Options = {}) {
  const nvml = makeFakeNvml(t, lines, options);
  const limits = { gpuRetryMs: RETRY_MS, ...(gpuMaxAgeMs !== undefined && { gpuMaxAgeMs }) };
  const machine = makeMachine(t, TREE, { nvml: nvml.library, ...limits });
  return { nvml, ...machine };
}

const read = (host: NativeMachine, isDone: (counters: Counters) => boolean, withDetail = true) =>
  readUntil(host, GPU, withDetail, isDone);

const count = (wanted: number) => (counters: Counters) =>
  counters.gpu?.length === wanted && counters.failures === undefined;
const isFull = ({ gpu, failures }: Counters) =>
  failures === undefined && gpu?.length === 2 && gpu.every((one) => one.clockMhz !== null);

t.test('[3.gpu-nvidia] two devices, each with its own values, in the order of the bus', async (t) => {
  const { host, nvml } = open(t, SCRIPT);
  t.strictSame(host.readCounters(GPU, true, 0).gpu, [], 'the first reading does not wait for the driver');
  const { gpu, failures } = await read(host, isFull);
  t.strictSame(gpu, [BIG, SMALL]);
  t.equal(failures, undefined);
  t.ok(nvml.takeCalls().includes(`nvmlDeviceGetMemoryInfo_v2 ${FIRST}`));
  t.match(await describeGpu(host), {
    status: 'works',
    source: new RegExp(
      `\\(nvidia, ${FIRST}\\): load, .* from NVML; .*\\(nvidia, ${SECOND}\\): load, .* from NVML$`,
    ),
  });
});

t.test('[3.gpu-first] the one that shows the boot screen comes first', async (t) => {
  const nvml = makeFakeNvml(t, SCRIPT);
  const tree = { ...TREE, ...pci({ ...NVIDIA, address: SECOND, isBootDisplay: true }) };
  const { host } = makeMachine(t, tree, { nvml: nvml.library });
  t.strictSame((await read(host, isFull)).gpu, [SMALL, BIG]);
});

t.test('[3.gpu-nvidia] without detail the slow questions are not asked', async (t) => {
  const { host, nvml } = open(t, SCRIPT);
  await read(host, count(2), false);
  const calls = nvml.takeCalls().map((call) => call.split(' ')[0]);
  for (const detail of ['nvmlDeviceGetFanSpeed', 'nvmlDeviceGetPowerUsage', 'nvmlDeviceGetClockInfo'])
    t.notOk(calls.includes(detail), detail);
  for (const needed of ['nvmlDeviceGetUtilizationRates', 'nvmlDeviceGetTemperature'])
    t.ok(calls.includes(needed), needed);
});

t.test('[3.gpu-nvidia] values that a device lacks are null, and only those', async (t) => {
  const { host } = open(
    t,
    SCRIPT.filter((line) => !/ (fan|utilization) /.test(line)),
  );
  t.strictSame((await read(host, (counters) => counters.gpu?.[1]?.clockMhz === 210)).gpu, [
    { ...BIG, fanPercent: null, loadPercent: null },
    { ...SMALL, fanPercent: null, loadPercent: null },
  ]);
});

t.test('[3.gpu-nvidia] a card without a fan is asked for it once', async (t) => {
  const withoutFan = SCRIPT.filter((line) => !line.startsWith(`${SECOND} fan `));
  const { host, nvml } = open(t, withoutFan);
  const isAt = (mhz: number) => (counters: Counters) => counters.gpu?.[1]?.clockMhz === mhz;
  const fans = () => nvml.takeCalls().filter((call) => call.startsWith('nvmlDeviceGetFanSpeed'));
  await read(host, isAt(210));
  t.equal(fans().filter((call) => call.endsWith(SECOND)).length, 1);
  nvml.play(...withoutFan.map((line) => (line === `${SECOND} clock 210` ? `${SECOND} clock 300` : line)));
  t.strictSame((await read(host, isAt(300))).gpu, [BIG, { ...SMALL, fanPercent: null, clockMhz: 300 }]);
  const later = fans();
  t.ok(later.length > 0, 'the other one has a fan');
  t.ok(later.every((call) => call.endsWith(FIRST)));
});

t.test('[3.gpu-nvidia] an old library: memory that the driver reserves counts as used', async (t) => {
  const { host } = open(t, SCRIPT, { without: 'MEMORY_V2' });
  const { gpu } = await read(host, isFull);
  t.equal(gpu?.[0]?.memoryUsedBytes, 5300 * MIB);
});

t.test('[3.gpu-nvidia] numbers that no device can have are ignored', async (t) => {
  const nonsense = script(FIRST, 101, 4_294_967_295, 4_294_967_295, 250, 4_294_967_295, 30_000, 24_564);
  const { host } = open(t, [...SCRIPT.slice(0, 2), ...nonsense]);
  const { gpu } = await read(host, (counters) => counters.gpu?.length === 1);
  t.strictSame(gpu, [
    {
      ...BIG,
      loadPercent: null,
      temperatureCelsius: null,
      memoryUsedBytes: null,
      powerWatts: null,
      fanPercent: 100,
      clockMhz: null,
    },
  ]);
});

t.test('[3.gpu-errors] no library, or one that is something else', async (t) => {
  for (const [nvml, reason] of [
    ['/nonexistent/libnvidia-ml.so.1', /libnvidia-ml\.so\.1: cannot open shared object file/],
    ['libm.so.6', /NVML has no nvmlInit_v2/],
  ] as const) {
    const { host } = makeMachine(t, TREE, { nvml, gpuRetryMs: RETRY_MS });
    const { gpu, failures } = await read(host, (counters) => counters.failures !== undefined);
    t.strictSame(gpu, []);
    t.match(failures?.['gpu'], reason);
    t.match(failures?.['gpu'], /^0000:01:00\.0 \(NVIDIA\): .*; 0000:41:00\.0 \(NVIDIA\): /);
  }
});

t.test('[3.gpu-errors] another driver than the library: null; after the update both are back', async (t) => {
  const { host, nvml } = open(t, [...SCRIPT, 'fail nvmlInit_v2 18']);
  const { gpu, failures } = await read(host, (counters) => counters.failures !== undefined);
  t.strictSame(gpu, []);
  t.match(failures?.['gpu'], 'the library and the loaded driver are of different versions (NVML 18)');
  nvml.play(...SCRIPT);
  t.strictSame((await read(host, isFull)).gpu, [BIG, SMALL]);
});

t.test(
  '[3.gpu-lost] a lost device leaves the other one alone, keeps its last values, and is found again',
  async (t) => {
    const { host, nvml } = open(t, SCRIPT);
    await read(host, isFull);
    const lost = `fail nvmlDeviceGetUtilizationRates@${FIRST} 15`;
    nvml.play(...SCRIPT, lost, `fail nvmlDeviceGetHandleByPciBusId_v2@${FIRST} 15`);
    const broken = await read(host, (counters) => counters.failures !== undefined);
    t.strictSame(broken.gpu, [BIG, SMALL], 'for ten seconds the last values count');
    t.equal(
      broken.failures?.['gpu'],
      `${FIRST} (NVIDIA): the GPU is lost: it has fallen off the bus (NVML 15)`,
    );
    const reasons = new Set<string | undefined>();
    for (let round = 0; round < 50; round++) {
      reasons.add(host.readCounters(GPU, true, 0).failures?.['gpu']);
      await sleep(10);
    }
    t.equal(reasons.size, 1, 'while it is lost the reason stays the same: it is logged once');
    nvml.play(...SCRIPT);
    t.strictSame((await read(host, isFull)).gpu, [BIG, SMALL]);
  },
);

t.test('[3.gpu-lost] after ten seconds, here one, a lost device is left out', async (t) => {
  const { host, nvml } = open(t, SCRIPT, { gpuMaxAgeMs: MAX_AGE_MS });
  const beganMs = performance.now();
  await read(host, isFull);
  nvml.play(...SCRIPT, 'fail nvmlDeviceGetUtilizationRates 16', 'fail nvmlInit_v2 9');
  await read(host, ({ failures }) => failures !== undefined);
  await read(host, ({ gpu }) => gpu?.length === 0);
  t.ok(performance.now() - beganMs >= MAX_AGE_MS, 'not before');
  nvml.play(...SCRIPT);
  t.strictSame((await read(host, isFull)).gpu, [BIG, SMALL]);
});

t.test(
  '[3.gpu-hang] a call that hangs: no reading waits for it, the values expire, and all come back',
  async (t) => {
    const { host, nvml } = open(t, SCRIPT, { gpuMaxAgeMs: MAX_AGE_MS });
    const beganMs = performance.now();
    await read(host, isFull);
    nvml.play(...SCRIPT, 'hang nvmlDeviceGetTemperature');
    // A reading that waited for the call would not come back: it hangs until the script is another one.
    await read(host, ({ gpu }) => gpu?.length === 0);
    t.ok(performance.now() - beganMs >= MAX_AGE_MS, 'the last values count for ten seconds, here one');
    t.match(host.readCounters(GPU, true, 0).failures?.['gpu'], 'its driver does not answer');
    nvml.play(...SCRIPT);
    t.strictSame((await read(host, isFull)).gpu, [BIG, SMALL]);
  },
);

t.test('[3.gpu-nvidia] a system that shows no device on the bus: the driver lists them', async (t) => {
  const nvml = makeFakeNvml(t, SCRIPT);
  const tree = { 'dev/dxg': '', 'proc/uptime': '1 1\n' };
  const { host } = makeMachine(t, tree, { nvml: nvml.library });
  t.strictSame((await read(host, isFull)).gpu, [BIG, SMALL]);
  const { source } = await describeGpu(host);
  t.match(source, new RegExp(`${FIRST}\\): .*${SECOND}\\): `), 'addresses as sysfs spells them');
  const bare = makeFakeNvml(t, SCRIPT, { without: 'PCI_INFO' });
  const second = makeMachine(t, tree, { nvml: bare.library });
  t.strictSame((await read(second.host, isFull)).gpu, [BIG, SMALL]);
  const none = makeMachine(t, tree, { nvml: '/nonexistent', gpuRetryMs: RETRY_MS });
  await sleep(100);
  t.strictSame(
    none.host.readCounters(GPU, true, 0).failures,
    undefined,
    'no NVIDIA device: nothing to report',
  );
});
