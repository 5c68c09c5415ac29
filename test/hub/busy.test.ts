/** A hub whose strangers read as fast as they can: the commands of others are done, each of them. */
import t, { type Test } from 'tap';
import { ask } from '../helpers/clients/http.ts';
import { serveProgram } from '../helpers/service/service.ts';
import { dialled, startAgent, urlOf } from './dial-in/setup.ts';
import { isUp, type StartedHub, startHub } from './setup.ts';

/** The strangers have no right that others lack. */
const EVERYTHING = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };

/** Reads the history of a machine, each time another part of it, until it is ended; returns a function that does that. */
function readOn({ port }: StartedHub, id: string, from: string) {
  let isEnded = false;
  let answers = 0;
  let asked = 0;
  const read = async () => {
    while (!isEnded) {
      const step = 1 + (asked++ % 5000);
      await ask(port, `/api/hosts/${id}/history?since=-3000&step=${step}`, {}, from).catch(() => undefined);
      answers++;
    }
  };
  for (let reader = 0; reader < 60; reader++) void read();
  return () => {
    isEnded = true;
    return answers;
  };
}

/** The machine dials in, or lets the hub in without a key, as a hub that has no scope `hub` there. */
const WAYS = {
  async 'that dials in'(t: Test) {
    const hub = await startHub(t, { pc: dialled() }, EVERYTHING);
    await startAgent(t, urlOf(hub), { power: { backend: 'record' } });
    return hub;
  },
  async 'that needs no key'(t: Test) {
    const { baseUrl } = await serveProgram(t, { config: { power: { backend: 'record' } } });
    return await startHub(t, { pc: { url: baseUrl } }, EVERYTHING);
  },
};

for (const [name, start] of Object.entries(WAYS))
  t.test(`[I.hub.hostile] those who read a machine ${name} do not make commands fail`, async (t) => {
    const hub = await start(t);
    await hub.host('pc', isUp);
    const ends = ['127.0.0.2', '127.0.0.3'].map((from) => readOn(hub, 'pc', from));
    t.teardown(() => ends.forEach((end) => end()));
    const statuses: number[] = [];
    for (let i = 0; i < 30; i++) {
      const { status } = await ask(hub.port, '/api/hosts/pc/pw/lock', { method: 'POST' }, '127.0.0.4');
      statuses.push(status);
    }
    t.strictSame(statuses, Array(30).fill(200));
    t.comment(`figure: ${ends.map((end) => end()).join(' and ')} answers to those who read`);
  });
