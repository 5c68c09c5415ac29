/** The hub under siege: 50 honest machines around it, half of which it connects to, and room for hostile ones. */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { AgentEntry } from '#src/config/rows/hub-rows.js';
import type { HostList } from '#src/wire/hub.js';
import { emptyFolder } from '../helpers/scope.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import {
  type ConfigPart,
  type ServiceProcess,
  serveProgram,
  startService,
} from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { startAgent } from '../hub/dial-in/setup.ts';
import { dialKeyOf } from '../hub/slow/crowd/passwords.ts';
import { startCrowd } from '../hub/slow/crowds.ts';
import { BLOCKED_RANGE, type DialKey, type HubPlace } from './target.ts';

/** Simulated machines of each direction; the real ones are the other two of 50. */
const SIMULATED = 24;
/** Machines of each direction that honest clients watch; the others are only shown. */
const WATCHED = 6;
export const HUB_KEY = 'siege-hub-key-0123456789abcdef0123456789ab';
const CONNECTED = 'desk';
const DIALLED = 'laptop';
/** Machines of which attackers ask for other views than honest clients; the first one's stream they open. */
const [SHOWN, OTHER_SHOWN] = ['h0', `d${SIMULATED - 1}`];

/** An agent entry as a configuration file has it: the key is a file. */
type Written = Omit<AgentEntry, 'key_file'> & { readonly key_file?: string };

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const keyOf = (id: string): DialKey => ({ id, key: dialKeyOf(id) });

/** Writes the keys of machines that dial in; removed with the test. */
function entriesOf(t: Test, keys: readonly DialKey[]): Readonly<Record<string, Written>> {
  const folder = emptyFolder(t, 'siege-hub');
  return Object.fromEntries(
    keys.map(({ id, key }) => {
      const file = path.join(folder, `${id}.key`);
      writeFileSync(file, `${key}\n`, { mode: 0o600 });
      return [id, { dials_in: true, key_file: file, labels: { site: 'siege' } }];
    }),
  );
}

/** Power is recorded; the past is there to be read. */
const REAL: ConfigPart = {
  stats: { stream_interval_seconds: 1 },
  history: { minutes: 10 },
};

/** On machines of their own they would not take the hub's CPU; attackers have 19. */
const REAL_PRIORITY = 5;

export interface BesiegedHub {
  readonly hub: ServiceProcess;
  readonly place: HubPlace;
  /** All of `hub.agents` that behave well. */
  readonly honest: readonly string[];
  readonly paths: { readonly stream: string; readonly machine: string };
}

async function portsOf(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let i = 0; i < count; i++) ports.push(await findFreePort());
  return ports;
}

/** Starts the hub and all machines around it, and waits until each honest one is up. `workers`: attacks at a time. */
export async function startBesiegedHub(t: Test, workers: number): Promise<BesiegedHub> {
  const [agentPort = 0, ...hostilePorts] = await portsOf(1 + workers);
  await startCrowd(t, 'agents', agentPort).ready;
  const desk = await startService({ config: REAL });
  t.teardown(() => desk.stop('SIGKILL'));
  const labels = { site: 'siege' };
  const simulated = range(SIMULATED).map(
    (i) => [`h${i}`, { url: `http://127.1.0.${1 + i}:${agentPort}`, labels }] as const,
  );
  const connected = hostilePorts.map((port, worker) => ({
    id: `evil${worker}`,
    host: `127.2.0.${1 + worker}`,
    port,
  }));
  const dialled = range(workers).map((worker) => keyOf(`intruder${worker}`));
  const guest = keyOf('guest');
  const inbound = [...range(SIMULATED).map((i) => keyOf(`d${i}`)), keyOf(DIALLED)];
  const agents: Readonly<Record<string, Written>> = {
    ...Object.fromEntries(simulated),
    [CONNECTED]: { url: desk.baseUrl, labels },
    ...Object.fromEntries(
      connected.map(({ id, host, port }) => [
        id,
        { url: `http://${host}:${port}`, labels: { site: 'hostile' } },
      ]),
    ),
    ...entriesOf(t, [...inbound, ...dialled, guest]),
  };
  const hub = await serveProgram(t, {
    args: ['hub'],
    config: {
      stats: { stream_interval_seconds: 1 },
      auth: { api_key: HUB_KEY, blocked_ips: [BLOCKED_RANGE] },
      // The honest clients may command; the answer to an attacker is 403.
      hub: {
        agents: agents as unknown as NonNullable<ConfigPart['hub']>['agents'], // A file has paths of keys.
        commands: { honest: { commands: ['power.*', 'media.*'], clients: ['127.0.0.0/28'], labels: {} } },
      },
    } as ConfigPart,
  });
  const url = `ws://127.0.0.1:${hub.port}`;
  const laptop = await startAgent(t, url, { ...REAL, key: dialKeyOf(DIALLED), id: DIALLED });
  for (const { pid } of [desk, laptop]) os.setPriority(pid, REAL_PRIORITY);
  startCrowd(t, 'dial-agents', hub.port, SIMULATED);
  const honest = [...simulated.map(([id]) => id), CONNECTED, ...inbound.map(({ id }) => id)];
  await until(async () => {
    const states = await statesOf(hub);
    return honest.every((id) => states.get(id) === 'up') ? true : undefined;
  });
  const watched = range(WATCHED).flatMap((i) => [`h${1 + i}`, `d${i}`]);
  return {
    hub,
    honest,
    place: { watched, shown: [SHOWN, OTHER_SHOWN], real: [CONNECTED, DIALLED], guest, connected, dialled },
    paths: { stream: `/api/hosts/${SHOWN}/stream`, machine: `/api/hosts/${CONNECTED}` },
  };
}

/** The states of all machines by id, as the hub shows them. */
export async function statesOf({ baseUrl }: ServiceProcess): Promise<ReadonlyMap<string, string>> {
  const { hosts } = (await (await fetch(`${baseUrl}/api/hosts`)).json()) as HostList; // test/hub/routes.test.ts checks it.
  return new Map(hosts.map(({ id, state }) => [id, state]));
}
