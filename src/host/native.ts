/** The only loader of the addon: finds it, says clearly why it can't be used, and types what it exports. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Counters, GpuCounters, Host, ListenerOptions, SystemInfo } from './host.ts';

/** Where the kernel's files are; a test or a container names others. */
export interface Roots {
  readonly proc?: string;
  readonly sys?: string;
  /** Prefixed to every other path; for fixtures. */
  readonly files?: string;
  /** NVIDIA's library, in place of the platform's own; for tests. */
  readonly nvml?: string;
  /** The first wait after a failure of a graphics driver (1000), and how often devices are looked for (30000). */
  readonly gpuRetryMs?: number;
  readonly gpuDiscoveryMs?: number;
}

/** A graphics processor that was found, readable or not. */
export interface GpuFinding {
  /** On the bus: "0000:01:00.0". */
  readonly address: string;
  /** The kernel's driver; empty without one. */
  readonly driver: string;
  readonly state: 'read' | 'asleep' | 'waiting' | 'unreadable';
  /** Why it is unreadable, or partly so; else empty. */
  readonly reason: string;
  readonly counters: GpuCounters;
}

/** The machine as the addon knows it. */
export interface NativeMachine extends Host {
  /** As of the last reading of the gpu section. */
  describeGpus(): readonly GpuFinding[];
}

interface NativeHost {
  readCounters(sections: number, withDetail: boolean, nextInMs: number): Counters;
  describeGpus(): readonly GpuFinding[];
  readSystem(): Promise<SystemInfo>;
}

interface Addon {
  readonly Host: new (roots: Roots) => NativeHost;
  tuneListener(port: number, options: ListenerOptions): number;
  descriptorLimit(): number;
}

function loadAddon(): Addon {
  const path = fileURLToPath(new URL('../hostwire.node', import.meta.url));
  try {
    // The addon's exports are written by hand in native/addon.cc; this is where they get their type.
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the native addon can't be loaded; build it with "npm run build" (${reason})`);
  }
}

/** The machine seen through `roots`. Throws an Error with a sentence for people when the addon can't be loaded. */
export function openNativeHost(roots: Roots = {}): NativeMachine {
  const addon = loadAddon();
  const host = new addon.Host(roots);
  return {
    readCounters: (sections, withDetail, nextInMs) => host.readCounters(sections, withDetail, nextInMs),
    describeGpus: () => host.describeGpus(),
    readSystem: () => host.readSystem(),
    tuneListener: (port, options) => addon.tuneListener(port, options),
    descriptorLimit: () => addon.descriptorLimit(),
  };
}
