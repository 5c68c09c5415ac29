/**
 * The whole service on a machine whose network mounts, one sensor chip and graphics processor can be made to hang, all
 * together.
 */
import path from 'node:path';
import { anonymousPssBytesOf } from '../../bench/cpu.ts';
import { makeFakeNvml } from '../helpers/machine/fake-nvml.ts';
import { NVIDIA, pci } from '../helpers/machine/gpu-tree.ts';
import { type HungMounts, openMountSpace } from '../helpers/machine/hung-mounts.ts';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';
import type { Scope } from '../helpers/scope.ts';
import { startPreloaded } from '../helpers/service/probed.ts';
import type { ServiceProcess } from '../helpers/service/service.ts';

const BUS = '0000:01:00.0';
const GPU_SCRIPT = [
  `device ${BUS} NVIDIA_RTX_A2000`,
  ...Object.entries({ utilization: 37, temperature: 61, used: 2 ** 30, total: 2 ** 33, clock: 210 }).map(
    ([key, value]) => `${BUS} ${key} ${value}`,
  ),
];
const SILENT_MOUNTS = 4;

export interface WatchedService extends ServiceProcess {
  /** Its anonymous memory, after a garbage collection. */
  readonly anonymousBytes: () => Promise<number>;
}

export interface TroubledMachine {
  readonly service: WatchedService;
  readonly points: readonly string[];
  /** Mounts that have not answered before `recover`. */
  readonly silent: readonly string[];
  hang(): Promise<void>;
  recover(): Promise<void>;
}

/** This machine's files, but with a GPU and a sensor chip of the test, whose second input always answers. */
function sysTree(firstInput: string | { readonly link: string }): Tree {
  const own = Object.fromEntries(
    ['block', 'dev', 'devices', 'class/net'].map((name) => [`sys/${name}`, { link: `/sys/${name}` }]),
  );
  return {
    ...own,
    ...pci({ ...NVIDIA, address: BUS }),
    'sys/class/hwmon/hwmon0/name': 'chip0\n',
    'sys/class/hwmon/hwmon0/temp1_input': firstInput,
    'sys/class/hwmon/hwmon0/temp2_input': '41000\n',
  };
}

/** At first everything answers but the silent mounts. */
export async function startTroubled(t: Scope, mounts: number): Promise<TroubledMachine> {
  const space = await openMountSpace(t);
  const groups: readonly HungMounts[] = [await space.mountHung(mounts), await space.mountHung(1)];
  const [network, sensor] = groups;
  const folder = sensor?.points[0];
  if (network === undefined || folder === undefined) throw new Error('no mounts');
  for (const group of groups) await group.answer();
  const silent = await space.mountHung(SILENT_MOUNTS);
  const nvml = makeFakeNvml(t, GPU_SCRIPT);
  // Opening a file of a hung filesystem waits for its server, just as reading a sensor waits for its driver.
  const machine = makeMachine(t, sysTree({ link: `${folder}/temp` }));
  const sys = path.join(machine.root, 'sys');
  const service = await startPreloaded({
    config: { stats: { stream_interval_seconds: 1 }, host: { sys } },
    env: { LD_LIBRARY_PATH: path.dirname(nvml.library) },
    start: (...all) => space.start(...all),
  });
  const anonymousBytes = async () => {
    await service.askProbe('collect');
    return anonymousPssBytesOf(service.pid);
  };
  return {
    service: { ...service, anonymousBytes },
    points: network.points,
    silent: silent.points,
    hang: async () => {
      for (const group of groups) await group.hang();
      nvml.play(...GPU_SCRIPT, 'hang nvmlDeviceGetTemperature');
    },
    recover: async () => {
      nvml.play(...GPU_SCRIPT);
      for (const group of [...groups, silent]) await group.answer();
    },
  };
}
