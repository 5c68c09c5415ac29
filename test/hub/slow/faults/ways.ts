/** The ways on which a hub reaches a machine, for tests that do the same on each. */
import type { Test } from 'tap';
import { BROKERS } from '../../broker/setup.ts';
import { type Env, startAgent, startBrokerHub, startConnectingHub, startDialled } from './parts.ts';
import type { Cast } from './scene.ts';

export interface On {
  /** Of the machine. */
  readonly env?: Env;
  readonly hubEnv?: Env;
  /** Puts something between the hub and what it is connected with: returns the port in place of that one. */
  readonly through?: (port: number) => Promise<number>;
}

/** Starts a machine, and a hub that shows it. `broker`: its URL. */
type Start = (t: Test, on?: On) => Promise<Pick<Cast, 'agent' | 'hubs'> & { readonly broker?: string }>;

const direct = async (port: number) => port;

const behind =
  (start: (typeof BROKERS)[number]['start']): Start =>
  async (t, { env, hubEnv, through = direct } = {}) => {
    const { url } = await start(t);
    const agent = await startAgent(t, 'pc', url, {}, env);
    const port = await through(Number(new URL(url).port));
    return {
      agent,
      hubs: [await startBrokerHub(t, `mqtt://127.0.0.1:${port}`, 'hub1', hubEnv)],
      broker: url,
    };
  };

const connected: Start = async (t, { env, hubEnv, through = direct } = {}) => {
  const agent = await startAgent(t, 'pc', undefined, {}, env);
  const port = await through(agent.part.port);
  return { agent, hubs: [await startConnectingHub(t, { pc: `http://127.0.0.1:${port}` }, hubEnv)] };
};

const dialled: Start = async (t, { env, hubEnv, through = direct } = {}) =>
  await startDialled(t, env, through, hubEnv);

/** Behind each broker, and without one in both directions. */
export const WAYS: readonly {
  readonly name: string;
  readonly skip: string | boolean;
  readonly start: Start;
}[] = [
  ...BROKERS.map(({ name, skip, start }) => ({ name: `behind ${name}`, skip, start: behind(start) })),
  { name: 'to which a hub connects', skip: false, start: connected },
  { name: 'that dials a hub', skip: false, start: dialled },
];
