/** The service as a program whose event loop is measured from inside: see loop-probe.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ConfigPart, type ServiceProcess, startService } from './service.ts';

const PROBE = new URL('./loop-probe.js', import.meta.url).href;

export interface PreloadedService extends ServiceProcess {
  /** Asks the module over the IPC channel, and returns its answer. */
  readonly askProbe: (what: string) => Promise<unknown>;
}

/** Starts the service with a module in it that can collect garbage and answers over the IPC channel. */
export async function startPreloaded(
  { start = spawn, ...options }: NonNullable<Parameters<typeof startService>[0]>,
  probe = PROBE,
): Promise<PreloadedService> {
  let child: ChildProcess | undefined;
  const service = await startService({
    ...options,
    start: (command, args, how) => {
      const stdio: ('ignore' | 'ipc' | 'pipe')[] = ['ignore', 'ignore', 'pipe', 'ipc'];
      child = start(command, ['--expose-gc', '--import', probe, ...args], { ...how, stdio });
      return child;
    },
  });
  return {
    ...service,
    async askProbe(what) {
      if (child === undefined) throw new Error('the service was not started');
      const answer = once(child, 'message');
      child.send(what);
      const [message] = await answer;
      return message;
    },
  };
}

/** The time that callbacks held the event loop since the previous request. */
export interface Holds {
  readonly longestMs: number;
  readonly longestCpuMs: number;
  readonly holds: number;
}

export interface ProbedService extends ServiceProcess {
  readonly readHolds: () => Promise<Holds>;
  /** Collects garbage; returns the remaining size of the heap. */
  readonly collect: () => Promise<{ readonly heapUsedBytes: number }>;
}

export async function startProbed(
  config: ConfigPart = {},
  host = '127.0.0.1',
  args: readonly string[] = [],
): Promise<ProbedService> {
  const service = await startPreloaded({ config, host, args });
  // loop-probe.ts answers each request with its own shape.
  return {
    ...service,
    readHolds: async () => (await service.askProbe('report')) as Holds,
    collect: async () => (await service.askProbe('collect')) as { readonly heapUsedBytes: number },
  };
}
