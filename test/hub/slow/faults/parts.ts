/** Agents and hubs of the fault tests: the program itself, each a process of its own, on loopback or behind a cable. */
import type { Test } from 'tap';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { type ServiceProcess, startService } from '../../../helpers/service/service.ts';
import { keyFile } from '../../dial-in/setup.ts';
import { Marks } from './commands.ts';

export const isFull = process.env['HOSTWIRE_FULL'] === '1';

type Options = NonNullable<Parameters<typeof startService>[0]>;

/** Variables of a program's environment beside those of this process. */
export type Env = Readonly<Record<string, string>>;

/** Where a program runs: here, or behind a cable. */
export interface Place {
  readonly host?: string;
  readonly start?: NonNullable<Options['start']>;
}

/** A program that is killed and started again, with the same configuration and port. */
export class Part {
  readonly #options: Options;
  readonly #logs: string[] = [];
  #process: ServiceProcess | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  get port(): number {
    return this.#options.port ?? 0;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The logs of all its runs. */
  get log(): string {
    return [...this.#logs, this.#process?.stderr() ?? ''].join('');
  }

  async start(t: Test): Promise<void> {
    const started = await startService(this.#options);
    this.#process = started;
    t.teardown(async () => void (await started.stop('SIGKILL')));
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#process?.stop(signal);
    this.#logs.push(this.#process?.stderr() ?? '');
    this.#process = undefined;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }
}

/** Sends a sample each second; commands appear in the log. */
const AGENT = {
  stats: { stream_interval_seconds: 1 },
  features: { enable_process_control: true },
  log: { level: 'info' },
} as const;

/** `broker`: its URL; undefined: a hub connects to it, or it dials the one of `hub`. */
export async function startAgent(
  t: Test,
  id: string,
  broker: string | undefined,
  place: Place = {},
  env: Env = {},
  dialled: object = {},
): Promise<{ readonly part: Part; readonly marks: Marks }> {
  const marks = new Marks(t);
  const mqtt = broker === undefined ? {} : { mqtt: { url: broker, publish: 'hub' } };
  // A hub may start programs there.
  const hub = { scopes: ['admin'], ...dialled };
  const config = { ...AGENT, ...marks.part, host: { id }, hub, ...mqtt } as unknown as Options['config'] &
    object;
  const part = new Part({ config, port: await findFreePort(), ...place, env });
  await part.start(t);
  return { part, marks };
}

const RULES = { commands: { all: { commands: ['*'] } } };

/** `hub`, `more`: keys of its configuration, in `hub` and beside it. */
export async function startHub(
  t: Test,
  hub: object,
  more: object = {},
  host: Place['host'] = '127.0.0.1',
  env: Env = {},
): Promise<Part> {
  const config = {
    stats: { stream_interval_seconds: 1 },
    hub: { ...RULES, ...hub },
    ...more,
  } as unknown as Options['config'] & object;
  const part = new Part({ config, args: ['hub'], port: await findFreePort(), host, env });
  await part.start(t);
  return part;
}

export const startBrokerHub = async (t: Test, url: string, name: string, env?: Env): Promise<Part> =>
  await startHub(t, { brokers: { room: { url, name } } }, {}, undefined, env);

/** The machine `pc`, and the hub that it dials. */
export async function startDialled(
  t: Test,
  env: Env | undefined,
  through: (port: number) => Promise<number>,
  hubEnv?: Env,
) {
  const key = keyFile(t);
  const agents = { pc: { dials_in: true, key_file: key } };
  const hub = await startHub(t, { agents }, {}, undefined, hubEnv);
  const url = `ws://127.0.0.1:${await through(hub.port)}`;
  return { agent: await startAgent(t, 'pc', undefined, {}, env, { url, key_file: key }), hubs: [hub] };
}

/** `urls`: of machines, by id. */
export async function startConnectingHub(
  t: Test,
  urls: Readonly<Record<string, string>>,
  env?: Env,
): Promise<Part> {
  const agents = Object.fromEntries(Object.entries(urls).map(([id, url]) => [id, { url }]));
  return await startHub(t, { agents }, {}, undefined, env);
}
