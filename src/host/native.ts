/** The only loader of the addon: finds it, explains why it cannot be used, and types its exports. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../errors.ts';
import { PROGRAM_URL } from '../program-url.ts';
import { describeMachine, type HostDescription } from './describe.ts';
import type { Announced, DiscoveryHost } from './discovery.ts';
import type { Capability, Describer, Finding } from './finding.ts';
import type { Host } from './host.ts';
import { type NativeMedia, openMedia } from './native-media.ts';
import type { PowerHost, PowerNotice } from './power.ts';
import type { ProcessHost } from './processes.ts';
import type { PausedPolls, SendMethod, StreamHost, StreamWriter } from './streams.ts';
import type { WakeHost } from './wake.ts';
import type { WindowsService } from './windows-service.ts';

/** Roots of the kernel's files; a test or a container names others. */
export interface Roots {
  readonly proc?: string;
  readonly sys?: string;
  /** Prefix of every other path; for fixtures. */
  readonly files?: string;
  /** NVIDIA's library, in place of the platform's own; for tests. */
  readonly nvml?: string;
  /** The first delay after a failure of a graphics driver (1000), and the interval of searches for devices (30000). */
  readonly gpuRetryMs?: number;
  readonly gpuDiscoveryMs?: number;
  /** Maximum age of a failing device's last values (10000), and how long one idles before it is left alone (10000). */
  readonly gpuMaxAgeMs?: number;
  readonly gpuIdleMs?: number;
}

/** The machine as the addon sees it. */
export interface NativeMachine extends Host {
  readonly discovery: DiscoveryHost;
  /**
   * Returns the reports of each reader and each capability about itself. Takes at least 0.4 s, so that probers can
   * answer, and a few seconds if some answer late. `without`: capabilities that must not be asked.
   */
  describe(without?: ReadonlySet<Capability>): Promise<readonly Finding[]>;
}

type NativeHost = WakeHost &
  Pick<Host, 'readCounters' | 'readSystem' | 'readMetrics'> & { describe(): HostDescription };

/** The command thread, from which others are made; it does not run before it is needed. */
type NativeControls = object;

type NativePower = Omit<PowerHost, 'onNotice'> & Describer;
type NativeProcesses = ProcessHost & Describer;
type NativeDiscovery = Omit<DiscoveryHost, 'onNews'> & Describer;

interface Addon
  extends NativeProcess,
    Pick<
      Host,
      'sinceBootMs' | 'tuneListener' | 'descriptorLimit' | 'openDescriptors' | 'trimHeap' | 'readConnections'
    > {
  readonly Host: new (roots: Roots) => NativeHost;
  readonly Controls: new () => NativeControls;
  readonly Media: new (controls: NativeControls, roots: Roots, onNews: () => void) => NativeMedia;
  readonly Power: new (
    controls: NativeControls,
    onNotice: (notice: PowerNotice | null) => void,
  ) => NativePower;
  readonly Discovery: new (
    controls: NativeControls,
    onNews: (announced: readonly Announced[]) => void,
  ) => NativeDiscovery;
  readonly Processes: new (roots: Roots) => NativeProcesses;
  readonly Streams: new (...args: Parameters<StreamHost['start']>) => StreamWriter;
  readonly PausedPolls: new () => PausedPolls;
  canOwnStreams(): boolean;
  findSendMethod(): SendMethod;
  machineDataFolder(): string | undefined;
  beginService(controls: NativeControls, onStop: () => void): Promise<void>;
  reportServiceRunning(): void;
  reportServiceEnded(exitCode: number): void;
  installService(command: readonly string[]): readonly string[];
  removeService(): void;
}

/**
 * An addon that was built for this platform on another machine has a folder of its own; one that was built here
 * precedes the prebuilt one of the package.
 */
function findAddon(): string {
  const own = `${platform()}-${arch()}/hostwire.node`;
  const places = [own, 'hostwire.node', `../prebuilds/${own}`].map((name) =>
    fileURLToPath(new URL(name, PROGRAM_URL)),
  );
  return places.find((file) => existsSync(file)) ?? fileURLToPath(new URL('hostwire.node', PROGRAM_URL));
}

/**
 * `reason`: the loader's own, which names the versions of the C library that the addon needs and does not
 * find.
 */
export function explainLoadFailure(reason: string): string {
  const [, version] = /version [`'"]?GLIBC_([\d.]+)'? not found/.exec(reason) ?? [];
  if (version === undefined)
    return `the native addon cannot be loaded; build it with "npm run build" (${reason})`;
  return (
    `the native addon needs glibc ${version} or later, and this system has an older one: use a package with the ` +
    `prebuilt addon, which needs 2.31, or build the addon here with "npm run build" (${reason})`
  );
}

function loadAddon(): Addon {
  const path = findAddon();
  try {
    // The addon's exports are written by hand in native/addon.cc; this is where they get their type.
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    throw new Error(explainLoadFailure(messageOf(error)));
  }
}

function openPower(addon: Addon, controls: NativeControls): PowerHost & Describer {
  const listeners = new Set<(notice: PowerNotice | null) => void>();
  const power = new addon.Power(controls, (notice) => {
    for (const listener of listeners) listener(notice);
  });
  return {
    support: (act) => power.support(act),
    act: (act) => power.act(act),
    inhibitors: () => power.inhibitors(),
    delaySleep: (why) => power.delaySleep(why),
    allowSleep: () => power.allowSleep(),
    describe: () => power.describe(),
    onNotice(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function openDiscovery(addon: Addon, controls: NativeControls): DiscoveryHost & Describer {
  let listener: (announced: readonly Announced[]) => void = () => undefined;
  const discovery = new addon.Discovery(controls, (announced) => listener(announced));
  return {
    announce: (list) => discovery.announce(list),
    describe: () => discovery.describe(),
    onNews: (next) => {
      listener = next;
    },
  };
}

function openStreams(addon: Addon): { readonly streams?: StreamHost } {
  if (!addon.canOwnStreams()) return {};
  return {
    streams: {
      start: (options, onNews) => new addon.Streams(options, onNews),
      findMethod: () => addon.findSendMethod(),
      openPolls: () => new addon.PausedPolls(),
    },
  };
}

/** Shares an answer in progress among callers: each question takes a thread, and the maximum is 32. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** Opens the machine seen through `roots`. Throws an Error with a sentence when the addon cannot be loaded. */
export function openNativeHost(roots: Roots = {}): NativeMachine {
  const addon = loadAddon();
  const host = new addon.Host(roots);
  const controls = new addon.Controls();
  const media = openMedia((onNews) => new addon.Media(controls, roots, onNews));
  const power = openPower(addon, controls);
  const discovery = openDiscovery(addon, controls);
  const processes = new addon.Processes(roots);
  return {
    readCounters: (...asked) => host.readCounters(...asked),
    describe: (without = new Set()) =>
      describeMachine(() => host.describe(), { processes, power, media, discovery }, without),
    readSystem: shared(() => host.readSystem()),
    readBroadcastAddresses: shared(() => host.readBroadcastAddresses()),
    readWakeOnLan: shared(() => host.readWakeOnLan()),
    readMetrics: () => host.readMetrics(),
    sinceBootMs: () => addon.sinceBootMs(),
    tuneListener: (port, options) => addon.tuneListener(port, options),
    descriptorLimit: () => addon.descriptorLimit(),
    openDescriptors: () => addon.openDescriptors(),
    trimHeap: () => addon.trimHeap(),
    readConnections: (port) => addon.readConnections(port),
    ...openStreams(addon),
    discovery,
    media,
    power,
    processes,
  };
}

/** Opens only the processes of that machine. Fails as openNativeHost. */
export function openNativeProcesses(roots: Roots = {}): ProcessHost {
  const addon = loadAddon();
  return new addon.Processes(roots);
}

/** Fails as openNativeHost. */
export function openWindowsService(): WindowsService {
  const addon = loadAddon();
  return {
    begin: (onStop) => addon.beginService(new addon.Controls(), onStop),
    running: () => addon.reportServiceRunning(),
    ended: (exitCode) => addon.reportServiceEnded(exitCode),
    install: (command) => addon.installService(command),
    remove: () => addon.removeService(),
  };
}

/** A process that listens on a port. */
export interface PortHolder {
  readonly pid: number;
  readonly name: string;
}

/** The process's own streams and signals. */
export interface NativeProcess {
  /**
   * Writes as many of the first bytes to standard output or error as it accepts without waiting, and returns their
   * number. Throws when writing is impossible: its reader has gone, its terminal was closed, the disk is full.
   */
  writeAtOnce(stream: 1 | 2, bytes: Buffer): number;
  /** Ignores SIGUSR1, on which Node opens its inspector, and SIGTTOU. */
  ignoreStraySignals(): void;
  /** Ends this process with SIGTERM when its parent ends (Linux). */
  endWithParent(): void;
  /** Must be called before the process ends: Node 20 aborts if its terminal was closed. */
  releaseClosedTerminal(): void;
  /** Ends the process immediately. Node's own exit waits for its workers, also for one that hangs in the kernel. */
  exitNow(code: number): void;
  /** Returns the process that listens on `port`; undefined: another user's, or unknown. Reads for milliseconds. */
  findPortHolder(port: number): PortHolder | undefined;
}

/** Fails as openNativeHost. */
export function openNativeProcess(): NativeProcess {
  return loadAddon();
}

/**
 * Returns the folder of Windows for programs' settings for all users; undefined on other platforms, and if the addon
 * cannot be loaded.
 */
export function findMachineDataFolder(): string | undefined {
  try {
    return loadAddon().machineDataFolder();
  } catch {
    // The next use of the addon reports why it cannot be loaded.
    return undefined;
  }
}
