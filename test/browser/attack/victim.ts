/** A service to be attacked, with a player and a process of its own, and the records of what happened to them. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Test } from 'tap';
import type { FakePlayer } from '../../helpers/dbus/player.ts';
import type { ServiceProcess } from '../../helpers/service/service.ts';
import { startGuarded, startVictimPlayer } from './guarded.ts';
import { SERVICE_NAME } from './names.ts';
import type { Target } from './row.ts';

/** Texts that only the service has. */
export const SECRETS: Readonly<Record<Target, string>> = {
  stats: '"uptime":',
  power: '"inhibitors":',
  media: 'Song that nobody else knows',
  process: '"total_count":',
};

export type Auth = 'off' | 'listed';

export interface VictimOptions {
  readonly isGuarded: boolean;
  readonly auth: Auth;
  /** For `server.cors_origins`. */
  readonly listedOrigin: string;
}

export const KEY = 'attack-suite-key-0123456789abcdef0123456789';

/** Starts a process that exits on its own, even if the test is killed. */
function startProcess(t: Test): ChildProcess {
  const child = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

export class Victim {
  readonly isGuarded: boolean;
  readonly auth: Auth;
  readonly service: ServiceProcess;
  readonly #player: FakePlayer;
  readonly #test: Test;
  #process: ChildProcess;
  #ended = 0;

  private constructor(t: Test, options: VictimOptions, service: ServiceProcess, player: FakePlayer) {
    this.isGuarded = options.isGuarded;
    this.auth = options.auth;
    this.service = service;
    this.#player = player;
    this.#test = t;
    this.#process = this.#watch();
  }

  /** All of it ends with `t`. */
  static async start(t: Test, options: VictimOptions): Promise<Victim> {
    const { player, bus } = await startVictimPlayer(t, SECRETS.media);
    const service = await startGuarded(t, options.isGuarded, {
      config: {
        features: {
          enable_sleep: true,
          enable_hibernate: true,
          enable_shutdown: true,
          enable_restart: true,
          enable_media: true,
          enable_processes: true,
          enable_process_control: true,
          enable_dashboard: true,
        },
        server: { cors_origins: [options.listedOrigin], allowed_hosts: [SERVICE_NAME] },
        auth:
          options.auth === 'off'
            ? { enabled: false }
            : { enabled: true, api_key: KEY, allowed_ips: ['127.0.0.1', '::1'] },
      },
      env: { DBUS_SESSION_BUS_ADDRESS: bus },
    });
    return new Victim(t, options, service, player);
  }

  /** For a process to be ended; another one stands in for it when it was. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** How often each target was acted on so far. */
  async count(target: Target): Promise<number> {
    if (target === 'media') return this.#player.calls.length;
    if (target === 'process') return this.#ended;
    if (target === 'stats') return 0;
    const answer = await fetch(`${this.service.baseUrl}/api/pw`);
    // As the interface documents it.
    return ((await answer.json()) as { readonly recorded: readonly unknown[] }).recorded.length;
  }

  async counts(): Promise<Readonly<Record<Exclude<Target, 'stats'>, number>>> {
    const [power, media, process] = await Promise.all([
      this.count('power'),
      this.count('media'),
      this.count('process'),
    ]);
    return { power, media, process };
  }

  #watch(): ChildProcess {
    const child = startProcess(this.#test);
    child.once('exit', (_code, signal) => {
      // The teardown ends it with SIGKILL.
      if (signal !== 'SIGTERM') return;
      this.#ended++;
      this.#process = this.#watch();
    });
    return child;
  }
}
