/** `hostwire doctor` and graphics processors: what it says of findings, and of captured machines. */
import t from 'tap';
import { findGpus, judgeGpus } from '#src/cli/doctor/gpu.js';
import type { GpuFinding } from '#src/host/native.js';
import { openNativeHost } from '#src/host/native.js';
import { openFixture, whyNoFixture } from '../../helpers/machine/fixtures.ts';
import { NVIDIA, pci } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { gpu } from '../../stats/literals.ts';

function finding(change: Partial<GpuFinding>): GpuFinding {
  const counters = gpu({ name: 'Card', vendor: 'NVIDIA', loadPercent: 1, clockMhz: 100 });
  return { address: '0000:01:00.0', driver: 'nvidia', state: 'read', reason: '', counters, ...change };
}

const tell = (...changes: readonly Partial<GpuFinding>[]) => {
  const { state, source, reason, remedy } = judgeGpus(changes.map(finding), '/s/bus/pci/devices');
  return [state, source, reason, remedy].filter((text) => text !== undefined).join(' | ');
};

t.test('[9.doctor-gpu] what is read from where, what is missing and why, what it would take', async (t) => {
  t.match(tell(), /^missing \| \/s\/bus\/pci\/devices \| there is no device of NVIDIA, AMD or Intel/);
  t.equal(
    tell({}),
    'ok | Card (nvidia, 0000:01:00.0): load, clock from NVML, without temperature, memory, power, fan',
  );
  t.equal(tell({ state: 'asleep' }), 'ok | Card (nvidia, 0000:01:00.0) sleeps and is left so');
  t.match(tell({ state: 'waiting' }), /^missing .*0000:01:00.0\) has not answered yet$/);
  t.match(tell({}, { state: 'waiting' }), /^partly .* \| Card .* has not answered yet$/);
  const cures: readonly (readonly [string, RegExp])[] = [
    ['libnvidia-ml.so.1: cannot open shared object file: No such file', /\| install the management library/],
    ['the library and the loaded driver are of different versions (NVML 18)', /\| restart the machine/],
    ['the driver is not loaded (NVML 9)', /\| load the kernel module nvidia$/],
    ['no permission (NVML 4)', /\| give this user access to \/dev\/nvidia\*$/],
    ['the GPU is lost: it has fallen off the bus (NVML 15)', /\| see the kernel log; a restart/],
    ['its driver does not answer', /\| see the kernel log: the driver hangs$/],
    ['unknown error (NVML 999)', /: unknown error \(NVML 999\)$/],
  ];
  for (const [reason, cure] of cures) {
    t.match(tell({ state: 'unreadable', reason }), cure);
    t.match(tell({ state: 'unreadable', reason }), `| Card (nvidia, 0000:01:00.0): ${reason}`);
  }
  const bare = gpu({ name: '', vendor: 'AMD' });
  t.equal(
    tell({ state: 'unreadable', driver: '', reason: 'no driver is loaded for it', counters: bare }),
    'missing | AMD (no driver, 0000:01:00.0) | AMD (no driver, 0000:01:00.0): no driver is loaded for it | load its kernel module: amdgpu',
  );
  const iris = gpu({ name: 'Iris', vendor: 'Intel', clockMhz: 300 });
  t.match(
    tell({ driver: 'i915', counters: iris }),
    /^partly .* \| the load of Iris .* is not known \| run it as root/,
  );
  t.match(
    tell({ driver: 'nouveau', state: 'unreadable', reason: 'its driver tells nothing in /sys' }),
    /NVIDIA's own driver tells more$/,
  );
});

t.test('[9.doctor-gpu] captured machines', { skip: whyNoFixture('gpu-hybrid') }, async (t) => {
  const of = async (name: string) => {
    const { root } = openFixture(t, name);
    const host = openNativeHost({ proc: `${root}/proc`, sys: `${root}/sys`, files: root });
    return judgeGpus(await findGpus(host), '/sys/bus/pci/devices');
  };
  const amd = await of('gpu-amd-laptop');
  t.equal(amd.state, 'ok');
  t.match(amd.source, 'AMD Radeon RX 6600M (amdgpu, 0000:03:00.0) sleeps and is left so');
  t.match(
    amd.source,
    /AMD Radeon Graphics \(amdgpu, 0000:08:00\.0\): load, temperature, memory, power, clock from .*, without fan/,
  );
  t.match((await of('vm')).reason, 'no device of NVIDIA');
});

t.test('[9.doctor-gpu] a driver that takes its time is waited for, one that is missing is not', async (t) => {
  const { host } = makeMachine(t, pci({ ...NVIDIA, address: '0000:01:00.0' }), { nvml: '/nonexistent.so' });
  const began = performance.now();
  const { state, reason, remedy } = judgeGpus(await findGpus(host), '/sys/bus/pci/devices');
  t.equal(state, 'missing');
  t.match(reason, /cannot open shared object file/);
  t.match(remedy, /install the management library/);
  t.ok(performance.now() - began < 2000);
});
