/** A real broker on a free port of loopback, a client that listens to it, and the service in this process beside it. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type IClientOptions } from 'mqtt';
import type { Clock } from '#src/clock.js';
import type { Config } from '#src/config/config.js';
import type { Feedback } from '#src/exporters/mqtt/commands/command-adapter.js';
import type { History } from '#src/history/history.js';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../../helpers/fakes/media.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { type ConfigPart, type ServiceHere, startHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';

// In plain JavaScript, because the scripts use it too.
const { findCommand } = (await import(
  path.resolve(import.meta.dirname, '../../../../../scripts/needs.mjs')
)) as { readonly findCommand: (...names: readonly string[]) => string | undefined };

const MOSQUITTO = findCommand('mosquitto');
const NATS = findCommand('nats-server');
/** Why there can be no nats-server here; false if there can. */
export const NO_NATS = NATS === undefined && 'nats-server is not installed (scripts/needs.mjs)';
/** Why there can be no broker here; false if there can. */
export const NO_BROKER = MOSQUITTO === undefined && 'mosquitto is not installed (scripts/needs.mjs)';

interface Test {
  teardown(done: () => unknown): unknown;
}

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

const answers = (port: number, host: string) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, host, () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** A program that is a broker, and its configuration; @ is its folder. */
interface BrokerKind {
  readonly command: string | undefined;
  readonly configOf: (port: number, lines: readonly string[], host: string) => readonly string[];
}

/** Where a broker runs: here, on loopback, or behind a cable. */
export interface BrokerPlace {
  readonly host: string;
  readonly start: (command: string, args: readonly string[], how: SpawnOptions) => ChildProcess;
}

const HERE: BrokerPlace = { host: '127.0.0.1', start: spawn };

const MOSQUITTO_KIND: BrokerKind = {
  command: MOSQUITTO,
  configOf: (port, lines, host) => [`listener ${port} ${host}`, 'user root', ...lines],
};

/** It listens for its own protocol too. */
export const natsKind = (ownPort: number): BrokerKind => ({
  command: NATS,
  configOf: (port, lines, host) => [
    `server_name: test\nlisten: "127.0.0.1:${ownPort}"\njetstream { store_dir: "@/store" }`,
    `mqtt { listen: "${host}:${port}" }`,
    ...lines,
  ],
});

export class Broker {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'hostwire-mqtt-'));
  readonly port: number;
  /** Added to its environment. */
  env: Readonly<Record<string, string>> = {};
  readonly #lines: readonly string[];
  readonly #kind: BrokerKind;
  readonly #place: BrokerPlace;
  #child: ChildProcess | undefined;

  constructor(
    port: number,
    lines: readonly string[],
    kind: BrokerKind = MOSQUITTO_KIND,
    place: BrokerPlace = HERE,
  ) {
    this.port = port;
    this.#lines = lines;
    this.#kind = kind;
    this.#place = place;
  }

  get url(): string {
    return `mqtt://${this.#place.host}:${this.port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  file(name: string, content: string): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  }

  /** Users, with their passwords. */
  users(users: Readonly<Record<string, string>>): string {
    const lines = Object.entries(users).map(([name, password]) => `${name}:${password}\n`);
    const file = this.file('users', lines.join(''));
    execFileSync('mosquitto_passwd', ['-U', file], { stdio: 'ignore' });
    return file;
  }

  async start(): Promise<void> {
    const { command = '', configOf } = this.#kind;
    const { host, start } = this.#place;
    const config = configOf(this.port, this.#lines, host).join('\n').replaceAll('@', this.folder);
    const file = this.file('broker.conf', `${config}\n`);
    const env = { ...process.env, ...this.env };
    const child = start(command, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'], env });
    running.add(child);
    this.#child = child;
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    while (!(await answers(this.port, host))) {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${stderr}`);
      await sleep(20);
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
    running.delete(child);
  }

  /** Stops it where it is, with all that it has taken. Resolves when none of its threads runs any more. */
  async freeze(): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    const tasks = `/proc/${child?.pid}/task`;
    const isStopped = (task: string) => {
      try {
        return / T /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8').replace(/^.*\)/, ''));
      } catch {
        // It has ended since it was listed.
        return true;
      }
    };
    await until(() => readdirSync(tasks).every(isStopped), 'it stands still');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }
}

/** `lines`: of its configuration; @ is its folder, to which `prepare` may add files. */
export async function startBroker(
  t: Test,
  lines: readonly string[] = ['allow_anonymous true'],
  prepare: (broker: Broker) => void = () => undefined,
  kind?: BrokerKind,
  place?: BrokerPlace,
): Promise<Broker> {
  const broker = new Broker(await findFreePort(), lines, kind, place);
  prepare(broker);
  await broker.start();
  t.teardown(async () => {
    await broker.kill();
    rmSync(broker.folder, { recursive: true, force: true });
  });
  return broker;
}

export interface Heard {
  readonly topic: string;
  readonly text: string;
  readonly isRetained: boolean;
}

/** Hears everything that the broker lets it, and publishes. */
export class Witness {
  readonly heard: Heard[] = [];
  readonly client: mqtt.MqttClient;

  constructor(url: string, options: IClientOptions = {}) {
    this.client = mqtt.connect(url, { reconnectPeriod: 200, queueQoSZero: false, ...options });
    this.client.on('error', () => undefined);
    this.client.on('message', (topic, payload, { retain }) =>
      this.heard.push({ topic, text: payload.toString(), isRetained: retain }),
    );
  }

  static async open(t: Test, url: string, options: IClientOptions = {}): Promise<Witness> {
    const witness = new Witness(url, options);
    t.teardown(() => witness.client.end(true));
    await witness.client.subscribeAsync('#', { qos: 1 });
    return witness;
  }

  on(topic: string): readonly string[] {
    return this.heard.filter((each) => each.topic === topic).map(({ text }) => text);
  }

  async say(topic: string, payload: string, options: mqtt.IClientPublishOptions = {}): Promise<void> {
    await this.client.publishAsync(topic, payload, { qos: 1, ...options });
  }

  async waitFor(topic: string, text: string | RegExp, from = 0): Promise<void> {
    const isIt = (each: string) => (typeof text === 'string' ? each === text : text.test(each));
    await until(() => this.on(topic).slice(from).some(isIt), `${topic} ${String(text)}`);
  }
}

export const BASE = 'hostwire/pc';
export const FEEDBACK = `${BASE}/feedback`;
export const AVAILABILITY = `${BASE}/availability`;
export const DOCUMENT = 'homeassistant/device/pc/config';
export const commandTopic = (name: string) => `${BASE}/command/${name}`;

export const feedbackIn = (witness: Witness): readonly Feedback[] =>
  witness.on(FEEDBACK).map((text) => JSON.parse(text) as Feedback);

/** Settings of `mqtt` for `url`; readings are rare. */
export const mqttPart = (url: string | undefined, more: Partial<Config['mqtt']> = {}): Config['mqtt'] => ({
  url,
  username: undefined,
  password_file: undefined,
  ca: undefined,
  client_id: undefined,
  publish: 'homeassistant',
  topic: 'hostwire',
  discovery_prefix: 'homeassistant',
  interval_seconds: 3600,
  ...more,
});

export interface Beside {
  readonly service: ServiceHere;
  readonly media: FakeMediaHost;
}

/** The service with one player, whose machine has the id `pc`. */
export async function startBeside(
  t: Test,
  config: ConfigPart,
  {
    clock,
    history,
    isClosed = true,
  }: { readonly clock?: Clock; readonly history?: History; readonly isClosed?: boolean } = {},
): Promise<Beside> {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(
    playerOf('mpv', {
      playback: 'playing',
      title: 'A',
      volume: 0.5,
      durationSeconds: 1e7,
      positionSeconds: 1,
    }),
  );
  const host = { ...fixtureHost(), media };
  const service = await startHere(
    host,
    { host: { id: 'pc' }, ...config },
    { ...(clock && { clock }), ...(history && { history }) },
  );
  if (isClosed) t.teardown(() => service.stop());
  return { service, media };
}
