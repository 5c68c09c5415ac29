/** A private system bus with a scripted mock of logind: both end with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { PATIENCE_MS } from '../limits.ts';
import { until as untilFound } from '../until.ts';
import { end, keep, startDaemon } from './daemon.ts';

const PYTHON = '/usr/bin/python3';
const TEMPLATES = path.resolve(import.meta.dirname, '../../../../../test/helpers/dbus');

/** The reason why this machine cannot run them; false if it can. */
export function missingForBus(): string | false {
  if (process.platform !== 'linux') return 'for Linux';
  if (!existsSync('/usr/bin/dbus-daemon')) return 'no dbus-daemon (apt-get install dbus-daemon)';
  if (!existsSync('/usr/lib/python3/dist-packages/dbusmock/__init__.py'))
    return 'no dbusmock (apt-get install python3-dbusmock)';
  return false;
}

/** The parameters of logind_mock.py; each has a default. */
export interface LogindOptions {
  readonly CanPowerOff?: string;
  readonly CanReboot?: string;
  readonly CanSuspend?: string;
  readonly CanHibernate?: string;
  /** The flags that …WithFlags accepts: 16 and 0, or only 0; none: there are no such methods. */
  readonly flags?: 'all' | 'zero' | 'none';
  /** what, who, why, mode, uid */
  readonly inhibitors?: readonly (readonly [string, string, string, string, number])[];
  /** id, uid, seat */
  readonly sessions?: readonly (readonly [string, number, string])[];
  /** Seconds from PrepareForSleep(true) to (false) after a sleep; absent: neither is sent. */
  readonly sleepSeconds?: number;
  /** File to which inhibitors, sleeps and shutdowns are written, one JSON object per line; they then wait for delays. */
  readonly journal?: string;
  /** Shutdowns are announced with their type, too (systemd 255). */
  readonly typed?: boolean;
  /** Name of the error that refuses every act. */
  readonly refusal?: string;
}

const configuration = (address: string) => `<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
  </policy>
</busconfig>
`;

/** Waits until `isTrue`; throws after `limitMs`. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>, limitMs = PATIENCE_MS) {
  await untilFound(isTrue, what, limitMs);
}

export class PrivateBus {
  /** Open to every user, so that another user can connect. */
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-bus-'));
  readonly socket = path.join(this.folder, 'bus');
  readonly address = `unix:path=${this.socket}`;
  #daemon: ChildProcess | undefined;
  #logind: ChildProcess | undefined;
  #manager: ChildProcess | undefined;

  static async start(): Promise<PrivateBus> {
    const bus = new PrivateBus();
    chmodSync(bus.folder, 0o755);
    writeFileSync(path.join(bus.folder, 'bus.conf'), configuration(bus.address));
    await bus.restart();
    return bus;
  }

  get logindPid(): number {
    return this.#logind?.pid ?? 0;
  }

  /** Starts the daemon (again), at the same address. */
  async restart(): Promise<void> {
    await this.kill();
    rmSync(this.socket, { force: true });
    this.#daemon = await startDaemon(path.join(this.folder, 'bus.conf'));
  }

  /** Kills the daemon, and thereby every connection to it. */
  async kill(): Promise<void> {
    await end(this.#daemon);
  }

  /** Starts a logind on the bus, in place of the previous one. */
  async startLogind(options: LogindOptions = {}): Promise<void> {
    await end(this.#logind);
    this.#logind = await this.#startMock('logind', options);
  }

  /** Starts a mock of systemd's manager on the bus, for a machine without logind. */
  async startManager(): Promise<void> {
    this.#manager = await this.#startMock('systemd', {});
  }

  async #startMock(name: string, parameters: object): Promise<ChildProcess> {
    const template = path.join(TEMPLATES, `${name}_mock.py`);
    const args = ['-m', 'dbusmock', '--system', '--template', template];
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', DBUS_SYSTEM_BUS_ADDRESS: this.address };
    const mock = keep(
      spawn(PYTHON, [...args, '--parameters', JSON.stringify(parameters)], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    let said = '';
    for (const stream of [mock.stdout, mock.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        said += part;
      });
    await until(`the mock of ${name}`, () => {
      if (mock.exitCode !== null) throw new Error(`the mock of ${name} ended: ${said}`);
      return said.includes(`mock of ${name} is ready`);
    });
    return mock;
  }

  async stopLogind(): Promise<void> {
    await end(this.#logind);
  }

  async stop(): Promise<void> {
    await end(this.#logind);
    await end(this.#manager);
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
