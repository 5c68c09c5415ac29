/** A hub that machines dial: real services, and machines that a test plays. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ClientOptions, WebSocket } from 'ws';
import type { AgentEntry } from '#src/config/rows/hub-rows.js';
import type { ConfigPart } from '../../helpers/fakes/config-parts.ts';
import { emptyFolder, type Scope } from '../../helpers/scope.ts';
import { type ServiceProcess, startService } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { PlayedMachine } from '../played-machine.ts';

export const KEY = 'k1'.repeat(20);
export const OTHER_KEY = 'k2'.repeat(20);

export const dialled = (secret = KEY, more: Partial<AgentEntry> = {}): AgentEntry => ({
  dials_in: true,
  labels: {},
  ...more,
  key_file: { path: 'pc.key', secret },
});

export const urlOf = ({ port }: { readonly port: number }): string => `ws://127.0.0.1:${port}`;

/** A file with the key, removed at the end. */
export function keyFile(t: Scope, key = KEY): string {
  const file = path.join(emptyFolder(t, 'dial'), 'pc.key');
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return file;
}

/** A file names a file where a configuration has its content. */
export type Written = NonNullable<ConfigPart['hub']>;

interface Machine extends ConfigPart {
  readonly key?: string;
  readonly id?: string;
  readonly pin?: string;
  /** What a hub may do there. */
  readonly scopes?: readonly string[];
}

/** The program as a machine of the hub at `url`. */
export async function startAgent(
  t: Scope,
  url: string,
  { key = KEY, id = 'pc', pin, scopes = ['admin'], ...more }: Machine = {},
): Promise<ServiceProcess> {
  const hub = { url, key_file: keyFile(t, key), scopes, ...(pin !== undefined && { pin }) };
  const agent = await startService({
    config: {
      stats: { stream_interval_seconds: 1 },
      ...more,
      host: { id, ...more.host },
      hub: hub as unknown as Written,
    },
  });
  t.teardown(() => agent.stop('SIGKILL'));
  return agent;
}

/** The key of `hub` for a service in this process that dials the hub. */
export const dialPart = (hub: { readonly port: number }): Written =>
  ({ url: urlOf(hub), key_file: { path: 'k', secret: KEY }, scopes: ['admin'] }) as unknown as Written;

interface DialOptions extends ClientOptions {
  readonly id?: string;
  /** Empty: it sends none. */
  readonly key?: string;
}

/** A connection of a machine that a test plays to a hub, which is its client once it takes it. */
export class Dialler {
  readonly machine: PlayedMachine;
  readonly socket: WebSocket;
  /** Status of the answer where it was no upgrade. */
  status: number | undefined;
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(t: Scope, port: number, options: DialOptions = {}, machine = new PlayedMachine()) {
    const { id = 'pc', key = KEY, headers, ...more } = options;
    this.machine = machine;
    const bearer = key === '' ? {} : { Authorization: `Bearer ${key}` };
    const query = new URLSearchParams({ id, run: machine.run }).toString();
    const url = `ws://127.0.0.1:${port}/api/agent?${query}`;
    this.socket = new WebSocket(url, { ...more, headers: { ...bearer, ...headers } });
    t.teardown(() => this.socket.terminate());
    this.socket
      .on('open', () => machine.serve(this.socket))
      .on('error', () => undefined)
      .on('close', (code, reason) => {
        this.closed = { code, reason: reason.toString() };
      })
      .on('unexpected-response', (request, { statusCode }) => {
        this.status = statusCode;
        request.destroy();
      });
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Opened by the hub, refused or closed. */
  async settled(): Promise<void> {
    await until(() => this.isOpen || this.status !== undefined || this.closed !== undefined);
  }

  async refused(): Promise<number> {
    return await until(() => this.status);
  }

  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    return await until(() => this.closed);
  }
}
