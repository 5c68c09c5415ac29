/** Root filesystems of Debian releases, made of packages, to install in as users do and to remove without a trace. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../helpers/service/free-port.ts';
import { kept } from '../vm/image.ts';

/** Why no such filesystem can be made here, or a test with `commands` cannot run; undefined where it can. */
export function whyNoRoot(...commands: readonly string[]): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'for Linux on x64';
  if (process.getuid?.() !== 0) return 'needs root, for a chroot';
  const missing = ['mmdebstrap', 'unshare', 'xz', ...commands].filter(
    (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}`;
}

/**
 * Mounts what a chroot needs, in a mount namespace that ends with the command; tools for containers want / to be a
 * mount. Arguments: the folder, and the command in it.
 */
const ENTER = `set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/run"
exec chroot "$@"`;

/** No bus, and a service that only records power actions. */
const SAFE = {
  PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  DEBIAN_FRONTEND: 'noninteractive',
  HOSTWIRE_POWER_BACKEND: 'record',
  DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
} as const;

export interface Served {
  /** From the start of the program to the whole first event of /api/stream. */
  readonly firstEventMs: number;
  readonly event: string;
  readonly log: string;
  /** After SIGTERM. */
  readonly exitCode: number | null;
}

/** Reads the stream at `port` until its first event, connecting again while nothing listens. */
async function readFirstEvent(port: number, child: ChildProcess): Promise<string> {
  for (;;) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/stream`).catch(() => undefined);
    if (reply?.body) {
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of reply.body) {
        text += decoder.decode(chunk, { stream: true });
        const event = /^data: (.*)\n\n/m.exec(text)?.[1];
        if (event !== undefined) return event;
      }
    }
    if (child.exitCode !== null) throw new Error('the service has ended');
    await sleep(5);
  }
}

/** Returns the files of `after` that are new or changed, and those of `before` that are gone. */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  return [
    ...[...after].filter(([file, facts]) => before.get(file) !== facts).map(([file]) => `+ ${file}`),
    ...[...before.keys()].filter((file) => !after.has(file)).map((file) => `- ${file}`),
  ];
}

export class DebianRoot {
  readonly folder: string;
  readonly release: string;

  /** With the essential packages of `release`, apt and `packages`; kept for a week as an archive. */
  constructor(release: string, packages: readonly string[] = []) {
    this.release = release;
    const archive = kept(`root-${[release, ...packages].join('-')}.tar`, (target) => {
      const include = packages.length === 0 ? [] : [`--include=${packages.join(',')}`];
      execFileSync('mmdebstrap', ['--variant=minbase', '--format=tar', ...include, release, target], {
        stdio: 'pipe',
      });
    });
    this.folder = mkdtempSync(path.join(os.tmpdir(), `hostwire-${release}-`));
    execFileSync('tar', ['-x', '-C', this.folder, '--exclude=./dev/*', '-f', archive]);
    mkdirSync(path.join(this.folder, 'media/test'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A place for files of the test, by its path outside; inside it is /media/test. */
  get shared(): string {
    return path.join(this.folder, 'media/test');
  }

  /** Copies `file` there under `name`. */
  add(file: string, name: string): void {
    copyFileSync(file, path.join(this.shared, name));
  }

  #arguments(command: readonly string[]): readonly string[] {
    return ['--mount', '--propagation', 'private', 'sh', '-c', ENTER, 'sh', this.folder, ...command];
  }

  /** Runs a shell script inside; returns what it printed, or throws it. */
  run(script: string): string {
    const { status, stdout, stderr } = spawnSync('unshare', this.#arguments(['sh', '-ec', script]), {
      env: SAFE,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    });
    if (status !== 0) throw new Error(`${script}: exit code ${status}\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** As `run`, with the seconds that it took. */
  timed(script: string): { readonly seconds: string; readonly text: string } {
    const start = performance.now();
    const text = this.run(script);
    return { text, seconds: ((performance.now() - start) / 1000).toFixed(1) };
  }

  /**
   * Every file with its type, mode, owner, target and content; without what apt, dpkg and the tools for users write for
   * themselves: logs, caches, and the copies of their files before a change.
   */
  list(): ReadonlyMap<string, string> {
    const own = [
      ...['/proc', '/sys', '/dev', '/run', '/tmp', '/media/test', '/var/cache', '/var/log', '/var/lib/apt'],
      ...['/var/lib/dpkg/status*', '/var/lib/dpkg/lock*', '/var/lib/dpkg/info/format'],
      ...['/etc/passwd-', '/etc/group-', '/etc/shadow-', '/etc/gshadow-'],
    ];
    const prune = own.map((file) => `-path '${file}'`).join(' -o ');
    const listed = this.run(
      `find / -xdev \\( ${prune} \\) -prune -o -printf '%p\\t%y %m %u %g %l\\n'
      find / -xdev \\( ${prune} \\) -prune -o -type f -printf '%p\\0' | xargs -0 sha256sum`,
    );
    const files = new Map<string, string>();
    for (const line of listed.trimEnd().split('\n')) {
      const [, digest, summed] = /^([0-9a-f]{64}) {2}(.*)$/.exec(line) ?? [];
      const [file = '', facts = ''] = line.split('\t');
      if (digest !== undefined && summed !== undefined) files.set(summed, `${files.get(summed)} ${digest}`);
      else files.set(file, facts);
    }
    return files;
  }

  /** Starts `command` inside, reads the first event and stops it. */
  async serve(command: readonly string[]): Promise<Served> {
    const port = await findFreePort();
    const start = performance.now();
    const child = spawn(
      'unshare',
      this.#arguments([...command, '--host', '127.0.0.1', '--port', String(port)]),
      {
        env: SAFE,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    try {
      const event = await readFirstEvent(port, child).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${log}`);
      });
      const firstEventMs = performance.now() - start;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [exitCode] = (await ended) as [number | null]; // As 'exit' is emitted.
      return { firstEventMs, event, log, exitCode };
    } finally {
      child.kill('SIGKILL');
    }
  }
}
