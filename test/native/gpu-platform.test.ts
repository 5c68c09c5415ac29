/** Graphics processors of systems on a chip, in the files that their drivers are documented to have. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Counters, type GpuCounters, SECTION_BITS } from '#src/host/host.js';
import { describeGpu, drmClient, drmUse, platform, platformFolder } from '../helpers/machine/gpu-tree.ts';
import { type Machine, makeMachine, readUntil } from '../helpers/machine/tree.ts';
import { gpu as gpuCounters } from '../stats/literals.ts';

const GPU = SECTION_BITS.gpu;

/** The first device once it can be read. */
async function firstOf(machine: Machine, isDone: (gpu: GpuCounters) => boolean = () => true) {
  const isReady = ({ gpu }: Counters) => gpu?.[0] !== undefined && isDone(gpu[0]);
  return (await readUntil(machine.host, GPU, true, isReady)).gpu?.[0];
}

/** v3d's gpu_stats after `seconds`, of which `share` were spent on rendering. */
function queuesAt(seconds: number, share: number): string {
  const ns = 239_043_069_420 + seconds * 1e9;
  const rows = [
    ['queue', 'timestamp', 'jobs', 'runtime'],
    ['bin', ns, 22_620, 17_438_164_056],
    ['render', ns, 22_619, 27_284_814_161 + Math.round(seconds * share * 1e9)],
    ['cache_clean', ns, 6127, 237_375_940],
  ];
  return rows.map((row) => row.join('\t')).join('\n');
}

t.test('v3d of a Raspberry Pi: the busiest of its queues', async (t) => {
  const v3d = {
    address: '1002000000.v3d',
    driver: 'v3d',
    compatible: 'brcm,2712-v3d',
    nodes: ['card0', 'renderD128'],
  };
  const machine = makeMachine(t, {
    ...platform({ ...v3d, files: { gpu_stats: queuesAt(0, 0) } }),
    // The display's own device, and one of its outputs, do not count.
    ...platform({ address: 'axi:gpu', driver: 'vc4-drm', compatible: 'brcm,bcm2712-vc6', nodes: ['card1'] }),
    'sys/class/drm/card0-HDMI-A-1/status': 'connected\n',
  });
  const stats = `${platformFolder(v3d.address)}/gpu_stats`;
  // The first reading has nothing to be compared with.
  await readUntil(machine.host, GPU, true, ({ failures }) => failures?.['gpu'] !== undefined);
  machine.write({ [stats]: queuesAt(1, 0.25) });
  const first = await firstOf(machine, (gpu) => gpu.loadPercent !== null);
  t.strictSame(first, gpuCounters({ name: 'Broadcom 2712-v3d', vendor: 'Broadcom', loadPercent: 25 }));
  machine.write({ [stats]: queuesAt(2, 0.5) });
  t.equal((await firstOf(machine, (gpu) => gpu.loadPercent !== 25))?.loadPercent, 75, 'of the second only');
  machine.write({ [stats]: queuesAt(2, 0.5) });
  machine.host.readCounters(GPU, true, 0);
  await sleep(50);
  const { gpu } = machine.host.readCounters(GPU, true, 0);
  t.equal(gpu?.length, 1);
  t.equal(gpu?.[0]?.loadPercent, 75, 'without time in between the load stays');
});

const MALI = {
  address: 'fb000000.gpu',
  driver: 'panthor',
  compatible: 'rockchip,rk3588-mali',
  nodes: ['card0', 'renderD128'],
  files: { profiling: '0', 'devfreq/fb000000.gpu/cur_freq': '1000000000' },
};
const ZONE = {
  'sys/class/thermal/thermal_zone0/type': 'package-thermal\n',
  'sys/class/thermal/thermal_zone0/temp': '40000\n',
  'sys/class/thermal/thermal_zone5/type': 'gpu-thermal\n',
  'sys/class/thermal/thermal_zone5/temp': '47153\n',
};

t.test('panthor: the clock and the temperature; no load while clients are not accounted', async (t) => {
  const client = { pid: 50, fd: 5, id: 10, driver: 'panthor', node: 'renderD128' };
  const use = (busyNs: number) => ({
    'drm-engine-panthor': `${busyNs} ns`,
    'drm-cycles-panthor': '94439687187',
  });
  const machine = makeMachine(t, {
    ...platform(MALI),
    ...ZONE,
    ...drmClient({ ...client, use: use(111_110_952_750) }),
  });
  const found = await firstOf(machine, (gpu) => gpu.clockMhz !== null);
  const named = { name: 'Arm rk3588-mali', vendor: 'Arm' };
  t.match(found, gpuCounters({ ...named, temperatureCelsius: 47.153, clockMhz: 1000 }));
  t.match(await describeGpu(machine.host), { status: 'partly', remedy: /write 3 to .*profiling/ });
  machine.write({ [`${platformFolder(MALI.address)}/profiling`]: '3\n' });
  t.equal((await firstOf(machine, (gpu) => gpu.loadPercent !== null))?.loadPercent, 0);
  let busyNs = 111_110_952_750;
  const busy = () => {
    busyNs += 1e9;
    machine.write(drmUse({ ...client, use: use(busyNs) }));
  };
  const loaded = await readUntil(machine.host, GPU, true, ({ gpu }) => {
    busy();
    return gpu?.[0]?.loadPercent === 100;
  });
  t.equal(loaded.gpu?.[0]?.loadPercent, 100, 'more than the time that passed is all of it');
});

t.test('Tegra: a device without a node, its load in tenths of a percent', async (t) => {
  const machine = makeMachine(t, {
    ...platform({
      address: '17000000.ga10b',
      driver: 'gk20a',
      compatible: 'nvidia,ga10b',
      files: { load: '374', 'devfreq/17000000.ga10b/cur_freq': '306000000' },
      governor: '17000000.ga10b',
    }),
  });
  const found = await firstOf(machine, (gpu) => gpu.clockMhz !== null);
  t.match(found, { name: 'NVIDIA ga10b', vendor: 'NVIDIA', loadPercent: 37.4, clockMhz: 306 });
});
