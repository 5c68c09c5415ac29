/** The program on a private system bus, behind a relay that records its calls. */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { type LogindOptions, PrivateBus } from '../dbus/bus.ts';
import { BusRelay, type PassedCall } from '../dbus/relay.ts';
import { type ConfigPart, type ServiceProcess, serveProgram } from './service.ts';

const ALL_ON = {
  enable_sleep: true,
  enable_hibernate: true,
  enable_shutdown: true,
  enable_restart: true,
};

/** logind's method of each action. */
export const METHODS = {
  shutdown: 'PowerOff',
  restart: 'Reboot',
  sleep: 'Suspend',
  hibernate: 'Hibernate',
} as const;

export interface Refusal {
  readonly status: number;
  readonly code: string | undefined;
  readonly reason: string | undefined;
  readonly details: unknown;
  readonly tookMs: number;
}

export class PowerService {
  readonly bus: PrivateBus;
  readonly relay: BusRelay;
  readonly process: ServiceProcess;

  private constructor(bus: PrivateBus, relay: BusRelay, service: ServiceProcess) {
    this.bus = bus;
    this.relay = relay;
    this.process = service;
  }

  /** `logind` null: there is no logind. Everything ends with `t`. */
  static async start(
    t: Test,
    logind: LogindOptions | null = {},
    options: {
      readonly features?: ConfigPart['features'];
      readonly start?: (command: string, args: readonly string[], how: SpawnOptions) => ChildProcess;
    } = {},
  ): Promise<PowerService> {
    const bus = await PrivateBus.start();
    t.teardown(() => bus.stop());
    if (logind !== null) await bus.startLogind(logind);
    const relay = await BusRelay.start(path.join(bus.folder, 'relay'), bus.socket);
    t.teardown(() => relay.stop());
    const service = await serveProgram(t, {
      config: {
        power: { backend: 'system' },
        features: options.features ?? ALL_ON,
        log: { level: 'debug' },
      },
      env: { DBUS_SYSTEM_BUS_ADDRESS: relay.address },
      ...(options.start === undefined ? {} : { start: options.start }),
    });
    return new PowerService(bus, relay, service);
  }

  /** The calls that request an action, without mere queries. */
  get acts(): readonly PassedCall[] {
    return this.relay.toServices.filter(({ member }) => !/^(?:Can|List|Get)/.test(member));
  }

  /** The same calls as text: `PowerOff(true)`. */
  get actTexts(): readonly string[] {
    return this.acts.map(({ member, argument }) => `${member}(${argument ?? ''})`);
  }

  post(action: string, query = ''): Promise<Response> {
    return fetch(`${this.process.baseUrl}/api/pw/${action}${query}`, { method: 'POST' });
  }

  async refusal(action: string, query = ''): Promise<Refusal> {
    const begun = performance.now();
    const answer = await this.post(action, query);
    // The documented shape; absent keys are undefined.
    const body = (await answer.json()) as {
      readonly code?: string;
      readonly details?: { readonly reason?: string };
    };
    return {
      status: answer.status,
      code: body.code,
      reason: body.details?.reason,
      details: body.details,
      tookMs: performance.now() - begun,
    };
  }

  async status(): Promise<PowerPayload> {
    const answer = await fetch(`${this.process.baseUrl}/api/pw`);
    // The documented payload; the tests compare it with exact shapes.
    return (await answer.json()) as PowerPayload;
  }

  /** Its current resident memory and number of open descriptors. */
  usage(): { readonly residentKib: number; readonly descriptors: number } {
    const folder = `/proc/${this.process.pid}`;
    return {
      residentKib: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1]),
      descriptors: readdirSync(`${folder}/fd`).length,
    };
  }
}
