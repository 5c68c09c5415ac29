/** Topics of one socket: messages while snapshots are read, readings that are shared, answers that are too long. */
import t, { type Test } from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import { Places } from '#src/fairness/places.js';
import type { Machine, MachineAnswer } from '#src/machine/machine.js';
import { ALL_SCOPES } from '#src/scopes.js';
import { Broadcasts } from '#src/viewers/socket/broadcasts.js';
import { answerRequest } from '#src/viewers/socket/socket-requests.js';
import { Subscription } from '#src/viewers/socket/subscription.js';
import { readTopic } from '#src/viewers/socket/topic-state.js';
import { bitOf } from '#src/viewers/socket/topics.js';
import type { SocketRequest } from '#src/wire/socket.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { idleMachine, unused } from './idle-machine.ts';

t.test('[I.hub.ws-topics] a change never comes before the snapshot', async (t) => {
  for (const [answer, expected] of [
    ['{"n":1}', ['{"n":1} first', '{"n":2}']],
    ['{"n":2}', ['{"n":2} first']],
  ] as const) {
    const clock = new FakeClock();
    const held: ((json: string) => void)[] = [];
    const machine = idleMachine('pc', async () => ({
      bytes: await new Promise<string>((resolve) => held.push(resolve)),
    }));
    const onError = (error: unknown) => t.fail(String(error));
    const publisher = { publish: unused };
    const deps = { clock, publisher, tracksMembers: true, onError };
    const broadcasts = new Broadcasts({ ...deps, intervalMs: () => 1000 });
    const sent: string[] = [];
    const send = (text: string) => {
      const { id, data } = JSON.parse(text);
      sent.push(id === undefined ? JSON.stringify(data) : `${JSON.stringify(data)} ${id}`);
    };
    let snapshots: Promise<unknown> = Promise.resolve();
    const outlet = {
      caller: { scopes: ALL_SCOPES },
      isFull: false,
      send,
      join: unused,
      leave: unused,
      waits: unused,
      watch: (work: Promise<unknown>) => {
        snapshots = work;
      },
    };
    const subscription = new Subscription(machine, true, outlet, broadcasts);
    const power = bitOf('power');
    const wanted = { isAsked: false, snapshots: power };
    subscription.follow({ sections: 0, states: power }, { detail: false, intervalMs: 0 }, wanted, 'first');
    await clock.advance(1000);
    t.equal(held.length, 2, 'the snapshot, and the question of the interval');
    held[1]?.('{"n":2}');
    await settle();
    t.strictSame(sent, [], 'the change waits');
    held[0]?.(answer);
    await snapshots;
    t.strictSame(sent, expected);
    await clock.advance(1000);
    held[2]?.('{"n":3}');
    await settle();
    t.equal(sent.at(-1), '{"n":3}', 'later ones come at once');
    subscription.close();
  }
});

t.test('a reading for all subscribers is not limited as those of one client without a key', async (t) => {
  const places = new Places(8);
  const machine = {
    ask: async ({ client }: Parameters<Parameters<typeof readTopic>[0]['ask']>[0]) => {
      t.equal(client, OWN_ACCOUNT);
      t.ok(places.hasCapacity(client));
      places.add(client);
      return { bytes: '{}' };
    },
  };
  for (let machines = 0; machines < 8; machines++) await readTopic(machine, 'power', false);
  t.equal(places.size, 8);
});

async function answerTo(test: Pick<Test, 'fail'>, answer: MachineAnswer): Promise<unknown> {
  const sent: string[] = [];
  const requester = {
    caller: OWN_ACCOUNT,
    owner: {},
    send: (text: string) => void sent.push(text),
    sendTracked: (text: string) => void sent.push(text),
    cork: (body: () => void) => body(),
  };
  const request: SocketRequest = {
    op: 'request',
    id: 7,
    data: { name: 'processes', params: {}, steps: false },
  };
  const deps = {
    log: { error: (text: string) => test.fail(text), audit: () => undefined },
    gate: { noteRefusal: () => undefined },
    clock: { sinceBoot: () => 0 },
  };
  // Nothing else of a machine is used.
  const machine = { ask: async () => answer } as Partial<Machine> as Machine;
  await answerRequest(machine, requester, request, { host: undefined, id: 7 }, deps);
  return JSON.parse(sent.join(''));
}

t.test('an answer above 1.5 MiB is refused, so that the connection stays', async (t) => {
  const list = (bytes: number) => ({ bytes: JSON.stringify({ name: 'x'.repeat(bytes) }) });
  t.match(await answerTo(t, list(1.4 * 2 ** 20)), { type: 'answer', id: 7, data: { body: { name: /^x/ } } });
  t.match(await answerTo(t, list(1.6 * 2 ** 20)), {
    type: 'answer',
    id: 7,
    data: { error: { code: 'payload_too_large', message: 'The answer has more than 1.5 MiB.' } },
  });
});
