/** A network namespace without hardware, and the far ends of its cables in another one. Needs root. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import type { Test } from 'tap';

const NO_ANSWER = 'net.ipv6.conf.default.disable_ipv6=1';

export interface Bytes {
  readonly sent: number;
  readonly received: number;
}

function run(command: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', input });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

let count = 0;

export class WiredNamespace {
  readonly #box = `hostwire-box-${process.pid}-${count}`;
  readonly #wall = `hostwire-wall-${process.pid}-${count++}`;
  /** Traffic of the removed cables. */
  #removed = { sent: 0, received: 0 };

  /** Neighbours are asked for nothing: only the test's own packets pass. */
  constructor(t: Test) {
    t.teardown(() => {
      for (const name of [this.#box, this.#wall])
        spawnSync('ip', ['netns', 'delete', name], { stdio: 'ignore' });
    });
    for (const name of [this.#box, this.#wall]) {
      run('ip', ['netns', 'add', name]);
      run('ip', ['netns', 'exec', name, 'sysctl', '-qw', NO_ANSWER]);
    }
    this.ip('link', 'set', 'lo', 'up');
  }

  /** Inside the namespace. */
  ip(...args: readonly string[]): string {
    return run('ip', ['-n', this.#box, ...args]);
  }

  /** The words before a command that runs inside. */
  get inside(): readonly string[] {
    return ['netns', 'exec', this.#box];
  }

  /** Adds `pairs` of veth interfaces, which carry nothing. */
  crowd(pairs: number): void {
    const lines = Array.from(
      { length: pairs },
      (_, at) => `link add c${at} group 7 type veth peer name d${at}\n`,
    );
    run('ip', ['-n', this.#box, '-batch', '-'], lines.join(''));
  }

  /** Removes all of them in one call. */
  disperse(): void {
    this.ip('link', 'delete', 'group', '7');
  }

  spawn(command: string, ...args: readonly string[]): ChildProcess {
    return spawn('ip', ['netns', 'exec', this.#box, command, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  /** Changes the packet filter inside. */
  nft(command: string): void {
    run('ip', ['netns', 'exec', this.#box, 'nft', command]);
  }

  /** As spawn, at the far ends of the cables. */
  spawnFar(command: string, ...args: readonly string[]): ChildProcess {
    return spawn('ip', ['netns', 'exec', this.#wall, command, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** Whether this kernel has interfaces of `type`. */
  canHave(type: string, ...options: readonly string[]): boolean {
    const name = 'trial';
    const made = spawnSync('ip', [
      '-n',
      this.#box,
      'link',
      'add',
      name,
      ...options,
      'type',
      type,
      ...(type === 'vlan' ? ['id', '9'] : []),
    ]);
    if (made.status === 0) this.ip('link', 'delete', name);
    return made.status === 0;
  }

  /** A cable to the wall, where its end is called `far`. */
  plug(name: string, far: string): void {
    this.ip('link', 'add', name, 'type', 'veth', 'peer', 'name', far, 'netns', this.#wall);
    this.ip('link', 'set', name, 'up');
    run('ip', ['-n', this.#wall, 'link', 'set', far, 'up']);
  }

  unplug(name: string, far: string): void {
    const { sent, received } = this.#carriedBy(far);
    this.#removed = { sent: this.#removed.sent + sent, received: this.#removed.received + received };
    this.ip('link', 'delete', name);
  }

  /** Sends `packets` UDP packets of `bytes` each through `name`, which has no address afterwards either. */
  send(name: string, packets: number, bytes: number): void {
    this.ip('address', 'add', '198.18.0.1/24', 'dev', name);
    this.ip('neighbor', 'replace', '198.18.0.2', 'lladdr', '02:00:00:00:00:02', 'dev', name);
    const program = `const s = require('node:dgram').createSocket('udp4'); let left = ${packets};
      const next = () => left-- > 0 ? s.send(Buffer.alloc(${bytes}), 9, '198.18.0.2', next) : s.close(); next();`;
    run('ip', ['netns', 'exec', this.#box, process.execPath, '-e', program]);
    this.ip('address', 'flush', 'dev', name);
  }

  /** All that ever passed the cables, as their far ends counted it. */
  carried(): Bytes {
    const ends = JSON.parse(
      run('ip', ['-n', this.#wall, '-json', 'link', 'show', 'type', 'veth']),
    ) as readonly {
      readonly ifname: string;
    }[];
    let { sent, received } = this.#removed;
    for (const { ifname } of ends) {
      const bytes = this.#carriedBy(ifname);
      sent += bytes.sent;
      received += bytes.received;
    }
    return { sent, received };
  }

  #carriedBy(far: string): Bytes {
    const at = `/sys/class/net/${far}/statistics`;
    const [sent, received] = run('ip', [
      'netns',
      'exec',
      this.#wall,
      'cat',
      `${at}/rx_bytes`,
      `${at}/tx_bytes`,
    ])
      .trim()
      .split('\n')
      .map(Number);
    if (sent === undefined || received === undefined) throw new Error(`no counters of ${far}`);
    return { sent, received };
  }
}

/** The reason why there can be none on this machine; false if there can be one. */
export function reasonAgainstNamespace(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, for a network namespace';
  const made = spawnSync(
    'unshare',
    ['--net', 'ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far'],
    {
      encoding: 'utf8',
    },
  );
  return made.status === 0
    ? false
    : `needs network namespaces and veth: ${made.error?.message ?? made.stderr}`;
}
