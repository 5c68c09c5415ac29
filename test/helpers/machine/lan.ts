/** Several machines on one switch: network namespaces, each with an address. Needs root. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import type { Test } from 'tap';

function ip(...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${error?.message ?? stderr}`);
}

/** One of the machines. */
export interface LanHost {
  readonly address: string;
  /** Starts a program there. */
  readonly start: (command: string, args: readonly string[], how: SpawnOptions) => ChildProcess;
  /** Runs one there to its end, and returns what it printed; rejects when it fails. */
  readonly run: (
    command: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<string>;
}

let count = 0;

/** `size` machines: 198.18.255.1, .2 and so on. Nothing of them is seen outside, and all end with the test. */
export function startLan(t: Test, size: number): readonly LanHost[] {
  const prefix = `hostwire-lan-${process.pid}-${count++}`;
  const nameOf = (at: number | 'switch') => `${prefix}-${at}`;
  const hub = nameOf('switch');
  const names = [hub, ...Array.from({ length: size }, (_, at) => nameOf(at))];
  t.teardown(() => {
    for (const name of names) spawnSync('ip', ['netns', 'delete', name], { stdio: 'ignore' });
  });
  for (const name of names) ip('netns', 'add', name);
  ip('-n', hub, 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '0');
  ip('-n', hub, 'link', 'set', 'br0', 'up');
  return Array.from({ length: size }, (_, at) => {
    const name = nameOf(at);
    const address = `198.18.255.${at + 1}`;
    ip('-n', name, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', `port${at}`, 'netns', hub);
    ip('-n', hub, 'link', 'set', `port${at}`, 'master', 'br0', 'up');
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    for (const link of ['lo', 'eth0']) ip('-n', name, 'link', 'set', link, 'up');
    const start = (command: string, args: readonly string[], how: SpawnOptions): ChildProcess => {
      const child = spawn('ip', ['netns', 'exec', name, command, ...args], how);
      t.teardown(() => child.kill('SIGKILL'));
      return child;
    };
    return { address, start, run: (command, args, env) => finish(start, command, args, env) };
  });
}

async function finish(
  start: LanHost['start'],
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = start(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    stdout += part;
  });
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`);
  return stdout;
}

/** The reason why there can be none on this machine; false if there can be one. */
export function reasonAgainstLan(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, for network namespaces';
  const script = 'ip link add br0 type bridge && ip link add near type veth peer name far';
  const { status, stderr, error } = spawnSync('unshare', ['--net', 'sh', '-c', script], { encoding: 'utf8' });
  return status === 0 ? false : `needs network namespaces, bridges and veth: ${error?.message ?? stderr}`;
}
