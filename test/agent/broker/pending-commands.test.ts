/** Commands that continue after their answer: which of them are given up when there are too many. */
import t from 'tap';
import { PendingCommands } from '#src/agent/remote/pending-commands.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';

t.test(
  '[I.hub.mqtt.commands] the commands of one client are not given up for those of another',
  async (t) => {
    const following = new PendingCommands(new FakeClock());
    const lost: string[] = [];
    const begin = (agent: string, id: string, client: string) =>
      following.begin(
        agent,
        id,
        { message: '' },
        { untilMs: 1000, client, onStep: ({ stage }) => void (stage === 'unknown' && lost.push(id)) },
      );
    begin('pc', 'honest', '192.0.2.9');
    for (let i = 0; i < 30; i++) begin('pc', `many ${i}`, '192.0.2.1');
    t.ok(following.has('pc', 'honest'));
    t.strictSame(
      lost,
      Array.from({ length: 15 }, (_, i) => `many ${i}`),
      'its own oldest',
    );
    for (let agent = 0; agent < 200; agent++)
      for (let i = 0; i < 16; i++) begin(`nas${agent}`, `${agent} ${i}`, '192.0.2.1');
    t.ok(following.has('pc', 'honest'), 'nor where too many go on in all');
  },
);
