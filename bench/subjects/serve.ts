/** The command loop of a process under test that runs on Node: reads commands, writes CPU times. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

// Counts microseconds, which the kernel derives from the scheduler's nanoseconds, of all threads, including
// ended ones.
function ownCpuNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** CPU time of ended children in nanoseconds, counted in ticks of 10 ms (fields 16 and 17 of proc_pid_stat(5)). */
function childrenCpuNs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 1e7;
}

/** `run` runs `count` rounds, one per `intervalMs` (0: back to back). `withChildren`: started processes count too. */
export function serve(
  run: (count: number, intervalMs: number) => Promise<void>,
  withChildren: boolean = false,
): void {
  const cpuNs = () => ownCpuNs() + (withChildren ? childrenCpuNs() : 0);
  const obey = async () => {
    for await (const line of createInterface(process.stdin)) {
      const [count = 0, intervalNs = 0] = line.split(' ').map(Number);
      const before = cpuNs();
      await run(count, intervalNs / 1e6);
      process.stdout.write(`${cpuNs() - before}\n`);
    }
  };
  void obey().then(() => process.exit(0));
}

/** Calls `act` `count` times on absolute deadlines; waits for the next deadline after each call has settled. */
export async function pace(count: number, intervalMs: number, act: () => unknown): Promise<void> {
  let deadline = performance.now();
  for (let done = 0; done < count; done++) {
    deadline += intervalMs;
    const delay = deadline - performance.now();
    if (intervalMs > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    await act();
  }
}
