/** What one socket is sent of a machine's topics while their snapshots are being read. */
import t from 'tap';
import { bitOf } from '#src/http/socket/topic-names.js';
import { Feeds } from '#src/hub/socket/feeds.js';
import { Subscription } from '#src/hub/socket/subscription.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';

const SOCKET_HOST = {
  id: 'pc',
  condition: { state: 'up', since: 1 },
  laneOf: () => {
    throw new Error('no samples here');
  },
} as const;

t.test('[I.hub.ws-topics] a change never comes before the snapshot', async (t) => {
  for (const [answer, expected] of [
    ['{"n":1}', ['{"n":1} first', '{"n":2}']],
    ['{"n":2}', ['{"n":2} first']],
  ] as const) {
    const clock = new FakeClock();
    const held: ((json: string) => void)[] = [];
    const poll = async () => {
      const json = await new Promise<string>((resolve) => held.push(resolve));
      return { bytes: Buffer.from(json) };
    };
    const onError = (error: unknown) => t.fail(String(error));
    const feeds = new Feeds({ clock, asking: { poll }, intervalMs: () => 1000, onError });
    const sent: string[] = [];
    const send = (text: string) => {
      const { id, data } = JSON.parse(text);
      sent.push(id === undefined ? JSON.stringify(data) : `${JSON.stringify(data)} ${id}`);
    };
    const outlet = { isOpen: true, isFull: false, send, waits: () => undefined };
    const subscription = new Subscription(SOCKET_HOST, true, outlet, feeds);
    const power = bitOf('power');
    subscription.follow({ sections: 0, states: power }, false, false, undefined);
    const snapshots = subscription.sendSnapshots(power, 'first');
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
