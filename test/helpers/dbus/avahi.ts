/** A real avahi-daemon on a private bus, in a network of the test's own. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LanHost } from '../machine/lan.ts';
import { missingForBus, type PrivateBus, until } from './bus.ts';

const DAEMON = '/usr/sbin/avahi-daemon';

/** The reason why this machine cannot run it; false if it can. */
export function missingForAvahi(): string | false {
  if (!existsSync(DAEMON)) return 'no avahi-daemon (apt-get install avahi-daemon)';
  if (!existsSync('/usr/bin/avahi-browse')) return 'no avahi-browse (apt-get install avahi-utils)';
  return missingForBus();
}

export interface AvahiOptions {
  readonly hostName: string;
  /** Lines of the section [publish]. */
  readonly publish?: string;
}

export class Avahi {
  readonly #host: LanHost;
  readonly #bus: PrivateBus;
  readonly #file: string;
  #child: ChildProcess | undefined;

  constructor(host: LanHost, bus: PrivateBus) {
    this.#host = host;
    this.#bus = bus;
    this.#file = path.join(bus.folder, 'avahi.conf');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /**
   * Resolves when it has its host name. Its folder in /run is not the machine's. Not on the loopback interface: a name
   * that was given up after a collision stays in the cache there, and avahi-browse waits five seconds for it, every time.
   * Over IPv4 its address is one of IPv4.
   */
  async start({ hostName, publish = '' }: AvahiOptions): Promise<void> {
    writeFileSync(
      this.#file,
      `[server]\nhost-name=${hostName}\nallow-interfaces=eth0\n[publish]\npublish-workstation=no\npublish-aaaa-on-ipv4=no\n${publish}\n`,
    );
    const command = `mount -t tmpfs none /run && exec ${DAEMON} --no-drop-root --no-chroot --no-rlimits -f ${this.#file}`;
    const child = this.#host.start('/bin/sh', ['-c', command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DBUS_SYSTEM_BUS_ADDRESS: this.#bus.address },
    });
    this.#child = child;
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        said += part;
      });
    await until(`avahi-daemon as ${hostName}`, () => {
      if (child.exitCode !== null) throw new Error(`avahi-daemon ended with ${child.exitCode}: ${said}`);
      return said.includes('Server startup complete');
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

/** A service that avahi-browse reports. */
export interface Seen {
  readonly name: string;
  readonly hostName: string;
  readonly address: string;
  readonly port: number;
  readonly texts: readonly string[];
}

export async function browseWithAvahi(host: LanHost, bus: PrivateBus): Promise<readonly Seen[]> {
  const printed = await host.run('avahi-browse', ['-r', '-p', '-t', '_hostwire._tcp'], {
    DBUS_SYSTEM_BUS_ADDRESS: bus.address,
  });
  return printed.split('\n').flatMap((line) => {
    // =;eth0;IPv4;name;_hostwire._tcp;local;host.local;198.18.255.1;9990;"txtvers=1" "id=…"
    const [mark, , protocol, name = '', , , hostName = '', address = '', port, texts = ''] = line.split(';');
    if (mark !== '=' || protocol !== 'IPv4') return [];
    // Bytes other than letters and digits are written as \032.
    const plain = name.replaceAll(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number(code)));
    const list = [...texts.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
    return [{ name: plain, hostName, address, port: Number(port), texts: list }];
  });
}
