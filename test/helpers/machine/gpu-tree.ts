/** The files of graphics processors under /sys and /proc, as kernel drivers lay them out. */
import type { Capability, Finding } from '#src/host/finding.js';
import type { NativeMachine } from '#src/host/native.js';
import type { Tree } from './tree.ts';

type Files = Readonly<Record<string, string>>;

const lines = (folder: string, files: Files): Tree =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, `${content}\n`]));

export const pciFolder = (address: string) => `sys/bus/pci/devices/${address}`;

export interface Pci {
  readonly address: string;
  readonly vendor: string;
  readonly device?: string;
  readonly class?: string;
  readonly revision?: string;
  readonly driver?: string;
  /** Content of power/runtime_status. */
  readonly status?: string;
  readonly isBootDisplay?: boolean;
  /** Files below the device's folder. */
  readonly files?: Files;
  /** Files of its hwmon chip. */
  readonly hwmon?: Files;
  /** Device nodes of its driver: "card0", "renderD128". */
  readonly nodes?: readonly string[];
}

/** One device on the bus. */
export function pci(facts: Pci): Tree {
  const folder = pciFolder(facts.address);
  return {
    ...lines(folder, {
      vendor: facts.vendor,
      device: facts.device ?? '0x1234',
      class: facts.class ?? '0x030000',
      revision: facts.revision ?? '0x00',
      boot_vga: facts.isBootDisplay ? '1' : '0',
      'power/runtime_status': facts.status ?? 'active',
      'power/control': 'on',
      ...facts.files,
    }),
    ...lines(`${folder}/hwmon/hwmon3`, facts.hwmon ?? {}),
    ...Object.fromEntries((facts.nodes ?? []).map((node) => [`${folder}/drm/${node}/dev`, '226:0\n'])),
    ...(facts.driver === undefined
      ? {}
      : { [`${folder}/driver`]: { link: `../../drivers/${facts.driver}` } }),
  };
}

export const NVIDIA = { vendor: '0x10de', driver: 'nvidia' };

/** A card of the amdgpu driver; every number is different. */
export const AMD_CARD = {
  vendor: '0x1002',
  device: '0x73bf',
  revision: '0xc1',
  driver: 'amdgpu',
  nodes: ['card1', 'renderD129'],
  files: {
    gpu_busy_percent: '37',
    mem_info_vram_used: '1610612736',
    mem_info_vram_total: '17163091968',
  },
  hwmon: {
    name: 'amdgpu',
    temp1_label: 'edge',
    temp1_input: '54000',
    temp2_label: 'junction',
    temp2_input: '61000',
    temp3_label: 'mem',
    temp3_input: '70000',
    power1_average: '93000000',
    fan1_input: '900',
    fan1_max: '3300',
    pwm1: '51',
    freq1_input: '2310000000',
    freq1_label: 'sclk',
  },
} as const;

export interface Platform {
  /** "1002000000.v3d" */
  readonly address: string;
  readonly driver: string;
  /** The first name in the device tree: "brcm,2712-v3d". */
  readonly compatible: string;
  /** Files below the device's folder. */
  readonly files?: Files;
  readonly nodes?: readonly string[];
  /** Its name in /sys/class/devfreq. */
  readonly governor?: string;
}

export const platformFolder = (address: string) => `sys/devices/platform/${address}`;

/** One device of a system on a chip. */
export function platform({ address, driver, compatible, files, nodes = [], governor }: Platform): Tree {
  const folder = platformFolder(address);
  const linkOf = (of: string) => ({ link: `../../../devices/platform/${of}` });
  return {
    ...lines(folder, { uevent: `DRIVER=${driver}\nOF_COMPATIBLE_0=${compatible}`, ...files }),
    [`${folder}/driver`]: { link: `../../../bus/platform/drivers/${driver}` },
    [`${folder}/subsystem`]: { link: '../../../bus/platform' },
    ...Object.fromEntries(nodes.map((node) => [`sys/class/drm/${node}/device`, linkOf(address)])),
    ...(governor === undefined ? {} : { [`sys/class/devfreq/${governor}/device`]: linkOf(address) }),
  };
}

export interface Client {
  readonly pid: number;
  readonly fd: number;
  readonly node: string;
  /** Absent where the device is not on PCI. */
  readonly address?: string;
  readonly id: number;
  readonly driver?: string;
  /** More "drm-…" lines. */
  readonly use: Files;
}

/** A process that has a device open. */
export function drmClient({ pid, fd, node, address, id, driver, use }: Client): Tree {
  return {
    [`proc/${pid}/fd/${fd}`]: { link: `/dev/dri/${node}` },
    ...drmUse({ pid, fd, id, driver: driver ?? 'i915', use, ...(address !== undefined && { address }) }),
  };
}

/** Only the counters of its use so far. */
export function drmUse({ pid, fd, address, id, driver, use }: Omit<Client, 'node'>): Tree {
  const facts = {
    pos: '0',
    flags: '02100002',
    mnt_id: '26',
    ino: '1001',
    'drm-driver': driver ?? 'i915',
    'drm-client-id': String(id),
    ...(address !== undefined && { 'drm-pdev': address }),
    ...use,
  };
  const text = Object.entries(facts).map(([key, value]) => `${key}:\t${value}\n`);
  return { [`proc/${pid}/fdinfo/${fd}`]: text.join('') };
}

const NOTHING_ELSE: ReadonlySet<Capability> = new Set(['processes', 'power', 'media']);

/** The row of `hostwire doctor` about GPUs. */
export async function describeGpu(host: NativeMachine): Promise<Finding> {
  const findings = await host.describe(NOTHING_ELSE);
  const found = findings.find(({ subject }) => subject === 'gpu');
  if (found === undefined) throw new Error('no row about GPUs');
  return found;
}
