/** A machine that another program puts to sleep or shuts down: the mock of logind on a private bus, and its journal. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type LogindOptions, PrivateBus, until } from './bus.ts';

const execute = promisify(execFile);

/** A line of the journal; `atNs` is on the clock of process.hrtime. */
export interface SleepEvent {
  readonly atNs: bigint;
  readonly event: 'inhibit' | 'released' | 'prepare' | 'asleep' | 'off' | 'awake';
  /** An inhibitor's fields what, who, why and mode. */
  readonly words: readonly string[];
}

export class Sleeper {
  readonly bus: PrivateBus;

  private constructor(bus: PrivateBus) {
    this.bus = bus;
  }

  /** `sleepSeconds`: how long each sleep lasts. Ends with `t`. */
  static async start(
    t: { teardown(done: () => unknown): unknown },
    sleepSeconds = 0.2,
    options: LogindOptions = {},
  ): Promise<Sleeper> {
    const bus = await PrivateBus.start();
    t.teardown(() => bus.stop());
    const sleeper = new Sleeper(bus);
    await sleeper.restart(sleepSeconds, options);
    return sleeper;
  }

  /** Starts logind, in place of the one before. */
  async restart(sleepSeconds = 0.2, options: LogindOptions = {}): Promise<void> {
    await this.bus.startLogind({ ...options, sleepSeconds, journal: path.join(this.bus.folder, 'journal') });
  }

  get events(): readonly SleepEvent[] {
    let text = '';
    try {
      text = readFileSync(path.join(this.bus.folder, 'journal'), 'utf8');
    } catch {
      // Nothing has happened yet.
    }
    // Whole lines, as the mock writes them.
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .map((event) => ({ ...event, atNs: BigInt(event.atNs) }) as SleepEvent);
  }

  of(kind: SleepEvent['event']): readonly SleepEvent[] {
    return this.events.filter(({ event }) => event === kind);
  }

  async waitFor(kind: SleepEvent['event'], count: number): Promise<void> {
    await until(`${kind} ${count}`, () => this.of(kind).length >= count);
  }

  /** As the menu of a desktop does it. */
  async suspend(): Promise<void> {
    await this.act('Suspend');
  }

  async act(method: 'Suspend' | 'PowerOff' | 'Reboot'): Promise<void> {
    await this.#send(
      'org.freedesktop.login1',
      '/org/freedesktop/login1',
      `org.freedesktop.login1.Manager.${method}`,
      'boolean:true',
    );
  }

  /** The connections to the bus, that of this question among them. */
  async connections(): Promise<number> {
    const bus = 'org.freedesktop.DBus';
    const names = await this.#send(bus, '/org/freedesktop/DBus', `${bus}.ListNames`);
    return names.match(/":/g)?.length ?? 0;
  }

  async #send(destination: string, ...rest: readonly string[]): Promise<string> {
    const args = [`--bus=${this.bus.address}`, '--print-reply', `--dest=${destination}`, ...rest];
    return (await execute('/usr/bin/dbus-send', args)).stdout;
  }
}

/** Milliseconds from one event to another. */
export const msBetween = (from: SleepEvent | undefined, to: SleepEvent | undefined): number =>
  Number((to?.atNs ?? 0n) - (from?.atNs ?? 0n)) / 1e6;
