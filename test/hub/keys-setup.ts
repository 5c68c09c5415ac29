/** A hub that knows the keys of every scope, with one machine, however that is connected to it. */
import type { Test } from 'tap';
import { KEYS } from '../helpers/keys.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { type Commanded, startCommanded } from './commanded.ts';
import { dialled, dialPart } from './dial-in/setup.ts';
import { type Agents, isUp, type StartedHub, startHub } from './setup.ts';

/** For the machine: what a client may ask about the past. */
export const PAST: ConfigPart = { history: { minutes: 60 } };
/** For the hub: a key is needed, and every key may command what its scopes allow. */
export const CLOSED: ConfigPart = {
  auth: { enabled: true, keys: KEYS },
  hub: { commands: { all: { commands: ['*'], labels: {} } } },
};

/** The machine `id` in this process, and a hub in front of it that shows it as up. */
export interface KeyRig {
  readonly machine: Commanded;
  readonly hub: StartedHub;
  readonly agents: Agents;
  readonly id: string;
}

/** The hub connects to the machine, whose configuration has `more`, with the key `secret` if it needs one. */
export async function connect(t: Test, more: ConfigPart, secret?: string): Promise<KeyRig> {
  const machine = await startCommanded(t, more);
  const key = secret === undefined ? {} : { key_file: { path: 'k', secret } };
  const agents = { a: { url: machine.service.baseUrl, ...key } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  return { machine, hub, agents, id: 'a' };
}

/** The machine dials in. */
export async function dialIn(t: Test, more: ConfigPart): Promise<KeyRig> {
  const agents = { pc: dialled() } as unknown as Agents; // Without a URL.
  const hub = await startHub(t, agents);
  const machine = await startCommanded(t, { ...more, host: { id: 'pc' }, hub: dialPart(hub) });
  await hub.host('pc', isUp);
  return { machine, hub, agents, id: 'pc' };
}

/** Tests `judge` with the hub and the id of its machine. */
export function testBothWays(
  t: Test,
  name: string,
  judge: (t: Test, hub: StartedHub, id: string) => Promise<void>,
): void {
  for (const [how, start] of [
    ['that the hub connects to', connect],
    ['that dials in', dialIn],
  ] as const)
    t.test(`${name}, at a machine ${how}`, async (t) => {
      const { hub, agents, id } = await start(t, PAST);
      hub.reconfigure(agents, CLOSED);
      await judge(t, hub, id);
    });
}
