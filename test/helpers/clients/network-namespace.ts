/** Peers on a cable that can be cut: a network namespace behind a pair of virtual interfaces. Needs root. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import type { Test } from 'tap';

export interface Cable {
  /** This side's address. */
  readonly address: string;
  /** That of the other side. */
  readonly far: string;
  /** Starts a program on the other side. */
  readonly start: (command: string, args: readonly string[], how: SpawnOptions) => ChildProcess;
  /** The same, with pipes to its input and output. */
  readonly spawn: (command: string, ...args: readonly string[]) => ChildProcess;
  /** Drops all packets from and to the other side. */
  readonly cut: () => void;
  /** Lets packets pass again. */
  readonly mend: () => void;
}

function run(command: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

let count = 0;

function lay(): Cable & { readonly remove: () => void } {
  const id = `${process.pid}-${count}`;
  const [name, here, there] = [`hostwire-${id}`, `hwa${id}`, `hwb${id}`];
  // 198.18.0.0/15 is reserved for benchmarks between networks (RFC 2544). Four addresses per cable.
  const first = 4 * ((process.pid * 4 + count++) % 32_768);
  const at = (offset: number) => `198.${18 + (first >> 16)}.${(first >> 8) & 255}.${(first & 255) + offset}`;
  const inside = ['netns', 'exec', name];
  run('ip', 'netns', 'add', name);
  run('ip', 'link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
  run('ip', 'address', 'add', `${at(1)}/30`, 'dev', here);
  run('ip', 'link', 'set', here, 'up');
  run('ip', '-n', name, 'address', 'add', `${at(2)}/30`, 'dev', there);
  for (const link of ['lo', there]) run('ip', '-n', name, 'link', 'set', link, 'up');
  const nft = (rule: string) => run('ip', ...inside, 'nft', rule);
  return {
    address: at(1),
    far: at(2),
    start: (command, args, how) => spawn('ip', [...inside, command, ...args], how),
    spawn: (command, ...args) =>
      spawn('ip', [...inside, command, ...args], { stdio: ['pipe', 'pipe', 'inherit'] }),
    cut() {
      nft('add table inet cable');
      for (const hook of ['input', 'output'])
        nft(`add chain inet cable ${hook} { type filter hook ${hook} priority 0; policy drop; }`);
    },
    mend: () => nft('delete table inet cable'),
    remove() {
      spawnSync('ip', ['link', 'delete', here], { stdio: 'ignore' });
      spawnSync('ip', ['netns', 'delete', name], { stdio: 'ignore' });
    },
  };
}

/** A cable for one test; removed when the test ends. */
export function layCable(t: Test): Cable {
  const { remove, ...cable } = lay();
  t.teardown(remove);
  return cable;
}

/** The reason why no cable can be made on this machine; false if one can. */
export function reasonAgainstCable(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, for a network namespace';
  try {
    const { cut, remove } = lay();
    try {
      cut();
    } finally {
      remove();
    }
    return false;
  } catch (error) {
    return `needs a network namespace, virtual interfaces and nft: ${error instanceof Error ? error.message : error}`;
  }
}
