/** Messages to one socket about a machine's topics while their snapshots are being read. */

import t from 'tap';
import { ALL_SCOPES } from '#src/scopes.js';
import { Broadcasts } from '#src/viewers/socket/broadcasts.js';
import { Subscription } from '#src/viewers/socket/subscription.js';
import { bitOf } from '#src/viewers/socket/topics.js';
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
