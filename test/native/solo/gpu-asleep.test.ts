/** A graphics processor in runtime suspend, and its sensors, are left asleep: nothing that would wake it is opened. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { type Counters, SECTION_BITS } from '#src/host/host.js';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { makeFakeNvml } from '../../helpers/machine/fake-nvml.ts';
import { AMD_CARD, describeGpu, NVIDIA, pci, pciFolder } from '../../helpers/machine/gpu-tree.ts';
import { type Machine, makeMachine, readUntil, type Tree } from '../../helpers/machine/tree.ts';
import { needProgram } from '../../helpers/native/program.ts';
import { emptyFolder } from '../../helpers/scope.ts';

needProgram('fake_nvml.so');
t.setTimeout(280_000);

const GPU = SECTION_BITS.gpu;
const CARD = '0000:03:00.0';
const GEFORCE = '0000:01:00.0';
const SCRIPT = [
  `device ${GEFORCE} NVIDIA_T1200`,
  `${GEFORCE} utilization 5`,
  `${GEFORCE} temperature 44`,
  `${GEFORCE} used 1048576`,
  `${GEFORCE} total 4294967296`,
];

const read = (machine: Machine, isDone: (counters: Counters) => boolean) =>
  readUntil(machine.host, GPU, true, isDone);
const setStatus = (machine: Machine, address: string, status: string) =>
  machine.write({ [`${pciFolder(address)}/power/runtime_status`]: `${status}\n` });

t.test('[3.gpu-asleep] asleep: its last values, marked; awake again: fresh ones', async (t) => {
  const machine = makeMachine(t, pci({ ...AMD_CARD, address: CARD }));
  await read(machine, ({ gpu }) => gpu?.[0]?.clockMhz === 2310);
  setStatus(machine, CARD, 'suspended');
  machine.write({ [`${pciFolder(CARD)}/gpu_busy_percent`]: '99\n' });
  const asleep = await read(machine, ({ gpu }) => gpu?.[0]?.isAsleep === true);
  t.match(asleep.gpu?.[0], { isAsleep: true, loadPercent: 37, temperatureCelsius: 54, powerWatts: 93 });
  t.equal(asleep.failures, undefined);
  t.match(await describeGpu(machine.host), { status: 'works', source: / is asleep and is not woken$/ });
  await sleep(100);
  t.equal(machine.host.readCounters(GPU, true, 0).gpu?.[0]?.loadPercent, 37);
  setStatus(machine, CARD, 'suspending');
  await sleep(50);
  t.equal((await read(machine, () => true)).gpu?.[0]?.isAsleep, true, 'on its way there');
  setStatus(machine, CARD, 'active');
  t.match((await read(machine, ({ gpu }) => gpu?.[0]?.loadPercent === 99)).gpu?.[0], { isAsleep: false });
});

t.test('[3.gpu-asleep] asleep from the start: known, without a value', async (t) => {
  const machine = makeMachine(t, {
    ...pci({ ...AMD_CARD, address: CARD, status: 'suspended' }),
    [`${pciFolder(CARD)}/product_name`]: 'Not to be read\n',
  });
  const { gpu } = await read(machine, (counters) => counters.gpu?.length === 1);
  t.match(gpu, [{ name: 'AMD 1002:73bf', isAsleep: true, loadPercent: null, memoryTotalBytes: null }]);
});

t.test(
  '[3.gpu-asleep] NVML: no call for a device that sleeps, none at all when every one does',
  async (t) => {
    const nvml = makeFakeNvml(t, SCRIPT);
    const tree = pci({ ...NVIDIA, address: GEFORCE, status: 'suspended' });
    const machine = makeMachine(t, tree, { nvml: nvml.library });
    await read(machine, ({ gpu }) => gpu?.[0]?.isAsleep === true);
    for (let i = 0; i < 10; i++) {
      machine.host.readCounters(GPU, true, 0);
      await sleep(10);
    }
    t.strictSame(nvml.takeCalls(), [], 'not even the beginning of a session');
    setStatus(machine, GEFORCE, 'active');
    await read(machine, ({ gpu }) => gpu?.[0]?.loadPercent === 5);
    t.ok(nvml.takeCalls().length > 0);
    setStatus(machine, GEFORCE, 'suspending');
    const asleep = await read(machine, ({ gpu }) => gpu?.[0]?.isAsleep === true);
    t.match(asleep.gpu, [{ name: 'NVIDIA T1200', loadPercent: 5, temperatureCelsius: 44 }]);
    await sleep(50);
    t.equal(nvml.takeCalls().at(-1), 'nvmlShutdown -', 'the session is closed: it can keep a device awake');
    for (let i = 0; i < 10; i++) {
      machine.host.readCounters(GPU, true, 0);
      await sleep(10);
    }
    t.strictSame(nvml.takeCalls(), []);
  },
);

t.test('[3.gpu-asleep] NVML: of two devices only the one that is awake is asked', async (t) => {
  const other = '0000:41:00.0';
  const nvml = makeFakeNvml(t, [...SCRIPT, `device ${other} NVIDIA_A2`, `${other} utilization 1`]);
  const tree = {
    ...pci({ ...NVIDIA, address: GEFORCE }),
    ...pci({ ...NVIDIA, address: other, status: 'suspended' }),
  };
  const machine = makeMachine(t, tree, { nvml: nvml.library });
  const { gpu } = await read(machine, (counters) => counters.gpu?.[0]?.loadPercent === 5);
  t.match(gpu, [{ isAsleep: false }, { isAsleep: true, loadPercent: null }]);
  for (const call of nvml.takeCalls()) t.notMatch(call, other);
});

t.test(
  '[3.gpu-rest] an idle device that may sleep is left alone for a while; one that stays awake is read again',
  async (t) => {
    // In the service ten seconds of idling, then the kernel's delay and two seconds more.
    const idleMs = 1000;
    const delayMs = 1500;
    const restMs = delayMs + idleMs / 5;
    const idle = {
      ...AMD_CARD.files,
      gpu_busy_percent: '0',
      'power/control': 'auto',
      'power/autosuspend_delay_ms': String(delayMs),
    };
    const tree = pci({ ...AMD_CARD, address: CARD, files: idle });
    const machine = makeMachine(t, tree, { gpuIdleMs: idleMs });
    const sensor = `${pciFolder(CARD)}/hwmon/hwmon3/temp1_input`;
    const began = performance.now();
    // The sensor holds the milliseconds since the beginning, so that a reading carries when it was made.
    const readAt = async () => {
      machine.write({ [sensor]: `${Math.floor(performance.now() - began)}\n` });
      machine.host.readCounters(GPU, true, 0);
      await sleep(20);
      return (machine.host.readCounters(GPU, true, 60_000).gpu?.[0]?.temperatureCelsius ?? 0) * 1000;
    };
    let last = await readAt();
    let longestMs = 0;
    // Half of it: what a reading carries is as old as the last line that was written.
    while (longestMs < restMs / 2 && performance.now() - began < PATIENCE_MS) {
      const next = await readAt();
      longestMs = Math.max(longestMs, next - last);
      last = next;
    }
    t.ok(longestMs >= restMs / 2, `left alone for ${longestMs} ms, and read again afterwards`);
    t.ok(last > idleMs + restMs / 2, 'not before it had idled');
  },
);

/** Every path that a program of ours opened, from strace's lines. */
function openedIn(trace: string, root: string): readonly string[] {
  return [...trace.matchAll(/(?:openat|open|readlink|readlinkat)\((?:AT_FDCWD, )?"([^"]+)"/g)]
    .map(([, file = '']) => file)
    .filter((file) => file.startsWith(root))
    .map((file) => file.slice(root.length + 1));
}

/** Files that the kernel answers from memory: reading them wakes no device (drivers/pci/pci-sysfs.c, power/sysfs.c). */
const HARMLESS =
  /^sys\/bus\/pci\/devices\/[^/]+$|\/(?:vendor|device|class|revision|boot_vga|driver|drm|hwmon\/?|power\/(?:runtime_status|control|autosuspend_delay_ms))$/;

const hasStrace = (() => {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

t.test(
  '[3.gpu-asleep] asleep: no file that asks the device is opened',
  { skip: !hasStrace && 'no strace' },
  async (t) => {
    const machine = makeMachine(t, {
      ...pci({ ...AMD_CARD, address: CARD, status: 'suspended' }),
      ...pci({
        vendor: '0x8086',
        address: '0000:00:02.0',
        driver: 'i915',
        nodes: ['card0'],
        status: 'suspended',
      }),
      [`${pciFolder(CARD)}/product_name`]: 'x\n',
      [`${pciFolder(CARD)}/config`]: 'x',
    });
    const folder = emptyFolder(t, 'strace');
    const trace = path.join(folder, 'trace');
    const addon = path.resolve(import.meta.dirname, '../../../../../dist/hostwire.node');
    const program = `
    const { Host } = require(${JSON.stringify(addon)});
    const root = ${JSON.stringify(machine.root)};
    const host = new Host({ proc: root + '/proc', sys: root + '/sys', files: root, gpuDiscoveryMs: 20 });
    let left = 20;
    const timer = setInterval(() => {
      const { gpu } = host.readCounters(4, true, 0);
      if (--left > 0) return;
      clearInterval(timer);
      console.log(JSON.stringify(gpu.map((one) => one.isAsleep)));
    }, 20);`;
    const args = ['-f', '-s', '4096', '-e', 'trace=open,openat,readlink,readlinkat', '-o', trace];
    const { stdout } = await promisify(execFile)('strace', [...args, process.execPath, '-e', program]);
    t.equal(stdout.trim(), '[true,true]');
    const opened = openedIn(readFileSync(trace, 'utf8'), machine.root).filter((file) =>
      file.startsWith('sys/bus/pci/devices/0000'),
    );
    t.ok(opened.length > 10, `${opened.length} opens in the devices' folders`);
    t.strictSame([...new Set(opened.filter((file) => !HARMLESS.test(file)))], []);
  },
);
const IDLE_MS = 300;
/** The kernel's delay between the last reading and sleep. */
const DELAY_MS = 1500;
/** From one reading to the next. */
const INTERVAL_MS = 50;
const READINGS = 80;

const IDLE = {
  gpu_busy_percent: '0',
  'power/control': 'auto',
  'power/autosuspend_delay_ms': String(DELAY_MS),
};

/** An AMD card and its hwmon chip, linked as in a real /sys, and a chip that is always read. */
const treeOf = (status: string): Tree => ({
  ...pci({ ...AMD_CARD, address: CARD, status, files: { ...AMD_CARD.files, ...IDLE } }),
  [`${pciFolder(CARD)}/hwmon/hwmon3/device`]: { link: `../../../${CARD}` },
  'sys/class/hwmon/hwmon3': { link: `../../bus/pci/devices/${CARD}/hwmon/hwmon3` },
  'sys/class/hwmon/hwmon4/name': 'k10temp\n',
  'sys/class/hwmon/hwmon4/temp1_input': '40000\n',
});

const skip = (() => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'strace cannot trace here';
  }
})();

interface Traced {
  /** Milliseconds of each read of a value of the card's sensors. */
  readonly card: readonly number[];
  /** The same for the other chip. */
  readonly other: readonly number[];
}

/** The reads of sensors during detailed readings of `sections`, by all threads. */
async function trace(test: Test, status: string, sections: number): Promise<Traced> {
  const { root } = makeMachine(test, treeOf(status));
  const folder = emptyFolder(test, 'strace');
  const file = path.join(folder, 'trace');
  const addon = path.resolve(import.meta.dirname, '../../../../../dist/hostwire.node');
  const program = `
    const { Host } = require(${JSON.stringify(addon)});
    const root = ${JSON.stringify(root)};
    const host = new Host({ proc: root + '/proc', sys: root + '/sys', files: root, gpuIdleMs: ${IDLE_MS} });
    let left = ${READINGS};
    const timer = setInterval(() => {
      host.readCounters(${sections}, true, 0);
      if (--left === 0) clearInterval(timer);
    }, ${INTERVAL_MS});`;
  const args = ['-f', '-ttt', '-y', '-e', 'trace=read,pread64', '-o', file];
  await promisify(execFile)('strace', [...args, process.execPath, '-e', program]);
  const text = readFileSync(file, 'utf8');
  const timesOf = (chip: string) =>
    [...text.matchAll(/^\d+ +([\d.]+) p?read(?:64)?\(\d+<([^>]*)>/gm)]
      .filter(([, , name = '']) => name.startsWith(root) && name.includes(`/${chip}/`))
      .filter(([, , name = '']) => /_(?:input|average)$/.test(name))
      .map(([, seconds]) => Number(seconds) * 1000);
  return { card: timesOf('hwmon3'), other: timesOf('hwmon4') };
}

const longestGap = (times: readonly number[]) =>
  Math.max(0, ...times.slice(1).map((time, i) => time - (times[i] ?? time)));

t.test('[3.sensors-asleep] an idle card is left alone for the delay of its driver', { skip }, async (t) => {
  const { card, other } = await trace(t, 'active', SECTION_BITS.gpu);
  t.ok(card.length > 5, `${card.length} reads while it is awake`);
  const gap = longestGap(card);
  t.ok(gap >= DELAY_MS, `left alone for ${gap.toFixed()} ms, the driver waits for ${DELAY_MS} ms`);
  t.ok(longestGap(other) < gap, 'the other chip is read meanwhile');
});

t.test('[3.sensors-asleep] nothing of a card that sleeps is read', { skip }, async (t) => {
  const { card, other } = await trace(t, 'suspended', SECTION_BITS.gpu);
  t.strictSame(card, []);
  t.ok(other.length > 1, `${other.length} reads of the other chip`);
});
