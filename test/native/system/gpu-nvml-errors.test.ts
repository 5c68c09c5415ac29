/** Every return code that NVML documents, at every function: values are right or missing, and come back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { type Counters, type GpuCounters, SECTION_BITS } from '#src/host/host.js';
import { makeFakeNvml } from '../../helpers/machine/fake-nvml.ts';
import { NVIDIA, pci } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { needProgram } from '../../helpers/native/program.ts';

const MIB = 1024 ** 2;
const BUS = '0000:01:00.0';
const SCRIPT = [
  `device ${BUS} NVIDIA_T400`,
  ...Object.entries({
    utilization: 37,
    temperature: 61,
    power: 25_000,
    fan: 45,
    clock: 1350,
    used: 512 * MIB,
    total: 2048 * MIB,
  }).map(([key, value]) => `${BUS} ${key} ${value}`),
];
const WHOLE: GpuCounters = {
  name: 'NVIDIA T400',
  vendor: 'NVIDIA',
  loadPercent: 37,
  temperatureCelsius: 61,
  memoryUsedBytes: 512 * MIB,
  memoryTotalBytes: 2048 * MIB,
  powerWatts: 25,
  fanPercent: 45,
  clockMhz: 1350,
  isAsleep: false,
};

/** nvmlReturn_t, and a code that no documentation has. */
const CODES = [...Array.from({ length: 30 }, (_, index) => index + 1), 999, 4711];

/** Which value is missing when a function fails. */
const VALUES: Readonly<Record<string, readonly (keyof GpuCounters)[]>> = {
  nvmlDeviceGetUtilizationRates: ['loadPercent'],
  nvmlDeviceGetTemperature: ['temperatureCelsius'],
  nvmlDeviceGetPowerUsage: ['powerWatts'],
  nvmlDeviceGetFanSpeed: ['fanPercent'],
  nvmlDeviceGetClockInfo: ['clockMhz'],
  nvmlDeviceGetMemoryInfo: ['memoryUsedBytes', 'memoryTotalBytes'],
};
/** Asked only of a new session. */
const OPENING = ['nvmlInit_v2', 'nvmlShutdown', 'nvmlDeviceGetHandleByPciBusId_v2', 'nvmlDeviceGetName'];
/** After these the session is opened again. */
const LOST = new Set([1, 9, 15, 16, 18]);
const BREAK = 'fail nvmlDeviceGetTemperature 15';

needProgram('fake_nvml.so');
t.setTimeout(280_000);

const open = (t: Parameters<typeof makeMachine>[0]) => {
  const nvml = makeFakeNvml(t, SCRIPT);
  const { host } = makeMachine(t, pci({ ...NVIDIA, address: BUS }), { nvml: nvml.library, gpuRetryMs: 1 });
  const read = () => host.readCounters(SECTION_BITS.gpu, true, 0);
  const readUntil = async (isDone: (counters: Counters) => boolean): Promise<Counters> => {
    const end = performance.now() + 3000;
    while (true) {
      const counters = read();
      if (isDone(counters) || performance.now() > end) return counters;
      await sleep(2);
    }
  };
  return { nvml, readUntil };
};

const isWhole = ({ gpu, failures }: Counters) =>
  failures === undefined && gpu?.length === 1 && isDeepStrictEqual(gpu[0], WHOLE);

/** A value is the scripted one or null: never another number. */
function wrongValues(found: readonly GpuCounters[] | null | undefined): readonly string[] {
  return (found ?? []).flatMap((gpu) =>
    Object.entries(gpu)
      .filter(([key, value]) => value !== null && value !== WHOLE[key as keyof GpuCounters])
      .map(([key, value]) => `${key} ${value}`),
  );
}

/** The keys that the first GPU does not report. */
const unknownOf = (gpu: readonly GpuCounters[] | null | undefined) =>
  Object.entries(gpu?.[0] ?? {})
    .filter(([, value]) => value === null)
    .map(([key]) => key)
    .sort();

for (const [name, missing] of Object.entries(VALUES))
  t.test(`[3.gpu-errors] ${name} with every code`, async (t) => {
    const { nvml, readUntil } = open(t);
    await readUntil(isWhole);
    for (const code of CODES) {
      // The newer function of the two is asked first.
      const older = name === 'nvmlDeviceGetMemoryInfo' ? [`fail nvmlDeviceGetMemoryInfo_v2 ${code}`] : [];
      nvml.play(...SCRIPT, `fail ${name} ${code}`, ...older);
      // A reading may be under way while the script is replaced: only the final state counts.
      const isReported = ({ gpu, failures }: Counters) =>
        LOST.has(code) ? failures !== undefined : isDeepStrictEqual(unknownOf(gpu), [...missing].sort());
      const failed = await readUntil(isReported);
      t.strictSame(wrongValues(failed.gpu), [], `${code}: no wrong value`);
      t.ok(isReported(failed), `${code}: ${LOST.has(code) ? 'reported' : 'only this value is missing'}`);
      if (!LOST.has(code))
        t.strictSame(unknownOf(failed.gpu), [...missing].sort(), `${code}: all others are there`);
      nvml.play(...SCRIPT);
      t.ok(isWhole(await readUntil(isWhole)), `${code}: and back`);
    }
  });

for (const name of OPENING)
  t.test(`[3.gpu-errors] ${name} with every code`, async (t) => {
    const { nvml, readUntil } = open(t);
    await readUntil(isWhole);
    for (const code of CODES) {
      nvml.takeCalls();
      nvml.play(...SCRIPT, BREAK, `fail ${name} ${code}`);
      const calls: string[] = [];
      const failed = await readUntil((counters) => {
        calls.push(...nvml.takeCalls());
        return counters.failures !== undefined && calls.some((call) => call.startsWith(name));
      });
      t.ok(
        calls.some((call) => call.startsWith(name)),
        `${code}: it was asked`,
      );
      t.strictSame(wrongValues(failed.gpu), [], `${code}: no wrong value`);
      nvml.play(...SCRIPT, `fail ${name} ${code}`);
      if (name === 'nvmlShutdown' || name === 'nvmlDeviceGetName') {
        // Neither prevents a reading; a known name is kept.
        t.ok(isWhole(await readUntil(isWhole)), `${code}: all is read all the same`);
      }
      nvml.play(...SCRIPT);
      t.ok(isWhole(await readUntil(isWhole)), `${code}: and back`);
    }
  });

t.test('[3.gpu-errors] all functions together with every code', async (t) => {
  const { nvml, readUntil } = open(t);
  await readUntil(isWhole);
  for (const code of CODES) {
    const all = [...OPENING, ...Object.keys(VALUES), 'nvmlDeviceGetMemoryInfo_v2'];
    nvml.play(...SCRIPT, ...all.map((name) => `fail ${name} ${code}`));
    const failed = await readUntil(({ failures }) => failures !== undefined);
    t.type(failed.failures?.['gpu'], 'string', `${code}: reported`);
    t.strictSame(wrongValues(failed.gpu), [], `${code}: no wrong value`);
    nvml.play(...SCRIPT);
    t.ok(isWhole(await readUntil(isWhole)), `${code}: and back`);
  }
});

for (const [name, code] of [
  ['nvmlDeviceGetCount_v2', 999],
  ['nvmlDeviceGetHandleByIndex_v2', 17],
  ['nvmlDeviceGetPciInfo_v3', 3],
] as const)
  t.test(`[3.gpu-errors] ${name} fails where the bus shows nothing`, async (t) => {
    const nvml = makeFakeNvml(t, [...SCRIPT, `fail ${name} ${code}`]);
    const { host } = makeMachine(t, { 'dev/dxg': '' }, { nvml: nvml.library, gpuRetryMs: 1 });
    const end = performance.now() + 300;
    while (performance.now() < end) {
      t.strictSame(wrongValues(host.readCounters(SECTION_BITS.gpu, true, 0).gpu), []);
      await sleep(20);
    }
    nvml.play(...SCRIPT);
    await sleep(100);
    host.readCounters(SECTION_BITS.gpu, true, 0);
    await sleep(100);
    t.strictSame(host.readCounters(SECTION_BITS.gpu, true, 0).gpu, [WHOLE], 'and back');
  });
