/** The program on a private bus, queried over HTTP. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaDetail, MediaStatus } from '#src/wire/media.js';
import type { SessionBus } from '../dbus/session-bus.ts';
import { PATIENCE_MS } from '../limits.ts';
import { DEAD_BUS } from './dead-buses.ts';
import { type ConfigPart, type ServiceProcess, startService } from './service.ts';

export interface Controlled {
  readonly status: number;
  readonly delivered: string | null;
  /** `code` and `details.reason` of an error. */
  readonly code: string | undefined;
  readonly reason: string | undefined;
  readonly tookMs: number;
}

export class MediaService {
  readonly process: ServiceProcess;

  private constructor(process: ServiceProcess) {
    this.process = process;
  }

  /**
   * `env` is its whole environment, except for the address of a system bus that does not exist. `run`: starts it in
   * another place than this process's.
   */
  static async start(
    env: SessionBus['env'],
    config: ConfigPart = {},
    run: (command: string, args: readonly string[], how: SpawnOptions) => ChildProcess = spawn,
  ): Promise<MediaService> {
    const start = (command: string, args: readonly string[], how: object) =>
      run(command, args, { ...how, env: { DBUS_SYSTEM_BUS_ADDRESS: DEAD_BUS, ...env } });
    return new MediaService(await startService({ config: { log: { level: 'debug' }, ...config }, start }));
  }

  async #get(query: string): Promise<unknown> {
    const answer = await fetch(`${this.process.baseUrl}/api/media/status${query}`);
    const body: unknown = await answer.json();
    if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The documented payload; the tests compare it with exact shapes. */
  async status(): Promise<MediaStatus> {
    return (await this.#get('')) as MediaStatus;
  }

  async detail(player?: string): Promise<MediaDetail> {
    const named = player === undefined ? '' : `&player=${encodeURIComponent(player)}`;
    return (await this.#get(`?detail=1${named}`)) as MediaDetail;
  }

  async control(
    action: string,
    more: { readonly value?: number; readonly player?: string } = {},
  ): Promise<Controlled> {
    const begun = performance.now();
    const answer = await fetch(`${this.process.baseUrl}/api/media/control`, {
      method: 'POST',
      body: JSON.stringify({ action, ...more }),
      headers: { 'content-type': 'application/json' },
    });
    const body = (await answer.json()) as {
      readonly code?: string;
      readonly details?: { readonly reason?: string };
    };
    return {
      status: answer.status,
      delivered: answer.headers.get('x-media-delivered'),
      code: body.code,
      reason: body.details?.reason,
      tookMs: performance.now() - begun,
    };
  }

  /** Polls the detailed status until it `isWanted` and returns it; throws after `limitMs`. */
  async until(
    isWanted: (detail: MediaDetail) => boolean,
    { player, limitMs = PATIENCE_MS }: { readonly player?: string; readonly limitMs?: number } = {},
  ): Promise<MediaDetail> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const detail = await this.detail(player);
      if (isWanted(detail)) return detail;
      if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(detail)}`);
      await sleep(2);
    }
  }

  async stop(): Promise<void> {
    await this.process.stop();
  }
}

/** The value that the share `part` (0 to 1) of `values` does not exceed. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
