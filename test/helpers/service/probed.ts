/** The service as a program whose event loop is measured from inside: see loop-probe.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ConfigPart, type ServiceProcess, startService } from './service.ts';

const PROBE = new URL('./loop-probe.js', import.meta.url).href;

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
  let child: ChildProcess | undefined;
  const service = await startService({
    config,
    host,
    args,
    start: (command, programArgs) => {
      child = spawn(command, ['--expose-gc', '--import', PROBE, ...programArgs], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      return child;
    },
  });
  const ask = async (what: 'report' | 'collect'): Promise<unknown> => {
    if (child === undefined) throw new Error('the service was not started');
    const answer = once(child, 'message');
    child.send(what);
    const [message] = await answer;
    return message;
  };
  // loop-probe.ts answers each request with its own shape.
  return {
    ...service,
    readHolds: async () => (await ask('report')) as Holds,
    collect: async () => (await ask('collect')) as { readonly heapUsedBytes: number },
  };
}
