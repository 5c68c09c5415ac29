/** Derives the payload of /api/system: the host's own description, and the disks, GPUs and interfaces of a sample. */
import { SECTION_BITS, type SystemInfo } from '../host/host.ts';
import type { WakeOnLan } from '../host/wake.ts';
import type { InterfaceDetail } from '../wire/sample.ts';
import type { Capabilities, SystemDetail, SystemInterface, SystemPayload } from '../wire/system.ts';
import { DETAIL_BITS, type Needs } from './needs.ts';
import type { Sample } from './sample.ts';

/** Facts about the service itself, shown with detail. */
export interface ServiceFacts {
  readonly version: string;
  readonly pid: number;
  /** Unix seconds, by the present clock. */
  readonly startedAt: number;
  readonly node: string;
  readonly platform: string;
}

/** The parts of a sample that `deriveSystem` needs: neither processes nor sensors are read for it. */
export const SYSTEM_NEEDS: Needs = {
  sections: SECTION_BITS.gpu | SECTION_BITS.disks,
  withDetail: true,
  details: 0,
};

/** The same for `deriveSystemDetail`. */
export const SYSTEM_DETAIL_NEEDS: Needs = {
  sections: SYSTEM_NEEDS.sections | SECTION_BITS.network,
  withDetail: true,
  details: DETAIL_BITS.batteries,
};

export function deriveSystem(info: SystemInfo, sample: Sample, service: ServiceFacts): SystemPayload {
  const gpu = sample.gpu?.detail ?? null;
  return {
    hostname: info.hostname,
    platform: service.platform,
    os: info.os,
    cpu: {
      manufacturer: info.cpu.manufacturer,
      brand: info.cpu.brand,
      cores: info.cpu.cores,
      physical_cores: info.cpu.physicalCores,
      base_speed: info.cpu.baseSpeedHz === null ? null : Math.round(info.cpu.baseSpeedHz / 1e6) / 1e3,
    },
    gpu: gpu && { manufacturer: gpu.vendor, brand: gpu.name, memory_total: gpu.memory_total },
    memory: { total: info.memoryTotalBytes, slots: info.memorySlots },
    disks: (sample.disks?.detail ?? []).map((disk) => ({
      fs: disk.fs,
      type: disk.type,
      size: disk.size,
      mount: disk.fs,
    })),
    network: info.network,
  };
}

/** The facts that `deriveSystemDetail` shows beside a sample. */
export interface SystemExtras {
  readonly capabilities: Capabilities;
  /** The network cards; an Error if they cannot be read. */
  readonly cards: readonly WakeOnLan[] | Error;
}

function withWakeOnLan(link: InterfaceDetail, cards: SystemExtras['cards']): SystemInterface {
  if (cards instanceof Error) return { ...link, wake_on_lan: null, wake_on_lan_reason: cards.message };
  const card = cards.find(({ name }) => name === link.name);
  if (card === undefined)
    return {
      ...link,
      wake_on_lan: null,
      wake_on_lan_reason: 'it is not a network card: it has no hardware of its own',
    };
  const { isEnabled: enabled, supported, armed, failure } = card;
  return {
    ...link,
    wake_on_lan: enabled === null ? null : { enabled, supported, armed },
    wake_on_lan_reason: failure,
  };
}

/** The same, with the keys of `detail=1`. */
export function deriveSystemDetail(
  info: SystemInfo,
  sample: Sample,
  service: ServiceFacts,
  { capabilities, cards }: SystemExtras,
): SystemDetail {
  return {
    ...deriveSystem(info, sample, service),
    gpus: sample.gpu?.detail?.devices ?? [],
    interfaces: (sample.network?.detail?.interfaces ?? []).map((link) => withWakeOnLan(link, cards)),
    batteries: sample.extras?.batteries ?? [],
    boot_time: sample.timestamp - sample.uptime,
    service: {
      version: service.version,
      pid: service.pid,
      started_at: service.startedAt,
      node: service.node,
    },
    capabilities,
  };
}
