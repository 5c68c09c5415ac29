/** One machine on a terminal: when it ends. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { MachineScene } from '#src/cli/top/machine-scene.js';
import type { HostSocket } from '#src/client/client.js';
import { viewOf } from './views.ts';

interface State {
  readonly state: 'closed';
  readonly error?: Error;
}

t.test(
  '[9.top-refused] it ends with the error of the connection, not with an end that was asked for',
  async (t) => {
    const listeners: ((state: State) => void)[] = [];
    const never = () => new Promise(() => undefined);
    const socket = {
      on: (type: string, listener: (value: never) => void) => {
        if (type === 'state') listeners.push(listener as (state: State) => void);
      },
      get: never,
      history: never,
      close: () => undefined,
    } as unknown as HostSocket; // Nothing else is called without features.
    const scene = new MachineScene(
      socket,
      viewOf({ connected: { version: '0', protocol: 2, run: '1', clock: 0, features: {} } }),
      () => ({ lines: [], shown: 1 }),
    );
    t.teardown(() => scene.close());
    const errors: Error[] = [];
    scene.run(() => undefined).catch((error: Error) => errors.push(error));
    const tell = async (state: State) => {
      for (const listener of listeners) listener(state);
      await nextTurn();
    };
    await tell({ state: 'closed' });
    t.strictSame(errors, []);
    const error = new Error('the key was taken away');
    await tell({ state: 'closed', error });
    t.strictSame(errors, [error]);
  },
);
