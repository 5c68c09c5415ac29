/** A hub that agents dial: real services, and agents that a test plays by docs/hub-protocol.md alone. */
import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ClientOptions, WebSocket } from 'ws';
import type { AgentEntry } from '#src/config/rows/hub-rows.js';
import type { ConfigPart } from '../../helpers/fakes/config-parts.ts';
import { emptyFolder, type Scope } from '../../helpers/scope.ts';
import { type ServiceProcess, startService } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';

export const KEY = 'k1'.repeat(20);
export const OTHER_KEY = 'k2'.repeat(20);

export const dialled = (secret = KEY, more: Partial<AgentEntry> = {}): AgentEntry => ({
  dials_in: true,
  labels: {},
  ...more,
  key_file: { path: 'pc.key', secret },
});

/** A file with the key, removed at the end. */
export function keyFile(t: Scope, key = KEY): string {
  const folder = emptyFolder(t, 'dial');
  const file = path.join(folder, 'pc.key');
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return file;
}

/** A file names a file where a configuration has its content. */
export type Written = NonNullable<ConfigPart['hub']>;

/** The program as an agent of the hub at `url`. `more`: beside `hub` and `host.id`. */
export async function startAgent(
  t: Scope,
  url: string,
  { key = KEY, id = 'pc', pin, ...more }: ConfigPart & { key?: string; id?: string; pin?: string } = {},
): Promise<ServiceProcess> {
  const hub = { url, key_file: keyFile(t, key), ...(pin !== undefined && { pin }) } as unknown as Written;
  const agent = await startService({
    config: { stats: { stream_interval_seconds: 1 }, ...more, host: { id, ...more.host }, hub },
  });
  t.teardown(() => agent.stop('SIGKILL'));
  return agent;
}

export const proofOf = (key: string, side: string, terms: readonly string[]): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['hostwire dial-in 1', side, ...terms]))
    .digest('base64url');

/** One side of a connection, on which a test says everything. */
export class Talker {
  readonly socket: WebSocket;
  readonly heard: { readonly topic: string; readonly text: string }[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket
      .on('error', () => undefined)
      .on('close', (code, reason) => {
        this.closed = { code, reason: reason.toString() };
      })
      .on('message', (data) => {
        const text = data.toString();
        const end = text.indexOf('\n');
        this.heard.push({ topic: text.slice(0, end), text: text.slice(end + 1) });
      });
  }

  say(topic: string, payload: object | string): void {
    this.socket.send(`${topic}\n${typeof payload === 'string' ? payload : JSON.stringify(payload)}`);
  }

  on(topic: string): readonly string[] {
    return this.heard.filter((each) => each.topic === topic).map(({ text }) => text);
  }

  async next(topic: string): Promise<Readonly<Record<string, string>>> {
    return JSON.parse(await until(() => this.on(topic)[0]));
  }

  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    return await until(() => this.closed);
  }
}

/** An agent that a test plays. */
export class Dialler extends Talker {
  /** Status of the answer where it was no upgrade. */
  status: number | undefined;

  constructor(t: Scope, port: number, options: ClientOptions = {}) {
    super(new WebSocket(`ws://127.0.0.1:${port}/api/agent`, options));
    t.teardown(() => this.socket.terminate());
    this.socket.on('unexpected-response', (request, { statusCode }) => {
      this.status = statusCode;
      request.destroy();
    });
  }

  /** Answers the challenge. `side`: what the proof is labelled with. */
  async claim({ id = 'pc', key = KEY, run = 'run1', side = 'agent' } = {}): Promise<readonly string[]> {
    const { nonce: hubNonce = '' } = await this.next('challenge');
    const nonce = randomBytes(32).toString('base64url');
    const terms = [id, run, hubNonce, nonce];
    this.say('proof', { id, run, nonce, proof: proofOf(key, side, terms) });
    return terms;
  }

  /** Proves itself, and says that it is there. */
  async enter(run = 'run1'): Promise<void> {
    await this.claim({ run });
    await this.next('proof');
    this.say('status', { state: 'online', run });
  }
}

/** A hub that a test plays, on a connection that an agent has opened. */
export class PlayedHub extends Talker {
  readonly nonce = randomBytes(32).toString('base64url');

  challenge(): void {
    this.say('challenge', { nonce: this.nonce });
  }

  /** Answers the proof of the agent with that of the hub. */
  async prove(key = KEY, side = 'hub'): Promise<void> {
    this.challenge();
    const { id = '', run = '', nonce = '' } = await this.next('proof');
    this.say('proof', { hub: 'hub1', proof: proofOf(key, side, [id, run, this.nonce, nonce]) });
  }
}
