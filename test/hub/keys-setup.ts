/** A hub that knows the keys of every scope, with one machine, however that is connected to it. */
import type { Test } from 'tap';
import { dialled, KEY } from '../agent/websocket/setup.ts';
import { KEYS } from '../helpers/keys.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { startCommanded } from './commanded.ts';
import { isUp, type StartedHub, startHub } from './setup.ts';

/** For the machine: what a client may ask about the past. */
export const PAST: ConfigPart = { history: { minutes: 60 } };
/** For the hub: a key is needed, and every key may command what its scopes allow. */
export const CLOSED: ConfigPart = {
  auth: { enabled: true, keys: KEYS },
  hub: { commands: { all: { commands: ['*'], labels: {} } } },
};

/** Tests `judge` with the hub and the id of its machine. */
export function testBothWays(
  t: Test,
  name: string,
  judge: (t: Test, hub: StartedHub, id: string) => Promise<void>,
): void {
  t.test(`${name}, at a machine that the hub connects to`, async (t) => {
    const { service } = await startCommanded(t, PAST);
    const agents = { a: { url: service.baseUrl } };
    const hub = await startHub(t, agents);
    await hub.host('a', isUp);
    hub.reconfigure(agents, CLOSED);
    await judge(t, hub, 'a');
  });
  t.test(`${name}, at a machine that dials in`, async (t) => {
    const agents = { pc: dialled() } as unknown as Parameters<typeof startHub>[1]; // Without a URL.
    const hub = await startHub(t, agents);
    await startCommanded(t, {
      ...PAST,
      host: { id: 'pc' },
      hub: { url: `ws://127.0.0.1:${hub.port}`, key_file: { path: 'k', secret: KEY } },
    });
    await hub.host('pc', isUp);
    hub.reconfigure(agents, CLOSED);
    await judge(t, hub, 'pc');
  });
}
