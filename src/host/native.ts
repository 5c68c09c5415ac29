/** The only loader of the addon: finds it, says clearly why it can't be used, and types what it exports. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Counters, Host, ListenerOptions, SystemInfo } from './host.ts';
import type { ProcessHost } from './processes.ts';

/** Where the kernel's files are; a test or a container names others. */
export interface Roots {
  readonly proc?: string;
  readonly sys?: string;
  /** Prefixed to every other path; for fixtures. */
  readonly files?: string;
}

interface NativeHost {
  readCounters(sections: number, withDetail: boolean, nextInMs: number): Counters;
  readSystem(): Promise<SystemInfo>;
}

interface Addon {
  readonly Host: new (roots: Roots) => NativeHost;
  readonly Processes: new (roots: Roots) => ProcessHost;
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
export function openNativeHost(roots: Roots = {}): Host {
  const addon = loadAddon();
  const host = new addon.Host(roots);
  return {
    readCounters: (sections, withDetail, nextInMs) => host.readCounters(sections, withDetail, nextInMs),
    readSystem: () => host.readSystem(),
    tuneListener: (port, options) => addon.tuneListener(port, options),
    descriptorLimit: () => addon.descriptorLimit(),
  };
}

/** The processes of that machine. As openNativeHost. */
export function openNativeProcesses(roots: Roots = {}): ProcessHost {
  const addon = loadAddon();
  return new addon.Processes(roots);
}
